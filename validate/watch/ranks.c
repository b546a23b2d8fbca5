/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/watch/judge_parts.h"

#include <math.h>
#include <stdio.h>

/* Whether nothing moves for certain; unknown with one node, which uses no rails. missing: the node
 * that does not answer NCCL, and which may be the only one that sends no samples; or NULL. */
static bool is_quiet(const struct judging *judging, const struct watch_node *missing)
{
    return judging->quiet_s > 0 && judging->watch->node_count > 1 &&
           (judging->silent == 0 ||
            (judging->silent == 1 && missing && watch_is_silent(judging->watch, missing)));
}

/* Whether nothing has moved for `seconds`; for patience_s if a hang ends the job. */
static bool is_quiet_for(const struct judging *judging, double seconds)
{
    return is_quiet(judging, NULL) &&
           judging->quiet_s >= (judging->watch->is_patient ? judging->patience_s : seconds);
}

/* Returns the part of a finding: "rank 3". */
static struct text_line rank_name(int rank)
{
    return text_line("rank %d", rank);
}

static bool has_ended(const struct watch_rank *rank)
{
    return rank->state == 'Z' || rank->state == 'X';
}

/* ---------------------------------------------------------------- ranks that cannot go on */

enum condition { RUNNING, STOPPED, BLOCKED, ENDED, CONDITIONS };

/* Returns the condition of the rank in all samples of the last WATCH_STOPPED_S; RUNNING if it
 * changed, or if its node was silent meanwhile. */
static enum condition condition_of(const struct judging *judging, const struct watch_node *node,
                                   const struct watch_seen *rank)
{
    const struct watch_sample *newest = watch_newest(node), *later = newest, *sample;
    const struct watch_rank *last = watch_rank_find(newest, rank->step, rank->rank);
    double cpu_s = last ? last->cpu_s : 0;
    enum condition condition = RUNNING;

    for (size_t age = 0;
         !watch_is_silent(judging->watch, node) && (sample = watch_sample_at(node, age));
         age++, later = sample) {
        const struct watch_rank *seen = watch_rank_find(sample, rank->step, rank->rank);
        enum condition now = !seen || has_ended(seen)                           ? ENDED
                             : seen->state == 'T' || seen->state == 't'         ? STOPPED
                             : seen->state == 'D' && cpu_s - seen->cpu_s < 1e-9 ? BLOCKED
                                                                                : RUNNING;

        if (now == RUNNING || (age > 0 && now != condition) ||
            later->time_s - sample->time_s > watch_silence_s(judging->watch))
            return RUNNING;
        condition = now;
        if (newest->time_s - sample->time_s >= WATCH_STOPPED_S)
            return condition;
    }
    return RUNNING;
}

/* Returns how far apart two times may be that count as one; each is known only to an interval. */
static double together_s(const struct judging *judging)
{
    return WATCH_RECENT_S + 2 * judging->watch->interval_s;
}

/* Reports the condition of a rank. Ranks may end before others, or wait for files. That is no fault
 * while data moves, or may move on a node without samples, or before the job has sent data. */
static void condition_judge(struct judging *judging, const struct watch_node *node,
                            const struct watch_seen *rank)
{
    static const char *const texts[] = {
        [STOPPED] = "is stopped by a signal or a debugger (state T)",
        [BLOCKED] = "is blocked in the kernel (state D): a file system, a driver or a device",
        [ENDED] = "has ended"};
    static const enum fault_code codes[] = {
        [STOPPED] = FAULT_RANK_HUNG, [BLOCKED] = FAULT_TASK_HUNG, [ENDED] = FAULT_RANK_HUNG};
    enum condition condition = (enum condition)rank->condition;

    if (condition == RUNNING ||
        (condition != STOPPED && (judging->quiet_s < judging->patience_s || judging->moved == 0 ||
                                  judging->silent > 0 || judging->watch->node_count == 1)))
        return;
    FINDING(judging, is_quiet_for(judging, 0) ? VERDICT_FAIL : VERDICT_WARN, codes[condition],
            node->name, rank_name(rank->rank).text, "rank %d (pid %ld) %s%s", rank->rank, rank->pid,
            texts[condition],
            is_quiet(judging, NULL) ? "; nothing moves in the job"
            : judging->moving > 0   ? "; the job goes on"
            : judging->silent > 0   ? "; data may move on nodes that send no samples"
                                    : "");
}

