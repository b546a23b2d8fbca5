/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/certify/state/budget.h"

#include "lib/constants/harness_constants.h"
#include "tests/unit/tap.h"
#include "validate/schedule/schedule.h"
#include "validate/schedule/split.h"

static double links_s(size_t nodes, int rails, int pairs_at_once)
{
    struct budget_work work = budget_work_make(LEVEL_QUICK, nodes, rails, pairs_at_once, 1);

    return budget_estimate_s(&work, STAGE_LINKS);
}

static void test_rounds(void)
{
    struct budget_work work = budget_work_make(LEVEL_QUICK, 8, 2, 0, 2);

    is_int(work.rounds, 14, "few nodes: all pairs, with the given number of repeats");
    work = budget_work_make(LEVEL_QUICK, 5, 2, 0, 1);
    is_int(work.rounds, 5, "... with an odd number one node rests in each round");
    work = budget_work_make(LEVEL_QUICK, 64, 2, 0, 1);
    is_int(work.rounds, schedule_rounds_for(64, 0.99),
           "more nodes: enough rounds to name a bad node");
    ok(budget_work_make(LEVEL_FULL, 1024, 2, 0, 1).rounds == 28, "full: the maximum, 2 lg N + 8");
    ok(budget_confidence(LEVEL_QUICK, 100) < budget_confidence(LEVEL_STANDARD, 100) &&
           budget_confidence(LEVEL_STANDARD, 100) < budget_confidence(LEVEL_FULL, 100),
       "each level has a higher confidence than the one before");
    is_int(budget_work_make(LEVEL_QUICK, 0, 2, 0, 1).rounds, 0, "no nodes, no rounds");
    is_int(budget_work_make(LEVEL_QUICK, 1, 2, 0, 1).rounds, 0, "... one node has none either");
}

static void test_estimates(void)
{
    struct budget_work small = budget_work_make(LEVEL_QUICK, 4, 2, 0, 1);
    struct budget_work large = budget_work_make(LEVEL_QUICK, 4096, 2, 0, 1);

    ok(links_s(64, 4, 0) > links_s(64, 2, 0), "more rails take longer");
    ok(links_s(4096, 2, 0) < 2 * links_s(64, 2, 0),
       "4,096 nodes take less than twice as long as 64");
    ok(links_s(64, 2, 8) > 3.5 * links_s(64, 2, 0), "8 of 32 pairs at once: four sub-rounds");
    is_near(links_s(64, 2, 100), links_s(64, 2, 0), 1e-9,
            "... more at once than there are pairs: one sub-round");
    ok(budget_estimate_s(&large, STAGE_LAUNCH) > budget_estimate_s(&small, STAGE_LAUNCH),
       "more ranks start later");
    is_near(budget_estimate_s(&small, STAGE_TRAIN), 0, 0, "level quick trains nothing");
    is_near(budget_estimate_s(&small, STAGE_CHECK), 0, 0, "the check stage has no estimate here");
}

static void test_limits(void)
{
    struct budget_work small = budget_work_make(LEVEL_QUICK, 4, 2, 0, 3);
    struct budget_work large = budget_work_make(LEVEL_QUICK, 512, 8, 16, 1);
    int late = 0;

    for (int stage = STAGE_LAUNCH; stage <= STAGE_TRAIN; stage++)
        late += budget_limit_s(&small, (enum stage)stage, 0) <
                    5 * budget_estimate_s(&small, (enum stage)stage) ||
                budget_limit_s(&large, (enum stage)stage, 0) <
                    5 * budget_estimate_s(&large, (enum stage)stage);
    is_int(late, 0, "no stage is ended that takes five times its estimate");
    is_near(budget_limit_s(&large, STAGE_LINKS, 90), 45, 0, "a given limit is used");
}

/* Training starts as many ranks as launch does, so its limit must cover their start. */
static void test_training_of_many(void)
{
    struct budget_work large = budget_work_make(LEVEL_STANDARD, 4096, 2, 0, 1);

    ok(budget_limit_s(&large, STAGE_TRAIN, 0) > 5 * budget_estimate_s(&large, STAGE_LAUNCH),
       "the training of 4,096 nodes is not ended while its ranks start");
}

