/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"
#include "tests/sim/certification.h"

enum { DECILES = 10, FAULTS_MOST = 6 };

/* Most certifications are of few nodes, which cost a hundredth of many. */
static const int sizes[] = {4, 8, 4, 8, 4, 8, 8, 8, 4, 8, 4, 8, 4, 8, 8, 16, 4, 8, 4, 8,
                            4, 8, 4, 8, 4, 8, 8, 8, 4, 8, 4, 8, 4, 8, 8, 16, 4, 8, 4, 32,
                            4, 8, 4, 8, 4, 8, 8, 8, 4, 8, 4, 8, 4, 8, 8, 16, 4, 8, 4, 64};
enum { SIZES = sizeof sizes / sizeof *sizes };

struct stated {
    double probability;
    int run; /* determines the load */
    bool is_fail, is_right, is_exact;
};

struct tally {
    const struct calibrate_plan *plan;
    struct stated *items;
    size_t count, size;
};

/* Returns what runs beside a certification. Each size has each load; half have none. */
static const struct noise_load *load_of(int run)
{
    int number = run + run / SIZES;

    return &noise_loads[number % 2 ? 1 + number / 2 % (NOISE_LOADS - 1) : 0];
}

static double log_odds(double probability)
{
    return log(probability) - log1p(-probability);
}

/* Returns whether the finding is a path through the leaf, uplinks or cable at fault: the path is
 * slow, though the finding does not say why. */
static bool is_through(const struct finding *finding, const struct fault *faults, int count,
                       const int *leaves)
{
    for (int i = 0; i < count && finding->kind == FINDING_PAIR; i++) {
        int own = leaves[finding->node], other = leaves[finding->peer];

        if (faults[i].leaf >= 0 && faults[i].node < 0 && own != other &&
            (own == faults[i].leaf || other == faults[i].leaf) &&
            (faults[i].peer_leaf < 0 || own == faults[i].peer_leaf || other == faults[i].peer_leaf))
            return true;
    }
    return false;
}

static void keep(struct tally *tally, const struct stated *item)
{
    if (isnan(item->probability))
        return;
    if (tally->count == tally->size) {
        tally->size = 2 * tally->size + 1024;
        tally->items = realloc(tally->items, tally->size * sizeof *tally->items);
        if (!tally->items)
            exit(3);
    }
    tally->items[tally->count++] = *item;
}

/* Counts a finding that states a probability: whether a fault is at its place, and whether it is
 * that very part and direction. */
static void add(struct tally *tally, const struct finding *finding, struct fault *faults, int count,
                const int *leaves, int run)
{
    struct finding failing = *finding;
    struct stated item = {.probability = finding->confidence,
                          .run = run,
                          .is_fail = finding->verdict == VERDICT_FAIL};

    failing.verdict = VERDICT_FAIL;
    for (int i = 0; i < count; i++)
        faults[i].is_right = false;
    item.is_right = fault_match(&failing, 1, faults, count, NULL) == 0 ||
                    is_through(finding, faults, count, leaves);
    for (int i = 0; i < count; i++)
        item.is_exact = item.is_exact || faults[i].is_right;
    if (tally->plan->is_verbose)
        printf("# %d %s %d n%d %s, ways %d: %.9g %.9g %.3f %s %s: %s\n", run,
               verdict_name(finding->verdict), (int)finding->kind, finding->node + 1, finding->part,
               finding->ways, finding->value, finding->limit, log_odds(finding->confidence),
               item.is_right ? "right" : "wrong", item.is_exact ? "exactly" : "roughly",
               finding->message);
    keep(tally, &item);
}

/* One certification of a cluster of two rails: 200 Mb/s as the lab has, leaves of four nodes or
 * half of them, with no fault, one (most), or more where there are many nodes. */
static void certify(struct tally *tally, int run)
{
    uint64_t random = (uint64_t)run * 7919 + 17;
    int nodes = sizes[run % SIZES], stated[64], count = 0, wanted = run / 7 % 8 ? 1 : 0;
    enum fault_kind kind = (enum fault_kind)(sim_random(&random) % FAULT_KINDS);
    bool is_mesh = kind == FAULT_TRUNK, is_quick = sim_random(&random) % 2;
    struct fault faults[FAULTS_MOST] = {0};
    struct noise noise = noise_beside(tally->plan->noise, load_of(run));
    struct fabric fabric;
    struct run_result result;

    fabric_make(&fabric, is_mesh ? FABRIC_MESH : FABRIC_TREE, nodes, 2,
                nodes < 16 ? nodes / 2 : nodes / 4, 200, kind == FAULT_MISPLACED ? 4 : 1);
    for (int i = 0; i < nodes; i++)
        stated[i] = fabric.leaf[i];
    if (wanted > 0 && nodes > 4)
        wanted += (int)(sim_random(&random) % (nodes > 8 ? FAULTS_MOST : 3));
    for (int i = 0; i < wanted; i++) {
        if (i > 0) /* the others are of nodes */
            kind = (enum fault_kind)(sim_random(&random) % (FAULT_INTERMITTENT + 1));
        fault_inject(&fabric, stated, kind, faults, &count, &random);
    }
    for (int i = 0; i < count; i++)
        if (faults[i].kind == FAULT_INTERMITTENT)
            faults[i].timing = (struct stream_timing){.period_s = 2 + 3 * sim_uniform(&random),
                                                      .slow_s = 0.7 + sim_uniform(&random),
                                                      .phase_s = 5 * sim_uniform(&random),
                                                      .share = faults[i].share};
    run_certification(&(struct run_plan){.fabric = &fabric,
                                         .stated = stated,
                                         .faults = faults,
                                         .fault_count = count,
                                         .confidence = nodes > 8 ? 0.9999 : 0,
                                         .has_time = true,
                                         .is_quick = is_quick,
                                         .times = localization_times((size_t)nodes, is_quick),
                                         .has_together = true,
                                         .has_received = true,
                                         .noise = noise,
                                         .seed = (uint64_t)run},
                      &result);
    for (int i = 0; i < count && tally->plan->is_verbose; i++)
        printf("# %d fault: %s n%d leaf%d eth%d %.2f\n", run, fault_names[faults[i].kind],
               faults[i].node + 1, faults[i].leaf + 1, faults[i].rail + 1, faults[i].share);
    for (size_t i = 0; i < result.localization.findings.count; i++)
        add(tally, &result.localization.findings.items[i], faults, count, fabric.leaf, run);
    run_clear(&result);
    fabric_clear(&fabric);
}