/* Judges all ranks of the step, also ended ones. */
void watch_judge_conditions(struct judging *judging)
{
    const struct watch *watch = judging->watch;
    size_t counts[CONDITIONS] = {0};

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];

        for (size_t k = 0; k < node->seen_count; k++) {
            struct watch_seen *rank = &node->seen[k];

            rank->condition = (int)condition_of(judging, node, rank);
            if (rank->condition == ENDED &&
                rank->seen_s < judging->watch->now_s - judging->quiet_s - together_s(judging))
                rank->condition = RUNNING; /* the others went on without it */
            counts[rank->condition]++;
        }
    }
    /* no fault of one rank: the job may be suspended by Slurm, or ending */
    for (int condition = STOPPED; condition <= ENDED; condition++)
        if (counts[condition] > 1 && 2 * counts[condition] > judging->ranks) {
            FINDING(judging, VERDICT_UNKNOWN, FAULT_MANY_ALIKE, NULL, "",
                    "%zu of the job's ranks %s", counts[condition],
                    condition == STOPPED   ? "are stopped: is the job suspended?"
                    : condition == BLOCKED ? "are blocked in the kernel: look for the file system "
                                             "that they share"
                                           : "have ended");
            return;
        }
    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];

        for (size_t k = 0; k < node->seen_count; k++)
            condition_judge(judging, node, &node->seen[k]);
    }
}

/* ---------------------------------------------------------------- what NCCL says */

/* Returns the node where a process of the ID runs in the step, or NULL. Hosts of NCCL are addresses
 * that may be unknown here. */
static const struct watch_node *node_of(const struct judging *judging, const struct ras_rank *who,
                                        int *rank)
{
    const struct watch_node *found = NULL;

    *rank = who->rank;
    for (size_t i = 0; i < judging->watch->node_count; i++) {
        const struct watch_node *node = &judging->watch->nodes[i];

        WATCH_EACH_RANK(judging->watch, node, seen)
        if (seen->pid == who->pid && !has_ended(seen)) {
            if (found)
                return NULL; /* several nodes have such a process */
            found = node;
            *rank = seen->rank;
        }
    }
    return found;
}

/* Another job of the user, or any program at NCCL_RAS_ADDR, may have answered. So only a report
 * about a running process of this job counts; an ended process does not answer NCCL either. */
bool watch_judge_ras(struct judging *judging)
{
    const struct watch *watch = judging->watch;
    const struct watch_sample *sample = NULL;
    double same_s = watch->ras.seen_s - watch->ras.since_s;

    if (isnan(watch->ras.since_s) || judging->watch->now_s - watch->ras.seen_s > 6 * WATCH_RAS_S)
        return false;
    for (size_t age = 0; (sample = watch_sample_at(&watch->nodes[watch->ras.node], age)); age++)
        if (sample->ras.is_answered)
            break;
    for (size_t i = 0; sample && i < sample->ras.comm_count; i++) {
        const struct ras_comm *comm = &sample->ras.comms[i];
        int rank, other;
        const struct watch_node *missing = node_of(judging, &comm->missing, &rank),
                                *behind = node_of(judging, &comm->behind, &other);
        bool is_missing = comm->missing_count > 0 && missing && same_s >= WATCH_RAS_S,
             is_behind = comm->behind_count > 0 && behind && same_s >= judging->patience_s;
        bool is_hung =
            is_quiet_for(judging, is_missing ? WATCH_RAS_S : judging->patience_s) ||
            (is_missing && is_quiet(judging, missing) && judging->quiet_s >= judging->patience_s);
        enum verdict verdict = is_hung ? VERDICT_FAIL : VERDICT_WARN;
        enum fault_code code = is_hung ? FAULT_RANK_HUNG : FAULT_RANK_STRAGGLES;

        if (is_missing)
            FINDING(judging, verdict, code, missing->name, rank_name(rank).text,
                    "NCCL %s process %ld on %s, rank %d of communicator %s, for %.0f s",
                    comm->is_dead ? "has given up" : "gets no answer from", comm->missing.pid,
                    comm->missing.host, comm->missing.rank, comm->name, same_s);
        else if (is_behind)
            FINDING(judging, verdict, code, behind->name, rank_name(other).text,
                    "rank %d has launched %.0f operations of NCCL, others %.0f, and no rank has "
                    "launched one for %.0f s",
                    other, comm->least, comm->most, same_s);
        if (is_missing || is_behind)
            return is_hung;
    }
    return false;
}

