/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/watch/judge_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/compare.h"
#include "lib/base/grow.h"

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
        watch->nodes[i].task = -1;
        watch->nodes[i].quiet_since_s = now_s;
    }
    return 0;
}

void watch_clear(struct watch *watch)
{
    for (size_t i = 0; i < watch->node_count; i++) {
        for (size_t k = 0; k < WATCH_WINDOW; k++)
            watch_sample_clear(&watch->nodes[i].window[k]);
        free(watch->nodes[i].seen);
    }
    free(watch->nodes);
    watch->nodes = NULL;
    watch->node_count = 0;
}

long watch_node_of(struct watch *watch, long task, const char *name)
{
    struct watch_node *named = NULL;

    for (size_t i = 0; i < watch->node_count; i++) {
        struct watch_node *node = &watch->nodes[i];
        bool is_named = strcmp(node->name, name) == 0;

        if (node->task == task)
            return is_named ? (long)i : -1;
        if (is_named)
            named = node;
    }
    if (!named || named->task >= 0)
        return -1;
    named->task = task;
    return named - watch->nodes;
}

double watch_unheard_s(const struct watch *watch, const struct watch_node *node)
{
    return watch->now_s -
           (node->count ? node->times_s[(node->count - 1) % WATCH_WINDOW] : watch->began_s);
}

bool watch_is_silent(const struct watch *watch, const struct watch_node *node)
{
    return watch_unheard_s(watch, node) > watch_silence_s(watch);
}

double watch_quiet_s(const struct watch *watch, const struct watch_node *node)
{
    return isnan(node->quiet_since_s) || watch_is_uncounted(node)
               ? 0
               : watch->now_s - node->quiet_since_s;
}

const char *watch_holder(const struct watch *watch, const char *name)
{
    const char *holder = NULL;

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];

        if (!watch_is_silent(watch, node) && (!holder || strcmp(node->name, name) == 0))
            holder = node->name;
    }
    return holder;
}

bool watch_is_busy(const struct watch *watch, const struct watch_node *node)
{
    WATCH_EACH_RANK(watch, node, rank)
    if (watch_use_of(node, rank).queued > WATCH_QUEUED_LIMIT)
        return true;
    return false;
}

struct watch_finding *watch_finding_add(struct judging *judging, enum verdict verdict,
                                        enum fault_code code, const char *node, const char *part)
{
    struct watch_verdict *found = judging->verdict;
    struct watch_finding *finding =
        &found->findings[found->count < WATCH_FINDINGS ? found->count++ : WATCH_FINDINGS - 1];

    *finding = (struct watch_finding){.verdict = verdict, .code = code, .node = node};
    snprintf(finding->part, sizeof finding->part, "%s", part);
    return finding;
}

static int by_number(const void *one, const void *other)
{
    return COMPARE(*(const long *)one, *(const long *)other);
}

/* Chooses the step with most ranks; of several the newest. If memory is out, the step stays the
 * same. */
static void step_choose(struct watch *watch)
{
    size_t count = 0, most = 0;
    long *steps = NULL;

    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_sample *newest = watch_newest(&watch->nodes[i]);

        for (size_t k = 0; newest && k < newest->rank_count; k++) {
            if (!GROW(steps, count)) {
                free(steps);
                return;
            }
            steps[count++] = newest->ranks[k].step;
        }
    }
    if (count > 0)
        qsort(steps, count, sizeof *steps, by_number);
    for (size_t first = 0, next = 0; first < count; first = next) {
        while (next < count && steps[next] == steps[first])
            next++;
        if (next - first >= most) {
            most = next - first;
            watch->step = steps[first];
        }
    }
    free(steps);
}

/* Removes ranks of other steps. */
static void remove_other_steps(struct watch *watch)
{
    for (size_t i = 0; i < watch->node_count; i++) {
        struct watch_node *node = &watch->nodes[i];
        size_t count = 0;

        for (size_t k = 0; k < node->seen_count; k++)
            if (node->seen[k].step == watch->step)
                node->seen[count++] = node->seen[k];
        node->seen_count = count;
    }
}