static int by_odds(const void *left, const void *right)
{
    const struct stated *a = left, *b = right;

    if (a->is_fail != b->is_fail)
        return (int)a->is_fail - (int)b->is_fail;
    if (a->probability != b->probability)
        return a->probability < b->probability ? -1 : 1;
    return a->run - b->run;
}

/* One row. Adds to *error what states too much or too little, weighted by the findings. Returns
 * whether they are right as often as stated, or less by chance. */
static bool print_row(const char *name, const struct stated *items, size_t count, double *error)
{
    size_t right = 0, exact = 0;
    double stated = 0;

    for (size_t i = 0; i < count; i++) {
        stated += items[i].probability;
        right += items[i].is_right;
        exact += items[i].is_exact;
    }
    if (count == 0)
        return true;
    *error += fabs(stated - (double)right);
    printf("| %s | %.1f | %.1f | %zu | %.4f %% | %.4f %% | %.2f %% |\n", name,
           log_odds(items[0].probability), log_odds(items[count - 1].probability), count,
           100 * stated / (double)count, 100 * (double)right / (double)count,
           100 * (double)exact / (double)count);
    return statistics_binomial_tail(count - right, count, 1 - stated / (double)count) > 0.001;
}

/* A row each. Returns whether all hold. */
static bool print_deciles(const char *name, const struct stated *items, size_t count, double *error)
{
    bool holds = true;

    for (size_t i = 0; i < DECILES; i++) {
        size_t begin = count * i / DECILES, end = count * (i + 1) / DECILES;

        holds &= print_row(name, items + begin, end - begin, error);
    }
    return holds;
}

/* Of the failing findings with such machines: quiet ones, or busy ones. */
static void print_noise(const struct tally *tally, bool is_busy)
{
    struct stated *items = sim_allocate(tally->count + 1, sizeof *items);
    size_t count = 0;
    double error = 0;

    for (size_t i = 0; i < tally->count; i++)
        if (tally->items[i].is_fail && (load_of(tally->items[i].run) != noise_loads) == is_busy)
            items[count++] = tally->items[i];
    print_row(is_busy ? "fail, busy" : "fail, quiet", items, count, &error);
    free(items);
}

static bool print_tables(const struct tally *tally, int runs)
{
    size_t others = 0;
    double error = 0, all;
    bool holds;

    if (tally->count > 0)
        qsort(tally->items, tally->count, sizeof *tally->items, by_odds);
    while (others < tally->count && !tally->items[others].is_fail)
        others++;
    printf("| findings | log odds, from | to | count | stated, mean | right | that very part |\n"
           "|---|---|---|---|---|---|---|\n");
    print_deciles("not failing", tally->items, others, &error);
    all = error;
    error = 0;
    holds = print_deciles("fail", tally->items + others, tally->count - others, &error);
    all = (all + error) / fmax((double)tally->count, 1);
    error /= fmax((double)(tally->count - others), 1);
    print_noise(tally, false);
    print_noise(tally, true);
    printf(
        "\nExpected calibration error: %.2f %% of %zu failing findings, %.2f %% of all %zu, in %d "
        "certifications.\n",
        100 * error, tally->count - others, 100 * all, tally->count, runs);
    return holds && error < 0.01;
}

bool calibrate_play(const struct calibrate_plan *plan)
{
    struct tally tally = {.plan = plan};
    bool holds;

    for (int run = 0; run < plan->runs; run++)
        certify(&tally, plan->first + run);
    holds = print_tables(&tally, plan->runs);
    free(tally.items);
    return holds;
}

/* "# RUN VERDICT KIND NODE PART, ways WAYS: VALUE LIMIT ODDS right exactly: MESSAGE" */
static bool parse(const char *line, struct stated *item)
{
    char verdict[16], right[8], exact[12];
    const char *figures = strstr(line, ": ");
    double odds;

    if (!figures || sscanf(line, "# %d %15s", &item->run, verdict) != 2 ||
        sscanf(figures + 2, "%*s %*s %lf %7s %11[a-z]", &odds, right, exact) != 3)
        return false;
    item->probability = 1 / (1 + exp(-odds));
    item->is_fail = strcmp(verdict, verdict_name(VERDICT_FAIL)) == 0;
    item->is_right = strcmp(right, "right") == 0;
    item->is_exact = strcmp(exact, "exactly") == 0;
    return true;
}

bool calibrate_sum(FILE *lines)
{
    struct tally tally = {.count = 0};
    char line[1024];
    int runs = 0, last = -1;
    bool holds;

    while (fgets(line, sizeof line, lines)) {
        struct stated item = {.run = last};

        if (parse(line, &item))
            keep(&tally, &item);
        runs += item.run != last;
        last = item.run;
    }
    holds = print_tables(&tally, runs);
    free(tally.items);
    return holds;
}