/* ---------------------------------------------------------------- who differs */

enum use { IDLE, BUSY, BETWEEN };

/* Returns whether the rank sleeps, or works by the share of its time that it runs or waits for a
 * processor: as it would run on a machine that is not busy. One that sleeps and wakes often waits
 * each time, and hardly runs. */
static enum use use_of(const struct watch_use *use)
{
    double queued = fmax(0, use->queued); /* NAN: unknown */

    return use->cpu < WATCH_IDLE_LIMIT && queued <= WATCH_QUEUED_LIMIT            ? IDLE
           : use->cpu >= WATCH_IDLE_LIMIT && use->cpu + queued > WATCH_BUSY_LIMIT ? BUSY
                                                                                  : BETWEEN;
}

static bool reads_or_writes(const struct watch_use *use)
{
    return use->io_bytes > 1e5;
}

/* The few ranks of one node that are idle while all others are busy, or the reverse. */
struct outlier {
    const struct watch_node *node; /* NULL: there are none */
    int rank;                      /* the first of them */
    bool is_idle, reads_or_writes;
};

/* Finds none if a node is silent, as others may wait for it. */
static struct outlier outlier_find(const struct judging *judging)
{
    struct outlier outliers[BETWEEN + 1] = {[IDLE].is_idle = true};
    size_t counts[BETWEEN + 1] = {0}, few = judging->ranks / 4 > 1 ? judging->ranks / 4 : 1;
    enum use which;

    for (size_t i = 0; i < judging->watch->node_count; i++) {
        const struct watch_node *node = &judging->watch->nodes[i];

        WATCH_EACH_RANK(judging->watch, node, rank)
        {
            struct watch_use use = watch_use_of(node, rank);
            struct outlier *outlier = &outliers[which = use_of(&use)];

            if (counts[which]++ == 0) {
                outlier->node = node;
                outlier->rank = rank->rank;
                outlier->reads_or_writes = reads_or_writes(&use);
            } else if (outlier->node != node) {
                outlier->node = NULL; /* on several nodes */
            }
        }
    }
    which = counts[IDLE] < counts[BUSY] ? IDLE : BUSY;
    return judging->silent > 0 || judging->ranks < 3 || counts[BETWEEN] > 0 || counts[which] > few
               ? (struct outlier){0}
               : outliers[which];
}

/* Whether the node still has a rank of the step. */
static bool has_rank(const struct judging *judging, const struct watch_node *node)
{
    WATCH_EACH_RANK(judging->watch, node, rank)
    if (!has_ended(rank))
        return true;
    return false;
}

/* Returns the only node without samples if these and the data of all others stopped together; or
 * NULL. */
static const struct watch_node *gone_with_data(const struct judging *judging)
{
    const struct watch *watch = judging->watch;

    for (size_t i = 0; judging->silent == 1 && i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];

        if (watch_is_silent(watch, node) && node->has_moved &&
            fabs(watch_unheard_s(watch, node) - judging->quiet_s) <= together_s(judging))
            return node;
    }
    return NULL;
}

/* Returns the node whose rails went quiet two intervals or more before those of all others, or
 * NULL. Nodes whose ranks have ended do not count. */
