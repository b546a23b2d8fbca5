/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/watch/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/statistics.h"
#include "lib/base/text.h"

int watch_make(struct watch *watch, const struct hostlist *names, double interval_s,
               double patience_s, double now_s)
{
    *watch = (struct watch){.interval_s = interval_s,
                            .patience_s = patience_s,
                            .began_s = now_s,
                            .step = -1,
                            .ras.since_s = NAN};
    watch->nodes = calloc(names->count + 1, sizeof *watch->nodes);
    if (!watch->nodes)
        return -1;
    watch->node_count = names->count;
    for (size_t i = 0; i < names->count; i++) {
        watch->nodes[i].name = names->names[i];
        watch->nodes[i].quiet_since_s = now_s;
    }
    return 0;
}

void watch_clear(struct watch *watch)
{
    for (size_t i = 0; i < watch->node_count; i++)
        for (size_t k = 0; k < WATCH_WINDOW; k++)
            watch_sample_clear(&watch->nodes[i].window[k]);
    free(watch->nodes);
    watch->nodes = NULL;
    watch->node_count = 0;
}

/* ---------------------------------------------------------------- samples */

static const struct watch_sample *sample_at(const struct watch_node *node, size_t age)
{
    return age < node->count && age < WATCH_WINDOW
               ? &node->window[(node->count - 1 - age) % WATCH_WINDOW]
               : NULL;
}

const struct watch_sample *watch_newest(const struct watch_node *node)
{
    return sample_at(node, 0);
}

/* The newest sample that is at least so old against the newest; NULL: there is none yet. */
static const struct watch_sample *sample_before(const struct watch_node *node, double seconds)
{
    const struct watch_sample *newest = sample_at(node, 0), *sample;

    for (size_t age = 1; (sample = sample_at(node, age)); age++)
        if (newest->time_s - sample->time_s >= seconds)
            return sample;
    return NULL;
}

const struct watch_sample *watch_recent(const struct watch_node *node)
{
    const struct watch_sample *sample = sample_before(node, WATCH_RECENT_S);
    size_t oldest = node->count < WATCH_WINDOW ? node->count : WATCH_WINDOW;

    return sample || oldest < 2 ? sample : sample_at(node, oldest - 1);
}

const struct watch_rank *watch_rank_find(const struct watch_sample *sample, long step, int rank)
{
    for (size_t i = 0; sample && i < sample->rank_count; i++)
        if (sample->ranks[i].step == step && sample->ranks[i].rank == rank)
            return &sample->ranks[i];
    return NULL;
}

static const struct watch_rail *rail_find(const struct watch_sample *sample, const char *name)
{
    for (size_t i = 0; sample && i < sample->rail_count; i++)
        if (strcmp(sample->rails[i].name, name) == 0)
            return &sample->rails[i];
    return NULL;
}

/* Per second, from the sample before to the newest. A counter that is less was reset: NAN. */
static double rate(const struct watch_node *node, double before, double now)
{
    const struct watch_sample *newest = watch_newest(node), *recent = watch_recent(node);
    double seconds = recent ? newest->time_s - recent->time_s : 0;

    return seconds > 0 && now >= before ? (now - before) / seconds : NAN;
}

static const struct watch_rank *rank_before(const struct watch_node *node,
                                            const struct watch_rank *rank)
{
    return watch_rank_find(watch_recent(node), rank->step, rank->rank);
}

double watch_cpu_share(const struct watch_node *node, const struct watch_rank *rank)
{
    const struct watch_rank *before = rank_before(node, rank);

    return before ? rate(node, before->cpu_s, rank->cpu_s) : NAN;
}

double watch_queued_share(const struct watch_node *node, const struct watch_rank *rank)
{
    const struct watch_rank *before = rank_before(node, rank);

    return before ? rate(node, before->queued_s, rank->queued_s) : NAN;
}

static double rail_bytes(const struct watch_rail *rail)
{
    return rail->sent_bytes + rail->received_bytes;
}

double watch_rail_mbps(const struct watch_node *node, const struct watch_rail *rail)
{
    const struct watch_rail *before = rail_find(watch_recent(node), rail->name);

    return before ? 8e-6 * rate(node, rail_bytes(before), rail_bytes(rail)) : NAN;
}

/* What all rails carried between the last two samples. */
static double last_mbps(const struct watch_node *node)
{
    const struct watch_sample *newest = sample_at(node, 0), *before = sample_at(node, 1);
    double bytes = 0;

    for (size_t i = 0; before && i < newest->rail_count; i++) {
        const struct watch_rail *rail = rail_find(before, newest->rails[i].name);

        if (rail && rail_bytes(&newest->rails[i]) > rail_bytes(rail))
            bytes += rail_bytes(&newest->rails[i]) - rail_bytes(rail);
    }
    return before && newest->time_s > before->time_s
               ? 8e-6 * bytes / (newest->time_s - before->time_s)
               : 0;
}

