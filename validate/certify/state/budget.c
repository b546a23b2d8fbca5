/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/state/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/constants/battery_constants.h"
#include "lib/constants/certify_constants.h"
#include "lib/constants/harness_constants.h"
#include "lib/constants/schedule_constants.h"
#include "validate/schedule/schedule.h"
#include "validate/schedule/split.h"

double budget_confidence(enum certify_level level, size_t nodes)
{
    return nodes <= BUDGET_ALL_PAIRS_NODES ? 0 : BUDGET_CONFIDENCE[level];
}

struct budget_work budget_work_make(enum certify_level level, size_t nodes, int rails,
                                    int pairs_at_once, int times)
{
    struct budget_work work = {
        .level = level, .nodes = nodes, .rails = rails, .pairs_at_once = pairs_at_once};
    double confidence = budget_confidence(level, nodes);
    int all = nodes < 2 ? 0 : (int)(nodes - 1 + nodes % 2);

    work.rounds = times * (confidence > 0 ? schedule_rounds_for((int)nodes, confidence) : all);
    work.all_rail_rounds = schedule_rounds_for((int)nodes, SCHEDULE_SECOND_CONFIDENCE);
    return work;
}

static int by_machine(const void *left, const void *right)
{
    return strcmp(((const struct budget_machine *)left)->boot_id,
                  ((const struct budget_machine *)right)->boot_id);
}

void budget_apply_sharing(struct budget_work *work, struct budget_machine *machines, size_t count)
{
    double active = 0;

    qsort(machines, count, sizeof *machines, by_machine);
    for (size_t i = 0, end; i < count; i = end) {
        double processors = fmax(machines[i].processors, 1), nodes;

        for (end = i + 1; end < count && *machines[i].boot_id &&
                          strcmp(machines[end].boot_id, machines[i].boot_id) == 0;)
            end++;
        nodes = (double)(end - i);
        active += nodes > 1 ? fmin(nodes, SPLIT_RANKS_PER_PROCESSOR * processors) : 1;
        if (nodes > 1)
            work->oversubscription = fmax(work->oversubscription, nodes / processors);
        work->nodes_per_machine = fmax(work->nodes_per_machine, nodes);
    }
    if (work->pairs_at_once == 0 && active < (double)count)
        work->pairs_at_once = (int)fmax(active / 2, 1);
}

void budget_apply_limits(struct budget_work *work, const struct split_limits *limits)
{
    const struct schedule_request request = {.kind = SCHEDULE_PAIRS,
                                             .node_count = (int)work->nodes,
                                             .blocks = limits->blocks,
                                             .confidence =
                                                 budget_confidence(work->level, work->nodes)};
    int *partners = calloc(work->nodes + 1, sizeof *partners),
        *numbers = calloc(work->nodes + 1, sizeof *numbers);
    struct schedule *schedule = NULL;
    struct error err;
    int rounds = 0;

    if (partners && numbers && schedule_make(&request, &schedule, &err) == 0)
        rounds = schedule_rounds(schedule);
    for (int round = 0; round < rounds && round < BUDGET_SPLIT_ROUNDS; round++) {
        int count;

        for (int node = 0; node < request.node_count; node++)
            partners[node] = schedule_partner(schedule, round, node);
        count = schedule_split(limits, partners, request.node_count, numbers);
        if (count > work->sub_rounds)
            work->sub_rounds = count;
    }
    schedule_destroy(schedule);
    free(partners);
    free(numbers);
}

static double links_s(const struct budget_work *work)
{
    int pairs = (int)(work->nodes / 2), at_once = work->pairs_at_once;
    int sub_rounds = at_once > 0 && at_once < pairs ? (pairs + at_once - 1) / at_once : 1;
    double rail_s = BUDGET_RAIL_S[work->level], splits = fmax(sub_rounds, work->sub_rounds);
    double oversubscription = fmin(work->oversubscription / BUDGET_SHARED_RAIL_NODES, 1);
    double alone_s = rail_s * (1 + (BUDGET_SHARED_RAIL - 1) * oversubscription);

    return 1 + splits * (work->rounds * alone_s * work->rails + work->all_rail_rounds * rail_s);
}

double budget_estimate_s(const struct budget_work *work, enum stage stage)
{
    enum certify_level level = work->level;
    double nodes_s = BUDGET_NODE_S[level] * (double)work->nodes;
    double oversubscription = work->oversubscription * (double)work->nodes;

    switch (stage) {
    case STAGE_LAUNCH:
        return BUDGET_LAUNCH_S[level] + nodes_s + BUDGET_SHARED_LAUNCH_S * oversubscription;
    case STAGE_HOST:
        return BUDGET_HOST_S[level] * fmin(fmax(work->nodes_per_machine, 1), HOST_TURNS_MOST) +
               nodes_s;
    case STAGE_GPU:
        return work->gpus > 0 ? BUDGET_GPU_S[level] * (double)work->gpus + nodes_s : 0;
    case STAGE_LINKS:
        return links_s(work);
    case STAGE_COLLECTIVES:
        return BUDGET_COLLECTIVES_S[level] + nodes_s +
               BUDGET_SHARED_COLLECTIVES_S * oversubscription;
    case STAGE_TRAIN:
        return BUDGET_TRAIN_S[level] > 0 ? BUDGET_TRAIN_S[level] + nodes_s : 0;
    default:
        return 0;
    }
}

double budget_limit_s(const struct budget_work *work, enum stage stage, double wanted_s)
{
    struct budget_work own = *work;
    double limit_s;

    if (stage != STAGE_LINKS) /* the other stages fit their work into their limit */
        own.oversubscription = 0;
    limit_s =
        fmax(BUDGET_LEAST_LIMIT_S[work->level], BUDGET_PATIENCE * budget_estimate_s(&own, stage));

    if (wanted_s > 0)
        return wanted_s / 2;
    if (stage == STAGE_LINKS)
        limit_s = fmax(limit_s, BUDGET_LINKS_LEAST_LIMIT_S);
    return fmin(ceil(limit_s), PROGRAM_TIME_LIMIT_MOST_S);
}
