/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/times.h"

#include <stdio.h>

#include "tests/sim/certification.h"

static const struct {
    const char *name;
    struct stream_timing timing;
    bool is_send_only;
} timings[] = {
    {"none", {0, 0, 0, 1}, false},
    {"1 s of 3 at a quarter", {3, 1, 0, 0.25}, false},
    {"1 s of 3 at a quarter, one way", {3, 1, 0, 0.25}, true},
    {"2 s of 4 at a quarter", {4, 2, 0, 0.25}, false},
    {"1 s of 4 at 40 %", {4, 1, 0, 0.4}, false},
    {"1 s of 5 at a quarter, one way", {5, 1, 0, 0.25}, true},
};

struct tally {
    long right, unsure, missed, wrong; /* unsure: nobody failed, but not all are certified */
    double looks, wall_s;
};

static void print(const struct localization *localization, size_t timing, uint64_t seed,
                  const struct fault *fault)
{
    printf("#   run %d, %s, n%d eth%d:\n", (int)seed, timings[timing].name, fault->node + 1,
           fault->rail + 1);
    for (size_t i = 0; i < localization->findings.count; i++)
        printf("#     %s n%d %s: %s\n", verdict_name(localization->findings.items[i].verdict),
               localization->findings.items[i].node + 1, localization->findings.items[i].part,
               localization->findings.items[i].message);
}

/* One certification of a small cluster as the lab is, leaves of half of the nodes each. */
static void certify(const struct times_plan *plan, int nodes, bool is_quick, size_t timing,
                    uint64_t seed, struct tally *tally)
{
    struct fabric fabric;
    struct run_result result;
    uint64_t random = seed * 7919 + 17;
    struct fault fault = {.kind = FAULT_INTERMITTENT,
                          .node = (int)(sim_random(&random) % (uint64_t)nodes),
                          .rail = (int)(sim_random(&random) % 2),
                          .peer = -1,
                          .leaf = -1,
                          .peer_leaf = -1,
                          .timing = timings[timing].timing,
                          .is_send_only = timings[timing].is_send_only};
    bool has_fault = fault.timing.period_s > 0;
    bool is_unsure = false, is_named = false, is_wrong = false;

    fault.timing.phase_s = fault.timing.period_s * sim_uniform(&random);
    fabric_make(&fabric, FABRIC_TREE, nodes, 2, (nodes + 1) / 2, 200, 1);
    run_certification(&(struct run_plan){.fabric = &fabric,
                                         .stated = fabric.leaf,
                                         .faults = &fault,
                                         .fault_count = has_fault,
                                         .has_time = true,
                                         .is_quick = is_quick,
                                         .times = localization_times((size_t)nodes, is_quick),
                                         .has_together = !is_quick,
                                         .has_received = true,
                                         .noise = *plan->noise,
                                         .seed = seed},
                      &result);
    for (size_t i = 0; i < result.localization.findings.count; i++) {
        const struct finding *finding = &result.localization.findings.items[i];
        bool is_it = has_fault && finding->kind == FINDING_RAIL && finding->node == fault.node &&
                     finding->rail == fault.rail;

        is_unsure =
            is_unsure || (finding->verdict == VERDICT_UNKNOWN && finding->kind != FINDING_PAIR);
        is_named = is_named || (is_it && finding->verdict == VERDICT_FAIL);
        is_wrong = is_wrong || (!is_it && finding->verdict == VERDICT_FAIL);
    }
    if (plan->is_verbose && (is_wrong || is_named != has_fault || (is_unsure && !has_fault)))
        print(&result.localization, timing, seed, &fault);
    tally->wrong += is_wrong;
    tally->right += !is_wrong && (has_fault ? is_named : !is_unsure);
    tally->unsure += !is_wrong && !is_named && is_unsure;
    tally->missed += has_fault && !is_wrong && !is_named && !is_unsure;
    tally->looks += result.looks;
    tally->wall_s += result.wall_s;
    run_clear(&result);
    fabric_clear(&fabric);
}

static double percent(long part, const struct times_plan *plan)
{
    return 100.0 * (double)part / plan->runs;
}

void times_play(const struct times_plan *plan)
{
    printf("| comes and goes | nodes | level | certifications | rightly named | unknown | wrong | "
           "missed | "
           "looks, mean | links, s, mean |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t timing = 0; timing < (plan->is_healthy ? 1 : sizeof timings / sizeof *timings);
         timing++)
        for (int nodes = 4; nodes <= 8; nodes += 4)
            for (int quick = 1; quick >= 0; quick--) {
                struct tally tally = {0};

                for (int i = 0; i < plan->runs; i++)
                    certify(plan, nodes, quick, timing, (uint64_t)i + 1, &tally);
                printf(
                    "| %s | %d | %s | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f | %.0f |\n",
                    timings[timing].name, nodes, quick ? "quick" : "standard", plan->runs,
                    percent(tally.right, plan), percent(tally.unsure, plan),
                    percent(tally.wrong, plan), percent(tally.missed, plan),
                    tally.looks / plan->runs, tally.wall_s / plan->runs);
                fflush(stdout);
            }
}