static void ras_note(struct watch *watch, size_t node, const struct ras *ras, double now_s)
{
    double total = 0;
    int missing = 0, behind = 0;

    if (!ras->is_answered)
        return;
    for (size_t i = 0; i < ras->comm_count; i++) {
        total += ras->comms[i].total;
        missing += ras->comms[i].missing_count;
        behind += ras->comms[i].behind_count;
    }
    if (isnan(watch->ras.since_s) || total != watch->ras.total || missing != watch->ras.missing ||
        behind != watch->ras.behind)
        watch->ras.since_s = now_s;
    watch->ras.node = node;
    watch->ras.total = total;
    watch->ras.missing = missing;
    watch->ras.behind = behind;
    watch->ras.seen_s = now_s;
}

void watch_add(struct watch *watch, size_t index, struct watch_sample *sample, double now_s)
{
    struct watch_node *node = &watch->nodes[index];
    struct watch_sample *place = &node->window[node->count % WATCH_WINDOW];

    if (node->count > 0 && sample->time_s <= watch_newest(node)->time_s) {
        watch_sample_clear(sample); /* it came twice */
        return;
    }
    watch_sample_clear(place);
    *place = *sample;
    *sample = (struct watch_sample){0};
    node->times_s[node->count % WATCH_WINDOW] = now_s;
    node->count++;
    ras_note(watch, index, &place->ras, now_s);
    if (node->count < 2)
        return;
    if (last_mbps(node) < WATCH_QUIET_MBPS) {
        if (isnan(node->quiet_since_s))
            node->quiet_since_s = node->times_s[(node->count - 2) % WATCH_WINDOW];
        return;
    }
    if (node->has_moved && now_s - node->quiet_since_s > node->longest_quiet_s)
        node->longest_quiet_s = now_s - node->quiet_since_s;
    if (!node->has_moved || place->unread_bytes < node->least_unread_bytes)
        node->least_unread_bytes = place->unread_bytes;
    node->has_moved = true;
    node->quiet_since_s = NAN;
}

/* ---------------------------------------------------------------- the job as a whole */

struct judging {
    struct watch *watch;
    double now_s;
    struct watch_verdict *verdict;
    size_t ranks, moving, moved, silent, ready; /* nodes, but for ranks */
    double quiet_s;                             /* that no rail has carried data */
    double patience_s;
    const char *busy; /* a node whose ranks wait for processors; NULL: none does */
};

static bool is_silent(const struct judging *judging, const struct watch_node *node)
{
    double heard_s =
        node->count ? node->times_s[(node->count - 1) % WATCH_WINDOW] : judging->watch->began_s;

    return judging->now_s - heard_s > WATCH_SILENT_S + 3 * judging->watch->interval_s;
}

static struct watch_finding *finding_add(struct judging *judging, enum verdict verdict,
                                         enum fault_code code, const char *node, const char *part)
{
    struct watch_verdict *found = judging->verdict;
    struct watch_finding *finding =
        &found->findings[found->count < WATCH_FINDINGS ? found->count++ : WATCH_FINDINGS - 1];

    *finding = (struct watch_finding){.verdict = verdict, .code = code, .node = node};
    snprintf(finding->part, sizeof finding->part, "%s", part);
    return finding;
}
#define FINDING(judging, verdict, code, node, part, ...)                                           \
    do {                                                                                           \
        struct watch_finding *made_ = finding_add(judging, verdict, code, node, part);             \
        text_put(made_->message, sizeof made_->message, __VA_ARGS__);                              \
    } while (0)

/* The step with most ranks; of several the newest. */
static void step_choose(struct watch *watch)
{
    size_t most = 0;
    long chosen = watch->step;

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_sample *newest = watch_newest(&watch->nodes[i]);

        for (size_t k = 0; newest && k < newest->rank_count; k++) {
            long step = newest->ranks[k].step;
            size_t count = 0;

            if (k > 0 && step == newest->ranks[k - 1].step)
                continue;
            for (size_t n = 0; n < watch->node_count; n++) {
                const struct watch_sample *other = watch_newest(&watch->nodes[n]);

                for (size_t r = 0; other && r < other->rank_count; r++)
                    count += other->ranks[r].step == step;
            }
            if (count > most || (count == most && step > chosen)) {
                most = count;
                chosen = step;
            }
        }
    }
    watch->step = chosen;
}