static const struct watch_node *first_quiet(const struct judging *judging)
{
    const struct watch_node *first = NULL;
    double first_s = INFINITY, second_s = INFINITY;

    for (size_t i = 0; i < judging->watch->node_count; i++) {
        const struct watch_node *node = &judging->watch->nodes[i];

        if (!node->has_moved || isnan(node->quiet_since_s) || !has_rank(judging, node))
            continue;
        second_s = fmin(second_s, fmax(first_s, node->quiet_since_s));
        if (node->quiet_since_s < first_s) {
            first_s = node->quiet_since_s;
            first = node;
        }
    }
    return isfinite(second_s) && second_s - first_s > 2 * judging->watch->interval_s ? first : NULL;
}

/* Whether the rank neither runs nor would on another machine, and waits for no file. */
static bool is_still(const struct watch_use *use)
{
    return use->cpu < WATCH_IDLE_LIMIT && use->cpu + fmax(0, use->queued) < WATCH_BUSY_LIMIT &&
           !reads_or_writes(use);
}

/* Whether data from others stays unread on the node: its ranks run or sleep outside of the
 * communication that the others are in. */
static bool does_not_read(const struct watch_node *node)
{
    const struct watch_sample *sample, *newest = watch_newest(node);

    for (size_t age = 0;
         (sample = watch_sample_at(node, age)) && sample->unread_bytes > node->least_unread_bytes;
         age++)
        if (newest->time_s - sample->time_s >= WATCH_RECENT_S)
            return true;
    return false;
}

/* Returns "rank 3" if the node has only this rank; else "". */
static struct text_line only_rank(const struct judging *judging, const struct watch_node *node)
{
    const struct watch_sample *newest = watch_newest(node);
    bool is_only = newest->rank_count == 1 && newest->ranks[0].step == judging->watch->step;

    return is_only ? rank_name(newest->ranks[0].rank) : text_line("%s", "");
}

/* Returns the first node on which data stays unread; NULL: none, or half of the nodes or more. */
static const struct watch_node *first_unread(const struct judging *judging)
{
    const struct watch_node *first = NULL;
    size_t count = 0;

    for (size_t i = judging->watch->node_count; judging->silent == 0 && i-- > 0;)
        if (does_not_read(&judging->watch->nodes[i])) {
            first = &judging->watch->nodes[i];
            count++;
        }
    return 2 * count < judging->watch->node_count ? first : NULL;
}

/* Whether no rank runs or would, on nodes that all send samples. */
static bool is_job_still(const struct judging *judging)
{
    for (size_t i = 0; i < judging->watch->node_count; i++)
        WATCH_EACH_RANK(judging->watch, &judging->watch->nodes[i], rank)
        {
            struct watch_use use = watch_use_of(&judging->watch->nodes[i], rank);

            if (!is_still(&use))
                return false;
        }
    return judging->silent == 0;
}

