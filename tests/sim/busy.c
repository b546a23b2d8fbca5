/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/busy.h"

#include <stdio.h>

#include "tests/sim/certification.h"

enum { HEALTHY = FAULT_KINDS, NODES_MOST = 8 };

static const int kinds[] = {HEALTHY,    FAULT_RAIL, FAULT_SENDS, FAULT_RECEIVES, FAULT_NODE,
                            FAULT_HOST, FAULT_PAIR, FAULT_LEAF,  FAULT_UPLINK};

struct tally {
    /* certifications in which the part is failed; nobody is but somebody is unknown; all pass that
     * should; a node is drained that is not at fault */
    long right, unknown, missed, innocent;
    long looks;
    double wall_s;
};

/* What a node is drained for. */
static bool is_drain(const struct finding *finding)
{
    return finding->verdict == VERDICT_FAIL && finding->node >= 0 &&
           finding->kind != FINDING_PAIR && finding->kind != FINDING_MISPLACED;
}

static bool has_node_fault(const struct fault *fault, int count, int node)
{
    return count > 0 && fault->peer < 0 && fault->node == node;
}

static void print(const struct localization *localization, const struct fault *fault, int count,
                  uint64_t seed)
{
    printf("#   run %d, %s n%d eth%d:\n", (int)seed, count ? fault_names[fault->kind] : "healthy",
           fault->node + 1, fault->rail + 1);
    for (size_t i = 0; i < localization->findings.count; i++)
        printf("#     %s n%d %s: %s\n", verdict_name(localization->findings.items[i].verdict),
               localization->findings.items[i].node + 1, localization->findings.items[i].part,
               localization->findings.items[i].message);
}

/* One certification of a small cluster as the lab is, leaves of half of the nodes each. */
static void certify(const struct busy_plan *plan, const struct noise *noise, int nodes, int kind,
                    uint64_t seed, struct tally *tally)
{
    struct fabric fabric;
    struct run_result result;
    struct fault fault = {.node = -1, .peer = -1};
    uint64_t random = seed * 7919 + 17;
    int stated[NODES_MOST], count = 0;
    bool is_unknown = false, is_innocent = false;

    fabric_make(&fabric, FABRIC_TREE, nodes, 2, (nodes + 1) / 2, 200, 1);
    for (int i = 0; i < nodes; i++)
        stated[i] = fabric.leaf[i];
    if (kind != HEALTHY)
        fault_inject(&fabric, stated, (enum fault_kind)kind, &fault, &count, &random);
    run_certification(&(struct run_plan){.fabric = &fabric,
                                         .stated = stated,
                                         .faults = &fault,
                                         .fault_count = count,
                                         .has_time = true,
                                         .is_quick = true,
                                         .times = localization_times((size_t)nodes, true),
                                         .has_together = true,
                                         .has_received = true,
                                         .noise = *noise,
                                         .seed = seed},
                      &result);
    fault_match(result.localization.findings.items, (int)result.localization.findings.count, &fault,
                count, NULL);
    for (size_t i = 0; i < result.localization.findings.count; i++) {
        const struct finding *finding = &result.localization.findings.items[i];

        is_unknown = is_unknown || finding->verdict == VERDICT_UNKNOWN;
        /* of two leaves the uplinks of the one are those of the other */
        if (kind == FAULT_UPLINK && finding->kind == FINDING_UPLINK &&
            finding->verdict == VERDICT_FAIL)
            fault.is_right = true;
        is_innocent =
            is_innocent || (is_drain(finding) && !has_node_fault(&fault, count, finding->node));
    }
    if (plan->is_verbose &&
        (is_innocent || (noise->preempted <= 0 && count > 0 && !fault.is_right)))
        print(&result.localization, &fault, count, seed);
    tally->innocent += is_innocent;
    tally->right += count > 0 ? fault.is_right : !is_unknown && !is_innocent;
    tally->unknown += is_unknown && !is_innocent && !fault.is_right;
    tally->missed += count > 0 && !is_unknown && !is_innocent && !fault.is_right;
    tally->looks += result.looks;
    tally->wall_s += result.wall_s;
    run_clear(&result);
    fabric_clear(&fabric);
}

static double percent(long part, const struct busy_plan *plan)
{
    return 100.0 * (double)part / plan->runs;
}

void busy_play(const struct busy_plan *plan)
{
    printf("| fault | nodes | load | certifications | part named | unknown | "
           "missed | an innocent node drained | looks, mean | links, s, mean |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int nodes = 4; nodes <= NODES_MOST; nodes += 4)
            for (size_t load = 0; load < NOISE_LOADS; load++) {
                struct noise noise = noise_beside(plan->noise, &noise_loads[load]);
                struct tally tally = {0};

                for (int i = 0; i < plan->runs; i++)
                    certify(plan, &noise, nodes, kinds[kind], (uint64_t)i + 1, &tally);
                printf("| %s | %d | %s | %d | %.1f %% | %.1f %% | %.1f %% | %.2f %% | "
                       "%.1f | %.0f |\n",
                       kinds[kind] == HEALTHY ? "none" : fault_names[kinds[kind]], nodes,
                       noise_loads[load].name, plan->runs, percent(tally.right, plan),
                       percent(tally.unknown, plan), percent(tally.missed, plan),
                       percent(tally.innocent, plan), (double)tally.looks / plan->runs,
                       tally.wall_s / plan->runs);
                fflush(stdout);
            }
}