static void look_over(struct judging *judging)
{
    struct watch *watch = judging->watch;

    judging->patience_s = watch->patience_s;
    judging->quiet_s = INFINITY;
    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];
        const struct watch_sample *newest = watch_newest(node);

        judging->silent += is_silent(judging, node);
        judging->ready += sample_before(node, WATCH_RECENT_S) != NULL;
        judging->moving += isnan(node->quiet_since_s);
        judging->moved += node->has_moved;
        judging->quiet_s =
            fmin(judging->quiet_s,
                 isnan(node->quiet_since_s) ? 0 : judging->now_s - node->quiet_since_s);
        judging->patience_s = fmax(judging->patience_s, WATCH_PAUSES * node->longest_quiet_s);
        for (size_t k = 0; newest && k < newest->rank_count; k++) {
            const struct watch_rank *rank = &newest->ranks[k];

            if (rank->step != watch->step)
                continue;
            judging->ranks++;
            if (watch_queued_share(node, rank) > WATCH_QUEUED_LIMIT)
                judging->busy = node->name;
        }
    }
}

/* ---------------------------------------------------------------- ranks that cannot go on */

enum condition { GOES, STOPPED, BLOCKED, GONE };

/* What holds for the rank in all samples of the last seconds. */
static enum condition condition_of(const struct watch_node *node, long step, int rank)
{
    const struct watch_sample *newest = watch_newest(node), *sample;
    const struct watch_rank *last = watch_rank_find(newest, step, rank);
    double cpu_s = last ? last->cpu_s : 0;
    enum condition condition = GOES;

    for (size_t age = 0; (sample = sample_at(node, age)); age++) {
        const struct watch_rank *seen = watch_rank_find(sample, step, rank);
        enum condition now = !seen || seen->state == 'Z' || seen->state == 'X'  ? GONE
                             : seen->state == 'T' || seen->state == 't'         ? STOPPED
                             : seen->state == 'D' && cpu_s - seen->cpu_s < 1e-9 ? BLOCKED
                                                                                : GOES;

        if (now == GOES || (age > 0 && now != condition))
            return GOES;
        condition = now;
        if (newest->time_s - sample->time_s >= WATCH_STOPPED_S)
            return condition;
    }
    return GOES;
}

/* All that had a rank within the window. */
static void conditions_judge(struct judging *judging)
{
    static const char *const said[] = {
        [STOPPED] = "is stopped by a signal or a debugger (state T)",
        [BLOCKED] = "is blocked in the kernel (state D): a file system, a driver or a device",
        [GONE] = "has ended"};
    static const enum fault_code codes[] = {
        [STOPPED] = FAULT_RANK_HUNG, [BLOCKED] = FAULT_TASK_HUNG, [GONE] = FAULT_RANK_HUNG};
    struct watch *watch = judging->watch;
    size_t counts[4] = {0}, first = judging->verdict->count;
    bool is_quiet = judging->moving == 0;

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];
        size_t oldest = node->count < WATCH_WINDOW ? node->count : WATCH_WINDOW;
        const struct watch_sample *seen = oldest ? sample_at(node, oldest - 1) : NULL;

        for (size_t k = 0; seen && !is_silent(judging, node) && k < seen->rank_count; k++) {
            const struct watch_rank *rank = &seen->ranks[k];
            enum condition condition =
                rank->step == watch->step ? condition_of(node, rank->step, rank->rank) : GOES;
            char part[64];

            counts[condition]++;
            /* ranks end before others, and wait for files: that is nothing yet */
            if (condition == GOES ||
                (condition != STOPPED && judging->quiet_s < judging->patience_s))
                continue;
            snprintf(part, sizeof part, "rank %d", rank->rank);
            FINDING(judging, is_quiet ? VERDICT_FAIL : VERDICT_WARN, codes[condition], node->name,
                    part, "rank %d (pid %ld) %s%s", rank->rank, rank->pid, said[condition],
                    is_quiet ? "; nothing moves in the job" : "; the job goes on");
        }
    }
    /* what all have in common is no rank's: Slurm suspends jobs, and jobs end */
    for (int condition = STOPPED; condition <= GONE; condition++)
        if (counts[condition] > 1 && 2 * counts[condition] > judging->ranks) {
            judging->verdict->count = first;
            FINDING(judging, VERDICT_UNKNOWN, FAULT_MANY_ALIKE, NULL, "",
                    "%zu of the job's ranks %s", counts[condition],
                    condition == STOPPED   ? "are stopped: is the job suspended?"
                    : condition == BLOCKED ? "are blocked in the kernel: look for the file system "
                                             "that they share"
                                           : "have ended");
            return;
        }
}

