/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/certify/budget.h"
#include "validate/schedule/schedule.h"
#include "tests/unit/tap.h"

static double links_s(size_t nodes, int rails, int pairs_at_once)
{
    struct budget_work work = budget_work_make(LEVEL_QUICK, nodes, rails, pairs_at_once, 1);

    return budget_estimate_s(&work, STAGE_LINKS);
}

static void test_rounds(void)
{
    struct budget_work work = budget_work_make(LEVEL_QUICK, 8, 2, 0, 2);

    is_int(work.rounds, 14, "few nodes: all pairs, so often as is wanted");
    work = budget_work_make(LEVEL_QUICK, 5, 2, 0, 1);
    is_int(work.rounds, 5, "... of an odd number one rests in each round");
    work = budget_work_make(LEVEL_QUICK, 64, 2, 0, 1);
    is_int(work.rounds, schedule_rounds_for(64, 0.99), "more: as many as name a bad one");
    ok(budget_work_make(LEVEL_FULL, 1024, 2, 0, 1).rounds == 28, "full: the most, 2 lg N + 8");
    ok(budget_confidence(LEVEL_QUICK, 100) < budget_confidence(LEVEL_STANDARD, 100) &&
           budget_confidence(LEVEL_STANDARD, 100) < budget_confidence(LEVEL_FULL, 100),
       "each level is surer than the one before");
    is_int(budget_work_make(LEVEL_QUICK, 0, 2, 0, 1).rounds, 0, "no nodes, no rounds");
    is_int(budget_work_make(LEVEL_QUICK, 1, 2, 0, 1).rounds, 0, "one neither");
}

static void test_estimates(void)
{
    struct budget_work small = budget_work_make(LEVEL_QUICK, 4, 2, 0, 1);
    struct budget_work large = budget_work_make(LEVEL_QUICK, 4096, 2, 0, 1);

    ok(links_s(64, 4, 0) > links_s(64, 2, 0), "more rails take longer");
    ok(links_s(4096, 2, 0) < 2 * links_s(64, 2, 0), "4,096 nodes not twice as long as 64");
    ok(links_s(64, 2, 8) > 3.5 * links_s(64, 2, 0), "8 of 32 pairs at once: four sub-rounds");
    is_near(links_s(64, 2, 100), links_s(64, 2, 0), 1e-9, "... more at once than there are: one");
    ok(budget_estimate_s(&large, STAGE_LAUNCH) > budget_estimate_s(&small, STAGE_LAUNCH),
       "more ranks start later");
    is_near(budget_estimate_s(&small, STAGE_TRAIN), 0, 0, "level quick trains nothing");
    is_near(budget_estimate_s(&small, STAGE_CHECK), 0, 0, "the check is none of these");
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
    is_int(late, 0, "no stage that is five times as slow as estimated is ended");
    is_near(budget_limit_s(&large, STAGE_LINKS, 90), 45, 0, "what is wanted holds");
}

int main(void)
{
    test_rounds();
    test_estimates();
    test_limits();
    return tap_done();
}