/* Returns the estimate of the links stage for 128 nodes on four leaves. */
static double leaf_limited_s(int leaf_pairs, int uplink_pairs)
{
    struct budget_work work = budget_work_make(LEVEL_QUICK, 128, 2, 0, 1);
    int blocks[128], of_leaves[4] = {uplink_pairs, uplink_pairs, uplink_pairs, uplink_pairs};

    for (int i = 0; i < 128; i++)
        blocks[i] = i / 32;
    budget_apply_limits(&work, &(struct split_limits){.leaf_pairs = leaf_pairs,
                                                      .uplink_pairs = of_leaves,
                                                      .blocks = blocks});
    return budget_estimate_s(&work, STAGE_LINKS);
}

static void test_limits_of_leaves(void)
{
    double free_s = leaf_limited_s(0, 0);

    is_near(leaf_limited_s(16, 32), free_s, 0, "leaf limits that are not reached cost nothing");
    ok(leaf_limited_s(1, 0) > 12 * free_s, "one pair of a leaf at once: sixteen sub-rounds");
    ok(leaf_limited_s(0, 1) > 3 * free_s, "one pair across an uplink at once takes longer, too");
}

static void test_longest_limits(void)
{
    struct budget_work slow = budget_work_make(LEVEL_FULL, 16384, 8, 1, 1);
    int more = 0;

    for (int stage = STAGE_LAUNCH; stage <= STAGE_TRAIN; stage++)
        more += budget_limit_s(&slow, (enum stage)stage, 0) > PROGRAM_TIME_LIMIT_MOST_S;
    is_int(more, 0, "no limit is longer than that of the programs");
}

/* The first `alone` nodes each have their own machine. The others share one with this many
 * processors. */
static struct budget_work shared_machine_work(size_t nodes, size_t alone, int processors)
{
    struct budget_work work = budget_work_make(LEVEL_QUICK, nodes, 2, 0, 1);
    struct budget_machine machines[64];
    char names[64][8];

    for (size_t i = 0; i < nodes; i++) {
        snprintf(names[i], sizeof names[i], "m%zu", i < alone ? i : 64);
        machines[i] = (struct budget_machine){names[i], processors};
    }
    budget_apply_sharing(&work, machines, nodes);
    return work;
}

static void test_shared_machines(void)
{
    struct budget_work own = shared_machine_work(64, 64, 2), all = shared_machine_work(64, 0, 2),
                       few = shared_machine_work(32, 0, 2), mixed = shared_machine_work(64, 56, 2),
                       wanted = budget_work_make(LEVEL_QUICK, 4, 2, 1, 1);
    struct budget_machine unknown[] = {{"", 2}, {"", 2}, {"", 2}, {"", 2}};

    is_int(own.pairs_at_once, 0, "each node on its own machine: all pairs at once");
    is_near(own.oversubscription, 0, 0, "... no node shares a processor");
    is_int(all.pairs_at_once, 4, "64 nodes on two processors: 8 ranks at once");
    is_near(all.oversubscription, 32, 0, "... 32 nodes share a processor");
    is_int(mixed.pairs_at_once, 0, "8 of 64 nodes on two processors: all at once");
    /* measured for 64 nodes: links 163 s, collectives 67 s; for 32 nodes: 60 s and 18 s */
    ok(budget_estimate_s(&all, STAGE_LINKS) > 110 && budget_estimate_s(&all, STAGE_LINKS) < 250,
       "64 nodes on two processors: the links take some 160 s");
    ok(budget_estimate_s(&all, STAGE_COLLECTIVES) > 45 &&
           budget_estimate_s(&all, STAGE_COLLECTIVES) < 100,
       "... the collectives some 67 s");
    ok(budget_estimate_s(&few, STAGE_COLLECTIVES) > 12 &&
           budget_estimate_s(&few, STAGE_COLLECTIVES) < 27,
       "... those of 32 nodes some 18 s");
    ok(budget_estimate_s(&few, STAGE_LINKS) < 0.6 * budget_estimate_s(&all, STAGE_LINKS),
       "... the links of 32 nodes about half as long");
    is_near(budget_limit_s(&all, STAGE_COLLECTIVES, 0), budget_limit_s(&own, STAGE_COLLECTIVES, 0),
            0, "collectives get no more time for it: they run as many cases as time allows");
    budget_apply_sharing(&wanted, unknown, 4);
    is_int(wanted.pairs_at_once, 1, "the number of pairs that the site sets is used");
    is_near(wanted.oversubscription, 0, 0, "each unknown machine counts as its own");
}

int main(void)
{
    test_shared_machines();
    test_rounds();
    test_estimates();
    test_limits();
    test_training_of_many();
    test_longest_limits();
    test_limits_of_leaves();
    return tap_done();
}