static void silence_judge(struct judging *judging)
{
    const struct watch *watch = judging->watch;

    if (judging->silent == 0)
        return;
    if (judging->silent > 1 && 2 * judging->silent > watch->node_count) {
        FINDING(judging, VERDICT_UNKNOWN, FAULT_MANY_ALIKE, NULL, "",
                "%zu of %zu nodes send no samples: the network to this host, or Slurm",
                judging->silent, watch->node_count);
        return;
    }
    for (size_t i = 0; i < watch->node_count; i++)
        if (is_silent(judging, &watch->nodes[i]))
            FINDING(judging, VERDICT_UNKNOWN, FAULT_NODE_UNREACHABLE, watch->nodes[i].name, "",
                    "the node sends no samples%s: it is frozen, cut off, or its step did not "
                    "start",
                    watch->nodes[i].count ? " any more" : "");
}

/* ---------------------------------------------------------------- what NCCL says */

/* The node with a process of that number in the step: hosts are addresses that we may not know. */
static const struct watch_node *node_of(const struct judging *judging, const struct ras_rank *who,
                                        int *rank)
{
    const struct watch_node *found = NULL;

    *rank = who->rank;
    for (size_t i = 0; i < judging->watch->node_count; i++) {
        const struct watch_node *node = &judging->watch->nodes[i];
        const struct watch_sample *newest = watch_newest(node);

        for (size_t k = 0; newest && k < newest->rank_count; k++)
            if (newest->ranks[k].pid == who->pid && newest->ranks[k].step == judging->watch->step) {
                if (found)
                    return NULL; /* several nodes have such a process */
                found = node;
                *rank = newest->ranks[k].rank;
            }
    }
    return found;
}

/* Another user's job may listen on that port, or another of the same: what counts names a process
 * of this one. */
static void ras_judge(struct judging *judging)
{
    const struct watch *watch = judging->watch;
    const struct watch_sample *sample = NULL;
    double same_s = watch->ras.seen_s - watch->ras.since_s;

    if (isnan(watch->ras.since_s) || judging->now_s - watch->ras.seen_s > 6 * WATCH_RAS_S)
        return;
    for (size_t age = 0; (sample = sample_at(&watch->nodes[watch->ras.node], age)); age++)
        if (sample->ras.is_answered)
            break;
    for (size_t i = 0; sample && i < sample->ras.comm_count; i++) {
        const struct ras_comm *comm = &sample->ras.comms[i];
        bool is_missing = comm->missing_count > 0 && same_s >= WATCH_RAS_S;
        int rank, other;
        const struct watch_node *missing = node_of(judging, &comm->missing, &rank),
                                *behind = node_of(judging, &comm->behind, &other);
        char part[64] = "";

        if (is_missing && (missing || behind)) {
            if (rank >= 0)
                snprintf(part, sizeof part, "rank %d", rank);
            FINDING(judging, VERDICT_FAIL, FAULT_RANK_HUNG, missing ? missing->name : NULL, part,
                    "NCCL %s process %ld on %s, rank %d of communicator %s, for %.0f s",
                    comm->is_dead ? "has given up" : "gets no answer from", comm->missing.pid,
                    comm->missing.host, comm->missing.rank, comm->name, same_s);
            return;
        }
        if (comm->behind_count > 0 && behind && same_s >= judging->patience_s) {
            snprintf(part, sizeof part, "rank %d", other);
            FINDING(judging, VERDICT_FAIL, FAULT_RANK_HUNG, behind->name, part,
                    "rank %d has launched %.0f operations of NCCL, others %.0f, and nobody has "
                    "launched one for %.0f s",
                    other, comm->least, comm->most, same_s);
            return;
        }
    }
}

/* ---------------------------------------------------------------- who differs */

struct odd {
    size_t idle, busy, unknown;
    const struct watch_node *idle_node, *busy_node; /* NULL also when they are of several */
    const struct watch_rank *idle_rank, *busy_rank; /* the first of them */
    bool has_io;                                    /* of busy_rank or idle_rank */
};

static void odd_take(struct odd *odd, const struct watch_node *node, const struct watch_rank *rank)
{
    double share = watch_cpu_share(node, rank);

    if (isnan(share)) {
        odd->unknown++;
    } else if (share < WATCH_IDLE_LIMIT) {
        odd->idle_node = odd->idle++ == 0 || odd->idle_node == node ? node : NULL;
        if (!odd->idle_rank)
            odd->idle_rank = rank;
    } else if (share > WATCH_BUSY_LIMIT) {
        odd->busy_node = odd->busy++ == 0 || odd->busy_node == node ? node : NULL;
        if (!odd->busy_rank)
            odd->busy_rank = rank;
    }
}

