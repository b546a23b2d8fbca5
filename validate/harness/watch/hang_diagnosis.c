/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/watch/hang_diagnosis.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "validate/harness/output.h"

static const char *node_of(const struct monitor *monitor, int rank)
{
    return monitor->state->config.nodes[rank];
}

/* Reports a record of the monitor. rank -1: of no rank. */
static void __attribute__((format(printf, 6, 7)))
report(const struct monitor *monitor, enum verdict verdict, enum fault_code code,
       const char *metric, int rank, const char *format, ...)
{
    char part[32], message[512];

    TEXT_FORMAT(message, sizeof message, format);
    snprintf(part, sizeof part, "rank %d", rank);
    output_report(RECORD(.test = "workers.enumerate", .metric = metric, .verdict = verdict,
                         .code = code, .node = rank >= 0 ? node_of(monitor, rank) : NULL,
                         .part = rank >= 0 ? part : NULL),
                  "%s", message);
}

/* Ends the job. The caller has reported the finding. Unless all results are printed, reports why
 * the job ended early and what was not measured. all_respond: all ranks will obey HEARTBEAT_QUIT,
 * so the launcher need not kill them. */
static void __attribute__((noreturn))
end_job(struct monitor *monitor, bool all_respond, const char *why)
{
    double until;
    int status;

    if (!atomic_load(&monitor->state->has_results))
        report(monitor, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, "complete", -1,
               "%s: nothing after %s was measured", why,
               monitor->members[0].phase[0] ? monitor->members[0].phase : "the start");
    status = output_status();
    until = clock_s() + 1;
    all_respond = all_respond && !monitor->has_unresponsive;
    output_finish();
    members_send_all(monitor, HEARTBEAT_QUIT, status);
    for (int rank = 1; rank < monitor->state->config.size && all_respond; rank++) {
        struct member *member = &monitor->members[rank];

        while (member->fd >= 0 && clock_s() < until) {
            struct pollfd wait = {.fd = member->fd, .events = POLLIN};

            if (poll(&wait, 1, 50) == 1 && heartbeat_receive(member->fd, &member->buffer) < 0)
                break;
        }
    }
    watch_leave(monitor->state, !all_respond, status);
}

/* Gives up a rank; the job continues. Sends HEARTBEAT_QUIT to the rank in case it still responds.
 * is_unresponsive: the rank will not respond. */
static void give_up_rank(struct monitor *monitor, int rank, bool is_unresponsive)
{
    struct heartbeat quit = {.type = HEARTBEAT_QUIT, .progress = 3};
    struct member *member = &monitor->members[rank];

    if (member->fd >= 0) {
        heartbeat_send(member->fd, &quit);
        close(member->fd);
    }
    member->fd = -1;
    member->state = MEMBER_LOST;
    monitor->has_unresponsive |= is_unresponsive;
    atomic_store(&monitor->state->lost[rank], true);
    members_send_all(monitor, HEARTBEAT_LOST, rank);
    monitor->moved_s = monitor->now_s;
}

static bool is_tolerated(const struct monitor *monitor)
{
    return atomic_load(&monitor->state->tolerates);
}

/* MPI libraries sometimes crash in MPI_Finalize. Such a death after all results is no fault of the
 * node. */
static void report_died(const struct monitor *monitor, int rank)
{
    bool has_results = atomic_load(&monitor->state->has_results);

    report(monitor, has_results ? VERDICT_WARN : VERDICT_FAIL, FAULT_PROCESS_DIED, "died", rank,
           "rank %d on %s died in phase %s%s", rank, node_of(monitor, rank),
           monitor->members[rank].phase, has_results ? ", after all results" : "");
}

static bool was_paused(const struct monitor *monitor)
{
    return monitor->pause_s > 2 && monitor->now_s - monitor->paused_at_s < 10;
}

