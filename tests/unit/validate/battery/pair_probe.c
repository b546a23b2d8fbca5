/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tap.h"
#include "validate/battery/links/pair/pair_run.h"

#include "lib/constants/battery_constants.h"

/* Tests whether frames of the MTU arrive. The test is one end of a pair and simulates the
 * partner and the network. */

enum { OWN = 1, TRIES = 8, SESSION = 77 };

static int arrived[TRIES];      /* bytes that arrive in each try, as probe_receive() returns them */
static int messages_most;       /* the partner is gone after this many messages */
static bool is_confused;        /* the code passed an unexpected argument */
static int exchanged, reported; /* number of messages, and what this end sent in the last one */
static int probes, received;
static uint64_t sessions[TRIES];

static struct rail_info partner_info;
static struct rails rails;
static struct control_idle idle;
static struct pair_run pair_run = {.rails = &rails, .control = (struct control *)&rails};

bool channel_is_rdma(const struct rail *rail)
{
    return false;
}

static void note_probe(const struct probe *probe, const struct probe_address *with,
                       uint64_t session)
{
    is_confused |= probe != rails.probes[OWN] || with != &partner_info.probe || probes != exchanged;
    sessions[probes++ % TRIES] = session;
}

void __wrap_probe_send(const struct probe *probe, const struct probe_address *to, uint64_t session)
{
    note_probe(probe, to, session);
}

int __wrap_probe_receive(const struct probe *probe, const struct probe_address *from,
                         uint64_t session)
{
    note_probe(probe, from, session);
    received++;
    return arrived[exchanged];
}

/* The partner reports what arrived when this end sends the probe. */
int control_exchange(struct control *control, const void *out, void *in, size_t size_bytes,
                     const struct control_idle *while_waiting)
{
    const int *own_bytes = out;
    int *partner_bytes = in;

    is_confused |= control != pair_run.control || size_bytes != sizeof *own_bytes ||
                   while_waiting != &idle || probes != exchanged + 1;
    reported = *own_bytes;
    *partner_bytes = received > 0 ? -1 : arrived[exchanged];
    return ++exchanged > messages_most ? -1 : 0;
}

/* Runs a probe with MTUs of 9000 and 8000 bytes. hangs_if_cut: whether streams sent by this end
 * and by the partner hang if frames of the MTU are lost. */
static int run_probe(bool drives, const bool hangs_if_cut[2], const int *each, int *path_mtu_bytes)
{
    static char probe_memory[1];

    rails.probes[OWN] = (struct probe *)probe_memory;
    rails.own.rails[OWN].probe =
        (struct probe_address){.mtu_bytes = 9000, .hangs_if_cut = hangs_if_cut[0]};
    partner_info.probe = (struct probe_address){.mtu_bytes = 8000, .hangs_if_cut = hangs_if_cut[1]};
    exchanged = probes = received = reported = 0;
    is_confused = false;
    for (int i = 0; i < TRIES; i++)
        arrived[i] = each[i < PROBE_TIMES ? i : 0];
    return pair_run_probe(&pair_run, OWN, &partner_info, SESSION, drives, &idle, path_mtu_bytes);
}

static const bool neither[2], own[2] = {true, false}, partner[2] = {false, true};

/* Checks both roles. Each end must come to the same answer. */
static void check_probe(const char *what, const int each[3], int tries, int path_mtu_bytes,
                        bool is_cut)
{
    for (int drives = 0; drives < 2; drives++) {
        int found = 0;

        is_int(run_probe(drives, drives ? own : partner, each, &found), is_cut, "%s, %s", what,
               drives ? "which this end sent" : "which the partner sent");
        is_int(found, path_mtu_bytes, "... the number of bytes that arrive");
        is_int(exchanged, tries, "... the number of tries");
        ok(!is_confused && received == (drives ? 0 : tries),
           "... in each try one end sends and the other one receives");
        is_int(reported, drives ? -1 : each[tries - 1], "... and reports what arrived");
        is_int(run_probe(drives, neither, each, &found), 0,
               "... a TCP that finds the smaller MTU itself is not stopped");
        is_int(run_probe(drives, drives ? partner : own, each, &found), 0,
               "... nor if only the other direction would hang");
    }
}

void __real_probe_send(const struct probe *probe, const struct probe_address *to, uint64_t session);
int __real_probe_receive(const struct probe *probe, const struct probe_address *from,
                         uint64_t session);

/* Probes of the partner, and of another sender that knows the session. */
static void foreign_probes(void)
{
    static const struct nic nic = {.name = "lo", .mtu_bytes = 9000};
    const struct rail rail = {.nic = &nic};
    struct probe_address addresses[3];
    struct probe *ends[3];

    for (int i = 0; i < 3; i++)
        ends[i] = probe_open(NULL, &rail, &addresses[i]);
    if (ends[0] && ends[1] && ends[2]) {
        __real_probe_send(ends[2], &addresses[1], SESSION);
        is_int(__real_probe_receive(ends[1], &addresses[0], SESSION), 0,
               "probes from another sender are not accepted");
        __real_probe_send(ends[0], &addresses[1], SESSION);
        is_int(__real_probe_receive(ends[1], &addresses[0], SESSION), 9000,
               "... the partner's are");
    } else {
        tap_skip("no loopback");
    }
    for (int i = 0; i < 3; i++)
        probe_close(ends[i]);
}

int main(void)
{
    int path_mtu_bytes = 0;

    is_int(PROBE_TIMES, 3, "the test has a value for each try");
    messages_most = TRIES;
    check_probe("frames of the smaller MTU", (int[]){8000, 0, 0}, 1, 8000, false);
    check_probe("frames that arrive in the second try", (int[]){1500, 8000, 0}, 2, 8000, false);
    check_probe("frames that arrive in the last try", (int[]){1500, 1280, 9000}, 3, 9000, false);
    check_probe("long frames that are lost in each try", (int[]){1500, 4096, 1280}, 3, 4096, true);
    check_probe("no frame arrives", (int[]){0, 0, 0}, 1, 0, false);
    check_probe("arrival cannot be observed", (int[]){-1, -1, -1}, 1, -1, false);

    run_probe(true, own, (int[]){1500, 1500, 1500}, &path_mtu_bytes);
    ok(sessions[0] != sessions[1] && sessions[1] != sessions[2] && sessions[0] != sessions[2],
       "late frames of one try do not count in the next");
    for (int i = 0; i < 3; i++)
        is_int(sessions[i] & UINT32_MAX, SESSION, "... both ends know the session of try %d",
               i + 1);

    messages_most = 1;
    is_int(run_probe(true, own, (int[]){1500, 8000, 0}, &path_mtu_bytes), -1,
           "a partner that leaves between two tries");
    is_int(exchanged, 2, "... gets no further messages");
    is_int(path_mtu_bytes, 1500, "... the largest frame that arrived is known");
    foreign_probes();
    return tap_done();
}