/* The few ranks of one node that do what none of the others does. Returns whether there are. */
static bool odd_find(const struct judging *judging, const struct watch_node **node,
                     const struct watch_rank **rank, bool *is_idle)
{
    const struct watch *watch = judging->watch;
    struct odd odd = {0};
    size_t few = judging->ranks / 4 > 1 ? judging->ranks / 4 : 1;

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_sample *newest = watch_newest(&watch->nodes[i]);

        for (size_t k = 0; newest && k < newest->rank_count; k++)
            if (newest->ranks[k].step == watch->step)
                odd_take(&odd, &watch->nodes[i], &newest->ranks[k]);
    }
    if (judging->ranks < 3 || odd.unknown > 0 || odd.idle + odd.busy < judging->ranks)
        return false;
    *is_idle = odd.idle < odd.busy;
    *node = *is_idle ? odd.idle_node : odd.busy_node;
    *rank = *is_idle ? odd.idle_rank : odd.busy_rank;
    return *node && *rank && (*is_idle ? odd.idle : odd.busy) <= few;
}

/* Whose rails went quiet two samples or more before all others'. */
static const struct watch_node *first_quiet(const struct judging *judging)
{
    const struct watch_node *first = NULL;
    double second_s = INFINITY;

    for (size_t i = 0; i < judging->watch->node_count; i++) {
        const struct watch_node *node = &judging->watch->nodes[i];

        if (!node->has_moved || isnan(node->quiet_since_s))
            continue;
        if (!first || node->quiet_since_s < first->quiet_since_s) {
            second_s = first ? first->quiet_since_s : INFINITY;
            first = node;
        } else if (node->quiet_since_s < second_s) {
            second_s = node->quiet_since_s;
        }
    }
    return first && isfinite(second_s) &&
                   second_s - first->quiet_since_s > 2 * judging->watch->interval_s
               ? first
               : NULL;
}

static bool reads_or_writes(const struct watch_node *node, const struct watch_rank *rank)
{
    const struct watch_rank *before = rank_before(node, rank);

    return before && rate(node, before->io_bytes, rank->io_bytes) > 1e5;
}

/* Whether what others sent it waits, while its ranks run or sleep: they are elsewhere, and not in
 * the communication that the others are in. */
static bool does_not_read(const struct watch_node *node)
{
    const struct watch_sample *sample, *newest = watch_newest(node);

    for (size_t age = 0;
         (sample = sample_at(node, age)) && sample->unread_bytes > node->least_unread_bytes; age++)
        if (newest->time_s - sample->time_s >= WATCH_RECENT_S)
            return true;
    return false;
}

/* "rank 3" where that is all that the node has; else "". */
static const char *only_rank(const struct judging *judging, const struct watch_node *node,
                             char part[64])
{
    const struct watch_sample *newest = watch_newest(node);

    part[0] = '\0';
    if (newest->rank_count == 1 && newest->ranks[0].step == judging->watch->step)
        snprintf(part, 64, "rank %d", newest->ranks[0].rank);
    return part;
}