/* Whether the ranks are on so many of the nodes other than rank 0's that the cause is common. */
static bool is_common(const struct monitor *monitor, const int *ranks, int count)
{
    const struct watch_config *config = &monitor->state->config;
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

/* Reports what many nodes show at once: it is not their fault. */
static void report_common(const struct monitor *monitor, enum fault_code code, const char *metric,
                          int count, const char *what)
{
    report(monitor, VERDICT_UNKNOWN, code, metric, -1,
           "%d of %d ranks %s at once, on most nodes: check the network, %s (rank 0's node) and "
           "Slurm, "
           "not these nodes",
           count, monitor->state->config.size, what, node_of(monitor, 0));
}

static void report_pause(const struct monitor *monitor)
{
    if (monitor->was_queued)
        report(monitor, VERDICT_UNKNOWN, FAULT_NODE_FROZEN, "frozen", -1,
               "rank 0 on %s was not scheduled for %.1f s: its node is busy", node_of(monitor, 0),
               monitor->pause_s);
    else
        report(monitor, VERDICT_FAIL, FAULT_NODE_FROZEN, "frozen", 0,
               "rank 0 on %s itself was stopped or not scheduled for %.1f s", node_of(monitor, 0),
               monitor->pause_s);
}

void diagnosis_dead(struct monitor *monitor)
{
    int size = monitor->state->config.size;
    bool is_everywhere;
    int count = 0;

    for (int rank = 1; rank < size; rank++)
        if (monitor->members[rank].state == MEMBER_CONNECTED && monitor->members[rank].fd < 0)
            monitor->faulty_ranks[count++] = rank;
    if (count == 0)
        return;
    /* after all results a death is a crash of MPI, and no result is lost */
    is_everywhere = !atomic_load(&monitor->state->has_results) &&
                    is_common(monitor, monitor->faulty_ranks, count);
    if (is_tolerated(monitor) && !was_paused(monitor) && !is_everywhere) {
        for (int i = 0; i < count; i++) {
            report_died(monitor, monitor->faulty_ranks[i]);
            give_up_rank(monitor, monitor->faulty_ranks[i], false);
        }
        return;
    }
    output_claim();
    if (was_paused(monitor)) /* the others left because rank 0 was paused */
        report_pause(monitor);
    else if (is_everywhere)
        report_common(monitor, FAULT_PROCESS_DIED, "died", count, "ended");
    for (int i = 0; i < count && !is_everywhere && !was_paused(monitor); i++)
        report_died(monitor, monitor->faulty_ranks[i]);
    end_job(monitor, true,
            was_paused(monitor) ? "rank 0 was stopped or not scheduled" : "a rank died");
}

void diagnosis_frozen(struct monitor *monitor)
{
    int size = monitor->state->config.size, count = 0;
    bool is_silent = false;

    /* Ranks of the same node fall silent together, within one interval. */
    for (int rank = 1; rank < size; rank++) {
        const struct member *member = &monitor->members[rank];
        double silent = monitor->now_s - member->received_s,
               silence = members_silence_s(monitor, rank);

        if (member->state != MEMBER_CONNECTED || silent <= 0.7 * silence)
            continue;
        is_silent |= silent > silence;
        monitor->faulty_ranks[count++] = rank;
    }
    if (!is_silent)
        return;
    if (is_common(monitor, monitor->faulty_ranks, count)) {
        output_claim();
        report_common(monitor, FAULT_NODE_FROZEN, "frozen", count, "stopped responding");
        end_job(monitor, false, "many ranks are silent");
    }
    if (!is_tolerated(monitor))
        output_claim();
    for (int i = 0; i < count; i++) {
        int rank = monitor->faulty_ranks[i];

        report(monitor, VERDICT_FAIL, FAULT_NODE_FROZEN, "frozen", rank,
               "rank %d on %s has been silent for %.1f s in phase %s: frozen or cut off", rank,
               node_of(monitor, rank), monitor->now_s - monitor->members[rank].received_s,
               monitor->members[rank].phase);
        if (is_tolerated(monitor))
            give_up_rank(monitor, rank, true);
    }
    if (is_tolerated(monitor))
        return;
    end_job(monitor, false, "a node is frozen or cut off");
}

/* Sets each rank's times since something last moved, from its heartbeats. */
static void fill_stall(const struct monitor *monitor, struct stall_rank *ranks)
{
    for (int rank = 0; rank < monitor->state->config.size; rank++) {
        const struct member *member = &monitor->members[rank];
        double queued_s = member->queued_s - member->base_queued_s;

        ranks[rank] =
            (struct stall_rank){member->progress, member->waits_for,
                                member->received_s - monitor->moved_s - queued_s, queued_s};
        if (isnan(queued_s))
            ranks[rank].counted_s = 0;
        if (member->state != MEMBER_CONNECTED) /* it cannot be the cause */
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

static void report_hang(struct monitor *monitor, enum stall_kind kind,
                        const struct stall_rank *ranks, size_t count, double stalled_s)
{
    for (size_t i = 0; i < count && kind == STALL_HUNG; i++) {
        int rank = monitor->faulty_ranks[i];
        const struct member *member = &monitor->members[rank];

        report(monitor, VERDICT_FAIL, FAULT_PROCESS_HUNG, "hang", rank,
               "rank %d on %s hangs in phase %s: no progress for %.0f s, the others wait for it "
               "(its main thread is %s, %.1f s in the run queue)",
               rank, node_of(monitor, rank), member->phase, stalled_s,
               state_name(member->thread_state), ranks[rank].queued_s);
    }
    if (kind == STALL_PAIR) {
        int rank = monitor->faulty_ranks[0], other = monitor->faulty_ranks[1];

        report(
            monitor, VERDICT_FAIL, FAULT_PROCESS_HUNG, "hang", rank,
            "rank %d on %s and rank %d on %s wait for each other for %.0f s in phase %s (%.1f and "
            "%.1f s in the run queue)",
            rank, node_of(monitor, rank), other, node_of(monitor, other), stalled_s,
            monitor->members[rank].phase, ranks[rank].queued_s, ranks[other].queued_s);
    }
}

static void report_widespread(const struct monitor *monitor, enum stall_kind kind, size_t count,
                              double stalled_s)
{
    const int *ranks = monitor->faulty_ranks;

    if (kind == STALL_PAIRS)
        report(
            monitor, VERDICT_UNKNOWN, FAULT_PROCESS_HUNG, "hang", -1,
            "%zu pairs of ranks at once wait for each other for %.0f s in phase %s, rank %d on %s "
            "and rank %d on %s among them: check the network, not these nodes; look for 'neighbor "
            "table overflow' in their kernel logs",
            count / 2, stalled_s, monitor->members[ranks[0]].phase, ranks[0],
            node_of(monitor, ranks[0]), ranks[1], node_of(monitor, ranks[1]));
    else
        report(monitor, VERDICT_UNKNOWN, FAULT_PROCESS_HUNG, "hang", -1,
               "%zu ranks on most nodes at once make no progress for %.0f s in phase %s: not these "
               "nodes' own fault",
               count, stalled_s, monitor->members[ranks[0]].phase);
}

/* Reports the rank that waited longest for a processor. */
static void report_slow(const struct monitor *monitor, const struct stall_rank *ranks,
                        double stalled_s)
{
    int slowest = 0;

    for (int rank = 1; rank < monitor->state->config.size; rank++)
        if (ranks[rank].queued_s > ranks[slowest].queued_s)
            slowest = rank;
    if (isnan(ranks[slowest].queued_s))
        report(monitor, VERDICT_UNKNOWN, FAULT_PROCESS_SLOW, "slow", -1,
               "no progress for %.0f s in phase %s; the kernel does not report whether the ranks "
               "were scheduled (CONFIG_SCHED_INFO)",
               stalled_s, monitor->members[0].phase);
    else
        report(
            monitor, VERDICT_UNKNOWN, FAULT_PROCESS_SLOW, "slow", -1,
            "no progress for %.0f s in phase %s while nodes were busy: rank %d on %s was %.0f %% "
            "of the time in the run queue",
            stalled_s, monitor->members[0].phase, slowest, node_of(monitor, slowest),
            fmin(100 * ranks[slowest].queued_s / stalled_s, 100));
}

/* Returns if there is not enough evidence, or if the job can continue without the faulty ranks;
 * else ends the job. */
static void report_stall(struct monitor *monitor, double stalled_s, double allowed_s,
                         bool is_time_up)
{
    size_t size = (size_t)monitor->state->config.size, count = 0;
    struct stall_rank *ranks = calloc(size, sizeof *ranks);
    enum stall_kind kind = STALL_UNKNOWN;
    bool continues = is_tolerated(monitor), is_everywhere;

    if (ranks) {
        fill_stall(monitor, ranks);
        kind = stall_find(ranks, size, allowed_s, monitor->faulty_ranks, &count);
    }
    is_everywhere = kind == STALL_PAIRS ||
                    (kind == STALL_HUNG && is_common(monitor, monitor->faulty_ranks, (int)count));
    if ((kind == STALL_SLOW || is_everywhere) && !is_time_up) {
        free(ranks);
        return;
    }
    if (!continues)
        output_claim();
    for (size_t i = 0; i < count; i++)
        continues = continues && kind == STALL_HUNG && monitor->faulty_ranks[i] > 0;
    continues = continues && kind == STALL_HUNG && !is_everywhere;
    if (is_everywhere)
        report_widespread(monitor, kind, count, stalled_s);
    else
        report_hang(monitor, kind, ranks, count, stalled_s);
    for (size_t i = 0; i < count && continues; i++)
        give_up_rank(monitor, monitor->faulty_ranks[i], false);
    if (kind == STALL_SLOW)
        report_slow(monitor, ranks, stalled_s);
    if (kind == STALL_UNKNOWN)
        report(monitor, VERDICT_UNKNOWN, FAULT_PROCESS_HUNG, "hang", -1,
               "the job hangs in phase %s: no progress for %.0f s, no rank is behind the others",
               monitor->members[0].phase, stalled_s);
    free(ranks);
    if (continues)
        return;
    output_claim();
    end_job(monitor, true, is_time_up ? "time limit reached" : "the job hangs");
}

void diagnosis_stall(struct monitor *monitor)
{
    const struct watch_config *config = &monitor->state->config;
    double limit = config->time_limit_s;
    double elapsed = monitor->now_s - monitor->state->started_s;
    double stalled_s = monitor->now_s - monitor->moved_s;
    double allowed_s = stall_allowed_s(config->patience_s, limit, config->size);
    /* The main threads stop by themselves between two rounds; this is the fallback. */
    bool is_time_up = elapsed > limit + 2;
    char why[80];

    /* A silent rank may be frozen. diagnosis_frozen() will soon give that better answer. */
    for (int rank = 1; rank < config->size && !is_time_up; rank++)
        if (monitor->members[rank].state == MEMBER_CONNECTED &&
            monitor->now_s - monitor->members[rank].received_s >
                members_silence_s(monitor, rank) / 3)
            return;
    if (stalled_s > allowed_s || (is_time_up && stalled_s > 2))
        report_stall(monitor, stalled_s, allowed_s, is_time_up);
    if (is_time_up) {
        output_claim();
        snprintf(why, sizeof why, "time limit of %g s reached", limit);
        end_job(monitor, true, why);
    }
}

void diagnosis_fault(struct monitor *monitor, int rank, const char *text)
{
    output_claim();
    report(monitor, VERDICT_FAIL, FAULT_PROCESS_FAULT, "fault", rank,
           "rank %d on %s in phase %s: %s", rank, node_of(monitor, rank),
           monitor->members[rank].phase, text);
    end_job(monitor, true, "a rank cannot continue");
}

/* When one rank dies, launchers end the whole job, and the signal may arrive before the monitor
 * sees the death. So the signal is reported only after 0.3 s. */
void diagnosis_signal(struct monitor *monitor)
{
    char why[64];

    if (monitor->signalled_s == 0 || monitor->now_s - monitor->signalled_s < 0.3)
        return;
    output_claim();
    snprintf(why, sizeof why, "stopped by %s",
             monitor->signal_number == SIGINT    ? "SIGINT"
             : monitor->signal_number == SIGTERM ? "SIGTERM"
                                                 : "a signal");
    end_job(monitor, true, why);
}

void diagnosis_unwatched(struct monitor *monitor)
{
    if (!atomic_exchange(&monitor->state->all_joined, false))
        return;
    monitor->all_tried = true;
    for (int rank = 1; rank < monitor->state->config.size; rank++) {
        struct member *member = &monitor->members[rank];

        if (member->state != MEMBER_AWAITED)
            continue;
        member->state = MEMBER_UNWATCHED;
        report(monitor, VERDICT_WARN, FAULT_PROCESS_UNWATCHED, "watch", rank,
               "rank %d on %s reaches rank 0 on %s by MPI but not by TCP: it is not monitored",
               rank, node_of(monitor, rank), node_of(monitor, 0));
    }
}
