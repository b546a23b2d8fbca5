/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/watch/inquest.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "validate/battery/output.h"

static const char *node_of(const struct warden *warden, int rank)
{
    return warden->state->config.nodes[rank];
}

/* A record of the warden's. rank -1: of no rank. */
static void say(const struct warden *warden, enum verdict verdict, enum fault_code code,
                const char *metric, int rank, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

static void say(const struct warden *warden, enum verdict verdict, enum fault_code code,
                const char *metric, int rank, const char *format, ...)
{
    struct record record = RECORD_INIT;
    char part[32], message[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    record.test = "workers.enumerate";
    record.metric = metric;
    record.verdict = verdict;
    record.code = code;
    record.message = message;
    if (rank >= 0) {
        snprintf(part, sizeof part, "rank %d", rank);
        record.node = node_of(warden, rank);
        record.part = part;
    }
    output_record(&record);
}

/* Ends the job: the records of the finding are out. is_sure: all ranks will obey, so that the
 * launcher need not be asked to kill them. */
static void __attribute__((noreturn)) end_job(struct warden *warden, bool is_sure)
{
    int status = output_status();
    double until = clock_s() + 1;

    is_sure = is_sure && !warden->has_immovable;
    output_finish();
    guests_send_all(warden, BEAT_QUIT, status);
    for (int rank = 1; rank < warden->state->config.size && is_sure; rank++) {
        struct guest *guest = &warden->guests[rank];

        while (guest->fd >= 0 && clock_s() < until) {
            struct pollfd wait = {.fd = guest->fd, .events = POLLIN};

            if (poll(&wait, 1, 50) == 1 && beat_receive(guest->fd, &guest->buffer) < 0)
                break;
        }
    }
    watch_leave(warden->state, !is_sure, status);
}

/* Gives a rank up; the job goes on. It is told to leave, should it still hear that. is_immovable:
 * it will not. */
static void lose(struct warden *warden, int rank, bool is_immovable)
{
    struct beat quit = {.type = BEAT_QUIT, .progress = 3};
    struct guest *guest = &warden->guests[rank];

    if (guest->fd >= 0) {
        beat_send(guest->fd, &quit);
        close(guest->fd);
    }
    guest->fd = -1;
    guest->state = GUEST_LOST;
    warden->has_immovable |= is_immovable;
    atomic_store(&warden->state->lost[rank], true);
    guests_send_all(warden, BEAT_LOST, rank);
    warden->moved_s = warden->now_s;
}

static bool is_tolerated(const struct warden *warden)
{
    return atomic_load(&warden->state->tolerates);
}

/* What was not measured because the job ended early. */
static void say_unfinished(const struct warden *warden, const char *why)
{
    say(warden, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, "complete", -1,
        "%s: what comes after %s was not measured", why,
        warden->guests[0].phase[0] ? warden->guests[0].phase : "the start");
}

static void say_died(const struct warden *warden, int rank)
{
    say(warden, VERDICT_FAIL, FAULT_PROCESS_DIED, "died", rank, "rank %d on %s died in phase %s",
        rank, node_of(warden, rank), warden->guests[rank].phase);
}

static bool has_stood_still(const struct warden *warden)
{
    return warden->late_s > 2 && warden->now_s - warden->late_at_s < 10;
}

/* How many nodes other than rank 0's there are, and how many of them have a rank among those. */
static bool is_common(const struct warden *warden, const int *ranks, int count)
{
    const struct watch_config *config = &warden->state->config;
    int others = 0, found = 0;

    for (int rank = 1; rank < config->size; rank++) {
        const char *node = config->nodes[rank];
        bool is_new = strcmp(node, config->nodes[0]) != 0, is_found = false;

        for (int before = rank - 1; before > 0 && is_new; before--)
            is_new = strcmp(node, config->nodes[before]) != 0;
        for (int i = 0; i < count && is_new && !is_found; i++)
            is_found = strcmp(node, config->nodes[ranks[i]]) == 0;
        others += is_new;
        found += is_found;
    }
    return stall_is_common(found, others);
}

/* What many nodes show at once is not theirs. */
static void say_common(const struct warden *warden, enum fault_code code, const char *metric,
                       int count, const char *what)
{
    say(warden, VERDICT_UNKNOWN, code, metric, -1,
        "%d of %d ranks %s at once, on most nodes: the network, %s (rank 0's node) or Slurm, not "
        "these nodes",
        count, warden->state->config.size, what, node_of(warden, 0));
}

static void say_late(const struct warden *warden)
{
    if (warden->was_queued)
        say(warden, VERDICT_UNKNOWN, FAULT_NODE_FROZEN, "frozen", -1,
            "rank 0 on %s was not scheduled for %.1f s: its node is busy", node_of(warden, 0),
            warden->late_s);
    else
        say(warden, VERDICT_FAIL, FAULT_NODE_FROZEN, "frozen", 0,
            "rank 0 on %s itself stood still for %.1f s", node_of(warden, 0), warden->late_s);
}

void inquest_dead(struct warden *warden)
{
    int size = warden->state->config.size;
    bool is_everywhere;
    int count = 0;

    for (int rank = 1; rank < size; rank++)
        if (warden->guests[rank].state == GUEST_HERE && warden->guests[rank].fd < 0)
            warden->culprits[count++] = rank;
    if (count == 0)
        return;
    is_everywhere = is_common(warden, warden->culprits, count);
    if (is_tolerated(warden) && !has_stood_still(warden) && !is_everywhere) {
        for (int i = 0; i < count; i++) {
            say_died(warden, warden->culprits[i]);
            lose(warden, warden->culprits[i], false);
        }
        return;
    }
    output_take_over();
    if (has_stood_still(warden)) /* so the others left */
        say_late(warden);
    else if (is_everywhere)
        say_common(warden, FAULT_PROCESS_DIED, "died", count, "ended");
    for (int i = 0; i < count && !is_everywhere && !has_stood_still(warden); i++)
        say_died(warden, warden->culprits[i]);
    say_unfinished(warden, has_stood_still(warden) ? "rank 0 stood still" : "a rank died");
    end_job(warden, true);
}

void inquest_frozen(struct warden *warden)
{
    int size = warden->state->config.size, count = 0;
    bool is_silent = false;

    /* Ranks of the same node fall silent together, but for one interval. */
    for (int rank = 1; rank < size; rank++) {
        const struct guest *guest = &warden->guests[rank];
        double silent = warden->now_s - guest->heard_s, silence = guests_silence_s(warden, rank);

        if (guest->state != GUEST_HERE || silent <= 0.7 * silence)
            continue;
        is_silent |= silent > silence;
        warden->culprits[count++] = rank;
    }
    if (!is_silent)
        return;
    if (is_common(warden, warden->culprits, count)) {
        output_take_over();
        say_common(warden, FAULT_NODE_FROZEN, "frozen", count, "fell silent");
        say_unfinished(warden, "many ranks are silent");
        end_job(warden, false);
    }
    if (!is_tolerated(warden))
        output_take_over();
    for (int i = 0; i < count; i++) {
        int rank = warden->culprits[i];

        say(warden, VERDICT_FAIL, FAULT_NODE_FROZEN, "frozen", rank,
            "rank %d on %s is silent for %.1f s in phase %s: frozen or cut off", rank,
            node_of(warden, rank), warden->now_s - warden->guests[rank].heard_s,
            warden->guests[rank].phase);
        if (is_tolerated(warden))
            lose(warden, rank, true);
    }
    if (is_tolerated(warden))
        return;
    say_unfinished(warden, "a node is frozen or cut off");
    end_job(warden, false);
}

/* What each rank had of the time since something moved last, as far as its heartbeats tell. */
static void fill_stall(const struct warden *warden, struct stall_rank *ranks)
{
    for (int rank = 0; rank < warden->state->config.size; rank++) {
        const struct guest *guest = &warden->guests[rank];
        double queued_s = guest->queued_s - guest->still_queued_s;

        ranks[rank] = (struct stall_rank){guest->progress, guest->waits_for,
                                          guest->heard_s - warden->moved_s - queued_s, queued_s};
        if (isnan(queued_s))
            ranks[rank].had_s = 0;
        if (guest->state != GUEST_HERE) /* it cannot be the one */
            ranks[rank] = (struct stall_rank){UINT32_MAX, STALL_WAIT_ALL, INFINITY, 0};
    }
}

static const char *state_name(int state)
{
    return state == 'R'   ? "running"
           : state == 'D' ? "in uninterruptible sleep"
           : state == 'T' ? "stopped"
                          : "sleeping";
}

static void say_hang(struct warden *warden, enum stall_kind kind, const struct stall_rank *ranks,
                     size_t count, double still_s)
{
    for (size_t i = 0; i < count && kind == STALL_HUNG; i++) {
        int rank = warden->culprits[i];
        const struct guest *guest = &warden->guests[rank];

        say(warden, VERDICT_FAIL, FAULT_PROCESS_HUNG, "hang", rank,
            "rank %d on %s hangs in phase %s: no progress for %.0f s, the others wait for it "
            "(its main thread is %s, %.1f s in the run queue)",
            rank, node_of(warden, rank), guest->phase, still_s, state_name(guest->thread_state),
            ranks[rank].queued_s);
    }
    if (kind == STALL_PAIR) {
        int rank = warden->culprits[0], other = warden->culprits[1];

        say(warden, VERDICT_FAIL, FAULT_PROCESS_HUNG, "hang", rank,
            "rank %d on %s and rank %d on %s wait for each other for %.0f s in phase %s (%.1f and "
            "%.1f s in the run queue)",
            rank, node_of(warden, rank), other, node_of(warden, other), still_s,
            warden->guests[rank].phase, ranks[rank].queued_s, ranks[other].queued_s);
    }
}

static void say_many(const struct warden *warden, enum stall_kind kind, size_t count,
                     double still_s)
{
    const int *ranks = warden->culprits;

    if (kind == STALL_PAIRS)
        say(warden, VERDICT_UNKNOWN, FAULT_PROCESS_HUNG, "hang", -1,
            "%zu pairs of ranks at once wait for each other for %.0f s in phase %s, rank %d on %s "
            "and rank %d on %s among them: the network, not these nodes; look for 'neighbor table "
            "overflow' in their kernel logs",
            count / 2, still_s, warden->guests[ranks[0]].phase, ranks[0], node_of(warden, ranks[0]),
            ranks[1], node_of(warden, ranks[1]));
    else
        say(warden, VERDICT_UNKNOWN, FAULT_PROCESS_HUNG, "hang", -1,
            "%zu ranks on most nodes at once make no progress for %.0f s in phase %s: not these "
            "nodes' own fault",
            count, still_s, warden->guests[ranks[0]].phase);
}

/* Who waited for a processor most. */
static void say_slow(const struct warden *warden, const struct stall_rank *ranks, double still_s)
{
    int slowest = 0;

    for (int rank = 1; rank < warden->state->config.size; rank++)
        if (ranks[rank].queued_s > ranks[slowest].queued_s)
            slowest = rank;
    if (isnan(ranks[slowest].queued_s))
        say(warden, VERDICT_UNKNOWN, FAULT_PROCESS_SLOW, "slow", -1,
            "no progress for %.0f s in phase %s; the kernel does not tell whether the ranks were "
            "scheduled (CONFIG_SCHED_INFO)",
            still_s, warden->guests[0].phase);
    else
        say(warden, VERDICT_UNKNOWN, FAULT_PROCESS_SLOW, "slow", -1,
            "no progress for %.0f s in phase %s while nodes were busy: rank %d on %s was %.0f %% "
            "of the time in the run queue",
            still_s, warden->guests[0].phase, slowest, node_of(warden, slowest),
            fmin(100 * ranks[slowest].queued_s / still_s, 100));
}

/* Returns when there is not enough evidence, or the job can go on without the culprits. */
static void tell_stall(struct warden *warden, double still_s, double allowed_s, bool is_over)
{
    size_t size = (size_t)warden->state->config.size, count = 0;
    struct stall_rank *ranks = calloc(size, sizeof *ranks);
    enum stall_kind kind = STALL_UNKNOWN;
    bool goes_on = is_tolerated(warden), is_everywhere;

    if (ranks) {
        fill_stall(warden, ranks);
        kind = stall_find(ranks, size, allowed_s, warden->culprits, &count);
    }
    is_everywhere = kind == STALL_PAIRS ||
                    (kind == STALL_HUNG && is_common(warden, warden->culprits, (int)count));
    if ((kind == STALL_SLOW || is_everywhere) && !is_over) {
        free(ranks);
        return;
    }
    if (!goes_on)
        output_take_over();
    for (size_t i = 0; i < count; i++)
        goes_on = goes_on && kind == STALL_HUNG && warden->culprits[i] > 0;
    goes_on = goes_on && kind == STALL_HUNG && !is_everywhere;
    if (is_everywhere)
        say_many(warden, kind, count, still_s);
    else
        say_hang(warden, kind, ranks, count, still_s);
    for (size_t i = 0; i < count && goes_on; i++)
        lose(warden, warden->culprits[i], false);
    if (kind == STALL_SLOW)
        say_slow(warden, ranks, still_s);
    if (kind == STALL_UNKNOWN)
        say(warden, VERDICT_UNKNOWN, FAULT_PROCESS_HUNG, "hang", -1,
            "the job hangs in phase %s: no progress for %.0f s, no rank is behind the others",
            warden->guests[0].phase, still_s);
    free(ranks);
    if (goes_on)
        return;
    output_take_over();
    say_unfinished(warden, is_over ? "the time limit is over" : "the job hangs");
    end_job(warden, true);
}

void inquest_stall(struct warden *warden)
{
    const struct watch_config *config = &warden->state->config;
    double limit = config->time_limit_s;
    double elapsed = warden->now_s - warden->state->started_s;
    double still = warden->now_s - warden->moved_s;
    double allowed = stall_allowed_s(config->patience_s, limit, config->size);
    /* The main threads stop by themselves between two rounds; this is for when they do not. */
    bool is_over = elapsed > limit + 2;
    char why[80];

    /* While a rank is silent it may be frozen: that is the better answer, soon to come. */
    for (int rank = 1; rank < config->size && !is_over; rank++)
        if (warden->guests[rank].state == GUEST_HERE &&
            warden->now_s - warden->guests[rank].heard_s > guests_silence_s(warden, rank) / 3)
            return;
    if (still > allowed || (is_over && still > 2))
        tell_stall(warden, still, allowed, is_over);
    if (is_over) {
        output_take_over();
        snprintf(why, sizeof why, "the time limit of %g s is over", limit);
        say_unfinished(warden, why);
        end_job(warden, true);
    }
}

void inquest_fault(struct warden *warden, int rank, const char *text)
{
    output_take_over();
    say(warden, VERDICT_FAIL, FAULT_PROCESS_FAULT, "fault", rank, "rank %d on %s in phase %s: %s",
        rank, node_of(warden, rank), warden->guests[rank].phase, text);
    say_unfinished(warden, "a rank cannot go on");
    end_job(warden, true);
}

/* Launchers end the whole job when one rank has died: the signal may be here before the death is
 * seen. So there is a moment for the death. */
void inquest_signal(struct warden *warden)
{
    char why[64];

    if (warden->signalled_s == 0 || warden->now_s - warden->signalled_s < 0.3)
        return;
    output_take_over();
    snprintf(why, sizeof why, "stopped by %s",
             warden->signal_number == SIGINT    ? "SIGINT"
             : warden->signal_number == SIGTERM ? "SIGTERM"
                                                : "a signal");
    say_unfinished(warden, why);
    end_job(warden, true);
}

void inquest_unwatched(struct warden *warden)
{
    if (!atomic_exchange(&warden->state->all_joined, false))
        return;
    warden->has_all = true;
    for (int rank = 1; rank < warden->state->config.size; rank++) {
        struct guest *guest = &warden->guests[rank];

        if (guest->state != GUEST_AWAITED)
            continue;
        guest->state = GUEST_UNWATCHED;
        say(warden, VERDICT_WARN, FAULT_PROCESS_UNWATCHED, "watch", rank,
            "rank %d on %s reaches rank 0 on %s by MPI but not by TCP: it is not watched", rank,
            node_of(warden, rank), node_of(warden, 0));
    }
}