/* Nothing is carried by any rail, and no rank is known to be stopped. */
static void quiet_judge(struct judging *judging)
{
    const struct watch_node *node = NULL;
    const struct watch_rank *rank = NULL;
    bool is_idle, is_odd = odd_find(judging, &node, &rank, &is_idle), is_still = true;
    double waited_s = floor(judging->quiet_s);
    size_t unread = 0;
    char part[64] = "";

    for (size_t i = 0; i < judging->watch->node_count; i++) {
        const struct watch_sample *newest = watch_newest(&judging->watch->nodes[i]);

        for (size_t k = 0; newest && k < newest->rank_count; k++)
            is_still &=
                newest->ranks[k].step != judging->watch->step ||
                (watch_cpu_share(&judging->watch->nodes[i], &newest->ranks[k]) < WATCH_IDLE_LIMIT &&
                 !reads_or_writes(&judging->watch->nodes[i], &newest->ranks[k]));
    }
    if (judging->ready < judging->watch->node_count - judging->silent) {
        FINDING(judging, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, NULL, "", "collecting samples");
        return;
    }
    if (judging->quiet_s < judging->patience_s) {
        FINDING(judging, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, NULL, "",
                "no rail has carried data for %.0f s; a hang counts after %.0f s", waited_s,
                judging->patience_s);
        return;
    }
    for (size_t i = 0; i < judging->watch->node_count; i++)
        if (does_not_read(&judging->watch->nodes[i]) && unread++ == 0)
            node = &judging->watch->nodes[i];
    if (unread > 0 && 2 * unread < judging->watch->node_count) {
        FINDING(judging, VERDICT_FAIL, FAULT_JOB_HUNG, node->name, only_rank(judging, node, part),
                "the job hangs: no rail has carried data for %.0f s, and %.0f bytes that others "
                "sent to this node are not read",
                waited_s, watch_newest(node)->unread_bytes);
        return;
    }
    if (judging->busy && !is_still) {
        FINDING(judging, VERDICT_UNKNOWN, FAULT_PROCESS_SLOW, NULL, "",
                "no rail has carried data for %.0f s, but ranks on %s wait for processors: the "
                "machine is busy",
                waited_s, judging->busy);
        return;
    }
    if (judging->moved == 0 && !is_still) {
        FINDING(judging, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, NULL, "",
                "ranks use processors, and no rail has carried data since the watch began, %.0f s "
                "ago: computing and polling look the same",
                waited_s);
        return;
    }
    if (is_odd)
        snprintf(part, sizeof part, "rank %d", rank->rank);
    if (is_odd && reads_or_writes(node, rank)) {
        FINDING(judging, VERDICT_WARN, FAULT_RANK_STRAGGLES, node->name, part,
                "rank %d reads or writes files for %.0f s and more, all others wait", rank->rank,
                waited_s);
        return;
    }
    if (!is_odd)
        node = first_quiet(judging);
    FINDING(judging, VERDICT_FAIL, FAULT_JOB_HUNG, node ? node->name : NULL, part,
            "the job hangs: no rail has carried data for %.0f s; %s", waited_s,
            is_odd && is_idle ? "this rank sleeps while all others work or poll"
            : is_odd          ? "this rank works while all others sleep"
            : node            ? "this node was the first without"
                              : "no rank or node differs from the others");
}

static void odd_judge(struct judging *judging)
{
    const struct watch_node *node;
    const struct watch_rank *rank;
    bool is_idle;
    char part[64];

    if (judging->busy || judging->ready < judging->watch->node_count ||
        !odd_find(judging, &node, &rank, &is_idle))
        return;
    snprintf(part, sizeof part, "rank %d", rank->rank);
    FINDING(judging, VERDICT_WARN, FAULT_RANK_STRAGGLES, node->name, part,
            "rank %d %s for %.0f s%s", rank->rank,
            is_idle ? "sleeps while all others work or poll" : "works while all others sleep",
            WATCH_RECENT_S, reads_or_writes(node, rank) ? ": it reads or writes files" : "");
}

/* A node that carries nothing any more while others do. */
static void quiet_nodes_judge(struct judging *judging)
{
    for (size_t i = 0; i < judging->watch->node_count; i++) {
        const struct watch_node *node = &judging->watch->nodes[i];
        double quiet_s = isnan(node->quiet_since_s) ? 0 : judging->now_s - node->quiet_since_s;

        if (node->has_moved && !is_silent(judging, node) && quiet_s > judging->patience_s)
            FINDING(judging, VERDICT_WARN, FAULT_RANK_STRAGGLES, node->name, "",
                    "no rail of this node has carried data for %.0f s, others do", quiet_s);
    }
}

/* ---------------------------------------------------------------- rails */

/* What it carried of what the node's rails carry, their median; NAN: too little to say. */
static double rail_share(const struct watch_node *node, const struct watch_rail *rail)
{
    const struct watch_sample *newest = watch_newest(node);
    double *others = calloc(newest->rail_count + 1, sizeof *others), median;
    size_t count = 0;

    for (size_t i = 0; others && i < newest->rail_count; i++)
        if (&newest->rails[i] != rail)
            others[count++] = watch_rail_mbps(node, &newest->rails[i]);
    median = count ? statistics_median(others, count) : NAN;
    free(others);
    return median > WATCH_QUIET_MBPS ? watch_rail_mbps(node, rail) / median : NAN;
}

/* The least share of a rail of that name, the next to it, and nodes where it is as other rails. */
struct shares {
    double least, next;
    const struct watch_node *node, *next_node;
    size_t good;
};

static struct shares shares_of(const struct watch *watch, const char *name)
{
    struct shares shares = {.least = INFINITY, .next = INFINITY};

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];
        const struct watch_rail *rail = rail_find(watch_newest(node), name);
        double share = rail ? rail_share(node, rail) : NAN;

        shares.good += share > WATCH_RAIL_PEERS;
        if (share < shares.least) {
            shares.next = shares.least;
            shares.next_node = shares.node;
            shares.least = share;
            shares.node = node;
        } else if (share < shares.next) {
            shares.next = share;
            shares.next_node = node;
        }
    }
    return shares;
}

