/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/policy/refusals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/certificate/brake.h"
#include "tests/unit/tap.h"
#include "validate/slurm/extra.h"

enum { NODES = 40 };

static struct cluster_node nodes[NODES];
static struct cluster cluster = {.nodes = nodes, .node_count = NODES};
static char names[NODES][8], empty[] = "", prolog[] = "Prolog error",
                             ours[] = "muster: links eth1 98 of 940 Mb/s 2026-11-20",
                             theirs[] = "replace PSU";

static void begin(void)
{
    for (int i = 0; i < NODES; i++) {
        if (nodes[i].extra != empty)
            free(nodes[i].extra);
        snprintf(names[i], sizeof names[i], "n%d", i);
        nodes[i] = (struct cluster_node){.name = names[i], .reason = empty, .extra = empty};
    }
}

/* Publishes a cause and asks for permission, as a node's health check does. */
static bool asks(int node, const char *cause, size_t limit, size_t cap)
{
    char *text = extra_with_note(nodes[node].extra, EXTRA_GATE, cause, NULL);
    struct refusals refusals;

    if (nodes[node].extra != empty)
        free(nodes[node].extra);
    nodes[node].extra = text;
    refusals_count(&cluster, names[node], cause, &refusals);
    return refusals_allow(&refusals, limit, cap);
}

static void one_event(void)
{
    struct refusals refusals;
    int allowed = 0;

    begin();
    for (int i = 0; i < NODES; i++)
        allowed += asks(i, "changed kernel", 3, 10);
    is_int(allowed, 3, "of 40 nodes with a new kernel three get leave to refuse jobs");
    ok(asks(0, "expired", 3, 10), "another cause is counted for itself");
    ok(!asks(0, "changed kernel", 3, 10), "once all have it, none gets leave again");

    begin();
    allowed = 0;
    for (int i = 0; i < NODES; i++)
        allowed += asks(i, "expired", 3, 1);
    is_int(allowed, 1, "no more than DrainCap where that is less");

    begin();
    nodes[1].is_drained = nodes[2].is_drained = nodes[3].is_drained = true;
    nodes[1].reason = ours;
    nodes[2].reason = prolog;
    nodes[3].reason = theirs;
    refusals_count(&cluster, "n0", "expired", &refusals);
    is_int(refusals.taken, 2, "nodes that muster or a prolog took away count");
    ok(!asks(0, "expired", 3, 2), "... against DrainCap");
    ok(asks(0, "expired", 3, 3), "... and not against GateBrake");
    begin();
}

/* Certificates of nodes expire while the nodes wait for a spare part. */
static void out_of_service(void)
{
    static char refused[] = "muster: gate_refused - certificate expired: on 2026-11-19 2026-11-20";
    struct refusals refusals;

    begin();
    for (int i = 1; i <= 4; i++) {
        nodes[i].is_drained = true;
        nodes[i].reason = i < 4 ? theirs : ours;
        ok(!asks(i, "expired", 3, 10), "a node that is drained for something else gets no leave");
    }
    ok(asks(0, "expired", 3, 10), "... and is none of those that refuse jobs");
    refusals_count(&cluster, "n0", "expired", &refusals);
    is_int(refusals.alike, 0, "... whoever drained it");
    is_int(refusals.taken, 1, "... but one of muster's counts against DrainCap");
    for (int i = 1; i <= 4; i++)
        nodes[i].is_drained = false;
    ok(!asks(0, "expired", 3, 10), "those that are resumed are");
    for (int i = 1; i <= 4; i++) {
        nodes[i].is_drained = true;
        nodes[i].reason = i < 3 ? prolog : refused;
    }
    refusals_count(&cluster, "n0", "expired", &refusals);
    is_int(refusals.alike, 4, "... and so are those that were drained as they refused a job");
    ok(asks(1, "expired", 5, 10), "which keep their leave");
    nodes[0].is_down = nodes[5].is_invalid = true;
    ok(!asks(0, "expired", 9, 20), "no job comes to a node that is down");
    ok(!asks(5, "expired", 9, 20), "... nor to one whose registration is refused");
    begin();
}

static void texts(void)
{
    char *text = extra_with_note("{\"rack\":3}", EXTRA_GATE, "expired", NULL),
         *cause = extra_note(text, EXTRA_GATE), *out;
    struct error err = {""};

    is_str(cause, "expired", "the cause stands in Extra");
    out = extra_with_note(text, EXTRA_GATE, NULL, NULL);
    is_str(out, "{\"rack\":3}", "... beside what the site has there, and goes again");
    free(out);
    free(cause);
    free(text);
    ok(extra_with_note("by hand", EXTRA_GATE, "expired", &err) == NULL,
       "a text of the site's stays");
    ok(extra_note("by hand", EXTRA_GATE) == NULL, "... and has no cause");
}