static void count_nodes(struct judging *judging)
{
    struct watch *watch = judging->watch;

    judging->patience_s = watch->patience_s;
    judging->quiet_s = INFINITY;
    for (size_t i = 0; i < watch->node_count; i++) {
        const struct watch_node *node = &watch->nodes[i];
        const struct watch_sample *newest = watch_newest(node);

        judging->patience_s = fmax(judging->patience_s, WATCH_PAUSES * node->longest_quiet_s);
        if (watch_is_silent(watch, node)) {
            judging->silent++; /* its last sample is out of date */
            continue;
        }
        if (watch_is_busy(watch, node))
            judging->busy = node->name;
        judging->ready += watch_sample_before(node) != NULL;
        if (isnan(node->quiet_since_s) && watch_unheard_s(watch, node) > 2 * watch->interval_s)
            judging->late++;
        else
            judging->moving += isnan(node->quiet_since_s);
        judging->unrated += newest && newest->flow_count > 0 && node->count <= WATCH_FLOW_WINDOW;
        judging->moved += node->has_moved;
        judging->uncounted += watch_is_uncounted(node);
        judging->quiet_s = fmin(judging->quiet_s, watch_quiet_s(watch, node));
        WATCH_EACH_RANK(watch, node, rank)
        judging->ranks++;
    }
}

static void silence_judge(struct judging *judging)
{
    const struct watch *watch = judging->watch;

    if (judging->silent > 1 && 2 * judging->silent > watch->node_count)
        FINDING(judging, VERDICT_UNKNOWN, FAULT_MANY_ALIKE, NULL, "",
                "%zu of %zu nodes send no samples: the network to this host, or Slurm",
                judging->silent, watch->node_count);
    else
        for (size_t i = 0; i < watch->node_count; i++)
            if (watch_is_silent(watch, &watch->nodes[i]))
                FINDING(judging, VERDICT_UNKNOWN, FAULT_NODE_UNREACHABLE, watch->nodes[i].name, "",
                        "the node sends no samples%s: it is frozen, cut off, or its step did not "
                        "start",
                        watch->nodes[i].count ? " any more" : "");
}

/* ---------------------------------------------------------------- verdict */

static int weight(enum verdict verdict)
{
    return verdict == VERDICT_FAIL ? 3 : verdict == VERDICT_WARN ? 2 : verdict == VERDICT_UNKNOWN;
}

/* Sets the verdict and its line from the worst finding, and whether it is settled. */
static void conclude(struct judging *judging)
{
    struct watch_verdict *verdict = judging->verdict;
    const struct watch_finding *worst = NULL;
    const struct watch *watch = judging->watch;
    bool is_over = (judging->quiet_s >= judging->patience_s || judging->uncounted > 0) &&
                   watch->now_s - watch->began_s >
                       judging->patience_s + WATCH_RECENT_S + 2 * watch->interval_s;

    for (size_t i = 0; i < verdict->count; i++)
        if (!worst || weight(verdict->findings[i].verdict) > weight(worst->verdict))
            worst = &verdict->findings[i];
    verdict->verdict = worst ? worst->verdict : VERDICT_PASS;
    verdict->is_settled =
        verdict->verdict == VERDICT_FAIL ||
        (judging->moving == 0 ? is_over
                              : judging->ready + judging->silent == watch->node_count &&
                                    (judging->unrated == 0 || verdict->verdict == VERDICT_WARN));
    if (worst)
        text_put(verdict->line, sizeof verdict->line, "%s%s%s", worst->node ? worst->node : "",
                 worst->node ? ": " : "", worst->message);
    else
        text_put(verdict->line, sizeof verdict->line,
                 "%zu ranks on %zu nodes; data moves on %zu nodes; no rank differs", judging->ranks,
                 watch->node_count, judging->moving);
}

void watch_judge(struct watch *watch, double now_s, struct watch_verdict *verdict)
{
    struct judging judging = {.watch = watch, .verdict = verdict};
    size_t found;
    bool is_hung;

    *verdict = (struct watch_verdict){0};
    watch->now_s = now_s;
    step_choose(watch);
    remove_other_steps(watch);
    count_nodes(&judging);
    watch_judge_conditions(&judging); /* failures first: there is room for few findings */
    found = verdict->count;
    is_hung = watch_judge_ras(&judging);
    silence_judge(&judging);
    if (judging.ranks == 0 && verdict->count == 0)
        FINDING(&judging, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, NULL, "", "%s",
                judging.ready == 0 ? "collecting samples"
                                   : "no rank of the job was found on its nodes");
    else if (found == 0 && !is_hung && judging.ranks > 0 && judging.moving == 0 &&
             2 * judging.silent <= watch->node_count)
        watch_judge_quiet(&judging);
    else if (judging.moving > 0)
        watch_judge_outliers(&judging);
    if (judging.moving > 0) {
        watch_judge_quiet_nodes(&judging);
        watch_judge_rails(&judging);
        watch_judge_flows(&judging);
    }
    conclude(&judging);
}