static void errors_judge(struct judging *judging, const struct watch_node *node)
{
    const struct watch_sample *newest = watch_newest(node), *oldest;
    size_t kept = node->count < WATCH_WINDOW ? node->count : WATCH_WINDOW;

    if (kept < 2)
        return;
    oldest = sample_at(node, kept - 1);
    for (size_t i = 0; i < newest->rail_count; i++) {
        const struct watch_rail *rail = &newest->rails[i], *before = rail_find(oldest, rail->name);

        if (before && rail->errors > before->errors)
            FINDING(judging, VERDICT_WARN, FAULT_LINK_ERRORS, node->name, rail->name,
                    "%s has counted %.0f errors of its link within %.0f s", rail->name,
                    rail->errors - before->errors, newest->time_s - oldest->time_s);
    }
}

static void rails_judge(struct judging *judging)
{
    const struct watch *watch = judging->watch;
    const struct watch_sample *first = NULL;

    for (size_t i = 0; i < watch->node_count; i++) {
        errors_judge(judging, &watch->nodes[i]);
        if (!first)
            first = watch_newest(&watch->nodes[i]);
    }
    if (judging->ready < watch->node_count)
        return;
    for (size_t i = 0; first && i < first->rail_count; i++) {
        const char *name = first->rails[i].name;
        struct shares shares = shares_of(watch, name);

        if (shares.least < WATCH_RAIL_LIMIT && shares.good >= 2)
            FINDING(judging, VERDICT_WARN, FAULT_RAIL_STRAGGLES, shares.node->name, name,
                    "%s carries %.0f %% of what the node's other rails do, and on %zu nodes as "
                    "much as those%s%s",
                    name, 100 * shares.least, shares.good,
                    shares.next < 1.25 * shares.least + 0.02 ? "; it may be the one of " : "",
                    shares.next < 1.25 * shares.least + 0.02 ? shares.next_node->name : "");
    }
}

/* ---------------------------------------------------------------- connections */

static const struct watch_flow *flow_find(const struct watch_sample *sample,
                                          const struct watch_flow *like)
{
    for (size_t i = 0; sample && i < sample->flow_count; i++)
        if (strcmp(sample->flows[i].rail, like->rail) == 0 &&
            strcmp(sample->flows[i].peer, like->peer) == 0)
            return &sample->flows[i];
    return NULL;
}

/* The median of the rates that it had between samples in which it sent; NAN: of too few. */
static double flow_mbps(const struct watch_node *node, const struct watch_flow *flow)
{
    double rates[WATCH_WINDOW];
    size_t count = 0;
    const struct watch_sample *newest = watch_newest(node), *sample;

    for (size_t age = 0;
         (sample = sample_at(node, age)) && newest->time_s - sample->time_s <= WATCH_FLOWS_S;
         age++) {
        const struct watch_flow *now = flow_find(sample, flow),
                                *before = flow_find(sample_at(node, age + 1), flow);

        if (now && before && now->mbps > 0 && now->bytes > before->bytes + WATCH_FLOW_BYTES)
            rates[count++] = now->mbps;
    }
    return count >= WATCH_FLOW_SAMPLES ? statistics_median(rates, count) : NAN;
}

/* A rail as an end of flows. */
struct flow_end {
    const struct watch_node *node;
    const char *rail;
    size_t slow, all;
    double mbps; /* the least */
};

/* Counts the flow at its end with that address; NULL: the address is not of the job. */
static void end_take(struct flow_end *ends, size_t count, const char *address, double mbps,
                     bool is_slow)
{
    for (size_t i = 0; i < count; i++) {
        const struct watch_rail *rail = rail_find(watch_newest(ends[i].node), ends[i].rail);

        if (strcmp(rail->address, address) != 0)
            continue;
        ends[i].all++;
        ends[i].slow += is_slow;
        if (is_slow && (ends[i].mbps == 0 || mbps < ends[i].mbps))
            ends[i].mbps = mbps;
    }
}

/* Calls take() for each flow that has a rate. Returns how many. */
static size_t flows_each(const struct watch *watch, double *rates, double limit_mbps,
                         struct flow_end *ends, size_t end_count)
{
    size_t count = 0;

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];
        const struct watch_sample *newest = watch_newest(node);

        for (size_t k = 0; newest && k < newest->flow_count; k++) {
            const struct watch_flow *flow = &newest->flows[k];
            double mbps = flow_mbps(node, flow);
            const struct watch_rail *rail = rail_find(newest, flow->rail);

            if (isnan(mbps) || !rail)
                continue;
            if (rates)
                rates[count] = mbps;
            count++;
            end_take(ends, end_count, rail->address, mbps, mbps < limit_mbps);
            end_take(ends, end_count, flow->peer, mbps, mbps < limit_mbps);
        }
    }
    return count;
}