/* Judges a job whose rails have carried nothing for the time of a hang. */
static void hang_judge(struct judging *judging)
{
    const struct watch_node *unread = first_unread(judging), *node;
    struct outlier outlier = outlier_find(judging);
    bool is_outlier = outlier.node != NULL, is_working = is_outlier && !outlier.is_idle,
         is_still = is_job_still(judging);
    double waited_s = floor(judging->quiet_s);
    struct text_line part = is_outlier ? rank_name(outlier.rank) : (struct text_line){""};

    node = is_outlier            ? outlier.node
           : judging->silent > 0 ? gone_with_data(judging)
                                 : first_quiet(judging);
    if (unread)
        FINDING(judging, VERDICT_FAIL, FAULT_JOB_HUNG, unread->name,
                only_rank(judging, unread).text,
                "the job hangs: no rail has carried data for %.0f s, and %.0f bytes that others "
                "sent to this node are not read",
                waited_s, watch_newest(unread)->unread_bytes);
    else if (judging->busy && !is_still && !is_working)
        FINDING(judging, VERDICT_UNKNOWN, FAULT_PROCESS_SLOW, NULL, "",
                "no rail has carried data for %.0f s, but ranks on %s wait for processors: the "
                "machine is busy",
                waited_s, judging->busy);
    else if (judging->moved == 0 && !is_still)
        FINDING(judging, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, NULL, "",
                "ranks%s use processors, and no rail has carried data since the watch began, %.0f "
                "s ago: computing and polling look the same",
                judging->silent > 0 ? " may" : "", waited_s);
    else if (is_outlier && (judging->busy || outlier.reads_or_writes))
        FINDING(judging, VERDICT_WARN, FAULT_RANK_STRAGGLES, node->name, part.text,
                "rank %d %s for %.0f s and more, all others wait", outlier.rank,
                judging->busy ? "works and waits for processors" : "reads or writes files",
                waited_s);
    else
        FINDING(judging, VERDICT_FAIL, FAULT_JOB_HUNG, node ? node->name : NULL, part.text,
                "the job hangs: no rail has carried data for %.0f s; %s", waited_s,
                is_working   ? "this rank works while all others sleep"
                : is_outlier ? "this rank sleeps while all others work or poll"
                : judging->silent > 0 && node
                    ? "since then this node sends no samples: it is frozen or cut off"
                : judging->silent > 0 ? "it may wait for a node that sends no samples"
                : node                ? "this node was the first without"
                                      : "no rank or node differs from the others");
}

/* Judges a job whose rails carry nothing, and of which no rank is known to be stopped. */
void watch_judge_quiet(struct judging *judging)
{
    size_t count = judging->watch->node_count;

    if (count > 1 && judging->ready + judging->silent == count &&
        judging->quiet_s >= judging->patience_s)
        hang_judge(judging);
    else if (count == 1)
        FINDING(judging, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, NULL, "",
                "a job on one node has no rails to tell by whether data moves");
    else if (judging->uncounted > 0)
        FINDING(judging, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, NULL, "",
                "the RDMA ports of %zu nodes do not count bytes: whether data moves is not known",
                judging->uncounted);
    else if (judging->ready + judging->silent < count)
        FINDING(judging, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, NULL, "", "collecting samples");
    else if (judging->late > 0)
        FINDING(judging, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, NULL, "",
                "samples of %zu of %zu nodes are overdue, and no data moves on the others",
                judging->late, count);
    else
        FINDING(judging, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, NULL, "",
                "no rail has carried data for %.0f s; a hang counts after %.0f s",
                floor(judging->quiet_s), judging->patience_s);
}

void watch_judge_outliers(struct judging *judging)
{
    struct outlier outlier = outlier_find(judging);

    if (judging->ready < judging->watch->node_count || !outlier.node ||
        (judging->busy && outlier.is_idle))
        return;
    FINDING(
        judging, judging->busy ? VERDICT_UNKNOWN : VERDICT_WARN, FAULT_RANK_STRAGGLES,
        outlier.node->name, rank_name(outlier.rank).text, "rank %d %s for %.0f s%s", outlier.rank,
        outlier.is_idle ? "sleeps while all others work or poll" : "works while all others sleep",
        WATCH_RECENT_S,
        judging->busy             ? "; but it waits for processors: the machine is busy"
        : outlier.reads_or_writes ? ": it reads or writes files"
                                  : "");
}

/* Reports nodes with ranks whose rails carry nothing any more while others do. */
void watch_judge_quiet_nodes(struct judging *judging)
{
    for (size_t i = 0; i < judging->watch->node_count; i++) {
        const struct watch_node *node = &judging->watch->nodes[i];
        double quiet_s = watch_quiet_s(judging->watch, node);

        if (node->has_moved && has_rank(judging, node) && !watch_is_silent(judging->watch, node) &&
            quiet_s > judging->patience_s)
            FINDING(judging, VERDICT_WARN, FAULT_RANK_STRAGGLES, node->name, "",
                    "no rail of this node has carried data for %.0f s, others do", quiet_s);
    }
}
