/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/state/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/schedule/schedule.h"
#include "validate/schedule/split.h"

/* Up to so many nodes all pairs are measured at each level. */
enum { ALL_PAIRS_NODES = 8 };

/* Of the second look, which is about nodes, not pairs: as muster-links has it. */
static const double second_confidence = 0.99;

/* Healthy nodes on two rails, measured on labs of 4 to 24 nodes. */
static const struct level_cost {
    double confidence;              /* wanted of the links */
    double rail_s;                  /* a rail of a pair, both directions */
    double launch_s, collectives_s; /* of two nodes */
    double node_s;                  /* more for each node */
    double train_s;
    double least_limit_s; /* before which no stage is ended */
} costs[] = {
    [LEVEL_QUICK] = {0.99, 0.45, 1, 2, 0.05, 0, 120},
    [LEVEL_STANDARD] = {0.9999, 0.9, 2, 8, 0.1, 20, 150},
    [LEVEL_FULL] = {1 - 1e-12, 0.9, 2, 30, 0.2, 120, 900},
};

/* More for each node and each of those that share its processor, and how many times as long a rail
 * takes, which is measured until its figure is certain: labs of 16, 32 and 64 nodes on two
 * processors. */
static const struct {
    double launch_s, collectives_s, rail;
} crowded = {0.008, 0.035, 2};

/* So many nodes a processor make that of a rail. */
static const double crowd_of_rail = 8;

/* An estimate is of healthy machines with nothing beside; what is ended has come to a stop. */
static const double patience = 10, links_least_limit_s = 900;

double budget_confidence(enum certify_level level, size_t nodes)
{
    return nodes <= ALL_PAIRS_NODES ? 0 : costs[level].confidence;
}

struct budget_work budget_work_make(enum certify_level level, size_t nodes, int rails,
                                    int pairs_at_once, int times)
{
    struct budget_work work = {level, nodes, rails, pairs_at_once, 0, 0};
    double confidence = budget_confidence(level, nodes);
    int all = nodes < 2 ? 0 : (int)(nodes - 1 + nodes % 2);

    work.rounds = times * (confidence > 0 ? schedule_rounds_for((int)nodes, confidence) : all);
    work.second = schedule_rounds_for((int)nodes, second_confidence);
    return work;
}

static int by_machine(const void *left, const void *right)
{
    return strcmp(((const struct budget_machine *)left)->boot_id,
                  ((const struct budget_machine *)right)->boot_id);
}

void budget_share(struct budget_work *work, struct budget_machine *machines, size_t count)
{
    double at_work = 0;

    qsort(machines, count, sizeof *machines, by_machine);
    for (size_t i = 0, end; i < count; i = end) {
        double processors = fmax(machines[i].processors, 1), nodes;

        for (end = i + 1; end < count && *machines[i].boot_id &&
                          strcmp(machines[end].boot_id, machines[i].boot_id) == 0;)
            end++;
        nodes = (double)(end - i);
        at_work += nodes > 1 ? fmin(nodes, SPLIT_RANKS_PER_PROCESSOR * processors) : 1;
        if (nodes > 1)
            work->crowd = fmax(work->crowd, nodes / processors);
    }
    if (work->pairs_at_once == 0 && at_work < (double)count)
        work->pairs_at_once = (int)fmax(at_work / 2, 1);
}

static double links_s(const struct budget_work *work)
{
    int pairs = (int)(work->nodes / 2), at_once = work->pairs_at_once;
    int sub_rounds = at_once > 0 && at_once < pairs ? (pairs + at_once - 1) / at_once : 1;
    double rail_s = costs[work->level].rail_s;
    double crowd = fmin(work->crowd / crowd_of_rail, 1);
    double alone_s = rail_s * (1 + (crowded.rail - 1) * crowd);

    return 1 + sub_rounds * (work->rounds * alone_s * work->rails + work->second * rail_s);
}

double budget_estimate_s(const struct budget_work *work, enum stage stage)
{
    const struct level_cost *cost = &costs[work->level];
    double nodes_s = cost->node_s * (double)work->nodes;
    double crowd = work->crowd * (double)work->nodes;

    switch (stage) {
    case STAGE_LAUNCH:
        return cost->launch_s + nodes_s + crowded.launch_s * crowd;
    case STAGE_LINKS:
        return links_s(work);
    case STAGE_COLLECTIVES:
        return cost->collectives_s + nodes_s + crowded.collectives_s * crowd;
    case STAGE_TRAIN:
        return cost->train_s;
    default:
        return 0;
    }
}

double budget_limit_s(const struct budget_work *work, enum stage stage, double wanted_s)
{
    struct budget_work own = *work;
    double limit_s;

    if (stage != STAGE_LINKS) /* the others do as much as their limit has time for */
        own.crowd = 0;
    limit_s = fmax(costs[work->level].least_limit_s, patience * budget_estimate_s(&own, stage));

    if (wanted_s > 0)
        return wanted_s / 2;
    return ceil(stage == STAGE_LINKS ? fmax(limit_s, links_least_limit_s) : limit_s);
}