/* other: the end that may be the reason as well, or the path to it; NULL: there is none. */
static void end_print(struct judging *judging, const struct flow_end *end,
                      const struct flow_end *other, double median)
{
    FINDING(judging, VERDICT_WARN, FAULT_RAIL_STRAGGLES, end->node->name, end->rail,
            "%zu of %zu TCP connections by %s are slow: the least sends at %.0f Mb/s, the median "
            "of the job's at %.0f%s%s",
            end->slow, end->all, end->rail, end->mbps, median,
            other ? "; it may be the path to " : "", other ? other->node->name : "");
}

/* The rail most of whose flows are slow, in and out; or the two between which all slow ones are. */
static void flows_judge(struct judging *judging)
{
    const struct watch *watch = judging->watch;
    size_t count = flows_each(watch, NULL, 0, NULL, 0), end_count = 0, slow = 0;
    bool is_path;
    double *rates = calloc(count + 1, sizeof *rates), median;
    struct flow_end *ends = NULL, *worst = NULL, *next = NULL;

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_sample *newest = watch_newest(&watch->nodes[i]);

        for (size_t k = 0; newest && k < newest->rail_count && GROW(ends, end_count); k++)
            ends[end_count++] = (struct flow_end){&watch->nodes[i], newest->rails[k].name, 0, 0, 0};
    }
    if (!rates || end_count == 0 || count < 4)
        goto done;
    flows_each(watch, rates, 0, NULL, 0);
    median = statistics_median(rates, count);
    flows_each(watch, NULL, WATCH_RAIL_LIMIT * median, ends, end_count);
    for (size_t i = 0; i < end_count; i++) {
        slow += ends[i].slow;
        if (!worst || ends[i].slow > worst->slow) {
            next = worst;
            worst = &ends[i];
        } else if (!next || ends[i].slow > next->slow) {
            next = &ends[i];
        }
    }
    is_path = next && next->slow == worst->slow && slow == 2 * worst->slow;
    if (worst->slow > 0 && (2 * worst->slow > worst->all || is_path))
        end_print(judging, worst, is_path ? next : NULL, median);
    if (worst->slow > 0 && is_path)
        end_print(judging, next, worst, median);
done:
    free(rates);
    free(ends);
}

/* ---------------------------------------------------------------- verdict */

static int weight(enum verdict verdict)
{
    return verdict == VERDICT_FAIL ? 3 : verdict == VERDICT_WARN ? 2 : verdict == VERDICT_UNKNOWN;
}

/* Several findings of one kind that no half of the nodes has; the worst is the line. */
static void conclude(struct judging *judging)
{
    struct watch_verdict *verdict = judging->verdict;
    const struct watch_finding *worst = NULL;
    const struct watch *watch = judging->watch;
    bool is_over = judging->now_s - watch->began_s >
                   judging->patience_s + WATCH_RECENT_S + 2 * watch->interval_s;

    for (size_t i = 0; i < verdict->count; i++)
        if (!worst || weight(verdict->findings[i].verdict) > weight(worst->verdict))
            worst = &verdict->findings[i];
    verdict->verdict = worst ? worst->verdict : VERDICT_PASS;
    verdict->is_settled = verdict->verdict == VERDICT_FAIL || is_over ||
                          (judging->moving > 0 && judging->ready == watch->node_count);
    if (worst)
        text_put(verdict->line, sizeof verdict->line, "%s%s%s", worst->node ? worst->node : "",
                 worst->node ? ": " : "", worst->message);
    else
        text_put(verdict->line, sizeof verdict->line,
                 "%zu ranks on %zu nodes; data moves on %zu nodes; nobody differs", judging->ranks,
                 watch->node_count, judging->moving);
}

void watch_judge(struct watch *watch, double now_s, struct watch_verdict *verdict)
{
    struct judging judging = {.watch = watch, .now_s = now_s, .verdict = verdict};

    *verdict = (struct watch_verdict){0};
    step_choose(watch);
    look_over(&judging);
    silence_judge(&judging);
    conditions_judge(&judging);
    ras_judge(&judging);
    if (judging.ranks == 0 && verdict->count == 0)
        FINDING(&judging, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, NULL, "", "%s",
                judging.ready == 0 ? "collecting samples"
                                   : "no rank of the job was found on its nodes");
    else if (verdict->count == 0 && judging.moving == 0)
        quiet_judge(&judging);
    else if (judging.moving > 0)
        odd_judge(&judging);
    if (judging.moving > 0) {
        quiet_nodes_judge(&judging);
        rails_judge(&judging);
        flows_judge(&judging);
    }
    conclude(&judging);
}