static void causes(void)
{
    char cause[BRAKE_CAUSE];

    brake_cause(CERTIFICATE_EXPIRED, "kernel: 1\n", "kernel: 2\n", cause);
    is_str(cause, "expired", "a state is a cause");
    brake_cause(CERTIFICATE_CHANGED, "cpus: 4\nkernel: 1\n", "cpus: 4\nkernel: 2\n", cause);
    is_str(cause, "changed kernel", "... with the fact that changed");
    brake_cause(CERTIFICATE_CHANGED, "gpu 0000:1a:00.0: x\n", "", cause);
    is_str(cause, "changed gpu 0000", "... without its address");
    brake_cause(CERTIFICATE_CHANGED, "", "nic eth1: x\n", cause);
    is_str(cause, "changed nic eth1", "... also one that is new");
    brake_cause(CERTIFICATE_MISSING, NULL, NULL, cause);
    is_str(cause, "missing", "... also without any");
}

/* An invalid file gives no permission. */
static void damaged(const char *certificate, const char *path)
{
    static const char *const texts[] = {
        "",
        "muster brake 2\ntime: 1\nleave: yes\ncause: c\nmessage: m\n",
        "muster brake 1\nleave: yes\ncause: c\nmessage: m\n",
        "muster brake 1\ntime: 1\ncause: c\nmessage: m\n",
        "muster brake 1\ntime: 1\nleave: yes\nmessage: m\n",
        "muster brake 1\ntime: 1\nleave: yes\ncause: c\n",
        "muster brake 1\ntime: 1\nleave: perhaps\ncause: c\nmessage: m\n",
    };
    struct brake brake;
    struct error err;

    chmod(path, 0644);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *file = fopen(path, "w");

        if (!file || fputs(texts[i], file) < 0 || fclose(file) != 0)
            exit(99);
        is_int(brake_read(certificate, &brake, &err), -1, "a damaged file, %zu, is none", i);
    }
}

static void files(void)
{
    struct brake brake = {1000, BRAKE_PERMITTED, "expired", "1 of 8 nodes"}, read;
    char directory[] = "/tmp/muster-brake-XXXXXX", path[64], file[64], why[300];
    struct error err;

    ok(!brake_permits(NULL, "expired", 1000, why, sizeof why), "without a look nothing is refused");
    has_str(why, "muster check --health has not looked at the cluster", "... which is said");
    ok(brake_permits(&brake, "expired", 1100, why, sizeof why), "with a leave it is");
    is_str(why, "1 of 8 nodes", "... and by what");
    ok(!brake_permits(&brake, "missing", 1100, why, sizeof why), "... not for another cause");
    for (int late = -1; late <= 1; late += 2) {
        ok(brake_permits(&brake, "expired", 1000 + late * BRAKE_FRESH_S, why, sizeof why),
           "... as long as it is fresh, whose clock ever is late");
        ok(!brake_permits(&brake, "expired", 1000 + late * (BRAKE_FRESH_S + 1), why, sizeof why),
           "... not when it is %s", late < 0 ? "of the future" : "old");
    }
    ok(!brake_is_recent(&brake, "expired", 1100), "a leave is asked for at each health check");
    brake.permission = BRAKE_ON;
    ok(!brake_permits(&brake, "expired", 1100, why, sizeof why), "... nor with the brake on");
    ok(brake_is_recent(&brake, "expired", 1000), "... which is not asked again at once");
    ok(!brake_is_recent(&brake, "expired", 1000 + BRAKE_FRESH_S / 2), "... but later");
    ok(!brake_is_recent(&brake, "missing", 1100), "... and for another cause");
    ok(!brake_is_recent(&brake, "expired", 900), "... nor with a clock that was set back");
    brake.permission = BRAKE_LIFTED;
    ok(brake_permits(&brake, "missing", 99999999, why, sizeof why), "lifted, it is for any cause");
    if (!mkdtemp(directory))
        exit(99);
    snprintf(path, sizeof path, "%s/certificate", directory);
    snprintf(file, sizeof file, "%s/brake", directory);
    is_int(brake_read(path, &read, &err), 1, "no file");
    is_int(brake_write(path, &brake, &err), 0, "a file is written");
    if (geteuid() == 0) {
        is_int(brake_read(path, &read, &err), 0, "... and read");
        ok(memcmp(&read, &brake, sizeof read) == 0 ||
               (read.when == 1000 && read.permission == BRAKE_LIFTED &&
                strcmp(read.cause, "expired") == 0 && strcmp(read.message, "1 of 8 nodes") == 0),
           "... as it was");
        chmod(file, 0666);
        is_int(brake_read(path, &read, &err), -1, "... not one that others may write to");
        damaged(path, file);
    }
    errno = 0;
    is_int(brake_remove(path, &err), 0, "it is removed");
    is_int(brake_remove(path, &err), 0, "... also when there is none");
    rmdir(directory);
}

int main(void)
{
    one_event();
    out_of_service();
    texts();
    causes();
    files();
    return tap_done();
}
