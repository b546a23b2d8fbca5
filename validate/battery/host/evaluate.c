/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/host/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"
#include "lib/constants/battery_constants.h"

/* Sizes of memory within a 32nd are one: the kernel and firmware take a little. */
enum { MEMORY_ALIKE = 32, WRONG_CORES_MOST = 8 };

struct figure_spec {
    const char *test, *metric, *unit;
    double least; /* share of the reference */
    enum fault_code code;
};

static struct figure_spec spec_of(enum host_figure figure)
{
    switch (figure) {
    case HOST_RATE:
        return (struct figure_spec){"host.compute", "core_rate", "GFLOP/s", HOST_CORE_LEAST_SHARE,
                                    FAULT_CORE_SLOW};
    case HOST_TRIAD:
        return (struct figure_spec){"host.memory", "triad", "GB/s", HOST_MEMORY_LEAST_SHARE,
                                    FAULT_MEMORY_SLOW};
    case HOST_READ:
        return (struct figure_spec){"host.disk", "disk_read", "MB/s", HOST_DISK_LEAST_SHARE,
                                    FAULT_DISK_SLOW};
    case HOST_WRITE:
        return (struct figure_spec){"host.disk", "disk_write", "MB/s", HOST_DISK_LEAST_SHARE,
                                    FAULT_DISK_SLOW};
    case HOST_IOPS:
    case HOST_FIGURES:
        break;
    }
    return (struct figure_spec){"host.disk", "disk_reads", "1/s", HOST_DISK_LEAST_SHARE,
                                FAULT_DISK_SLOW};
}

/* ---------------------------------------------------------------- peers */

static bool is_alike(const struct host_node *left, const struct host_node *right)
{
    return strcmp(left->model, right->model) == 0 && left->core_count == right->core_count &&
           left->numa_count == right->numa_count &&
           fabs(left->memory_gib - right->memory_gib) * MEMORY_ALIKE <=
               fmax(left->memory_gib, right->memory_gib);
}

int host_part_count(const struct host_node *node, enum host_figure figure)
{
    return figure == HOST_RATE ? node->core_count : figure == HOST_TRIAD ? node->numa_count : 1;
}

static const struct host_value *value_of(const struct host_node *node, enum host_figure figure,
                                         int index)
{
    return figure == HOST_RATE    ? &node->cores[index].rate
           : figure == HOST_TRIAD ? &node->numas[index].triad
                                  : &node->disks[figure];
}

/* Arrays that are too small are in the cache. */
static bool is_judged(const struct host_node *node, enum host_figure figure)
{
    return figure >= HOST_READ ||
           (!node->is_shared && (figure != HOST_TRIAD || node->array_share >= 1));
}

static bool is_measured(const struct host_node *node, enum host_figure figure, int index)
{
    return is_judged(node, figure) && value_of(node, figure, index)->best > 0;
}

static bool is_peer(const struct host_node *node, enum host_figure figure, int index)
{
    const struct host_value *value = value_of(node, figure, index);

    return is_measured(node, figure, index) &&
           (figure >= HOST_READ || value->stalled <= HOST_STALLED_MOST_SHARE);
}

double host_reference(const struct host_node *nodes, size_t count, size_t node,
                      enum host_figure figure)
{
    size_t most = 1, found = 0;
    double *samples, reference = NAN;

    for (size_t i = 0; i < count; i++)
        most += (size_t)host_part_count(&nodes[i], figure);
    samples = malloc(most * sizeof *samples);
    for (size_t i = 0; samples && i < count; i++)
        for (int k = 0; is_alike(&nodes[i], &nodes[node]) && k < host_part_count(&nodes[i], figure);
             k++)
            if (is_peer(&nodes[i], figure, k))
                samples[found++] = value_of(&nodes[i], figure, k)->best;
    if (found == 2)
        reference = fmax(samples[0], samples[1]);
    else if (found > 2)
        reference = statistics_median(samples, found);
    free(samples);
    return reference;
}

static bool is_below(const struct host_node *node, enum host_figure figure, int index, double limit)
{
    return is_measured(node, figure, index) && value_of(node, figure, index)->best < limit;
}

static bool is_common(const struct host_node *nodes, size_t count, size_t node,
                      enum host_figure figure, int index, double limit)
{
    size_t peers = 0, low = 0;

    for (size_t i = 0; i < count; i++)
        if (is_alike(&nodes[i], &nodes[node]) && is_measured(&nodes[i], figure, index)) {
            peers++;
            low += is_below(&nodes[i], figure, index, limit);
        }
    if (peers > 1)
        return 2 * low > peers;
    low = 0;
    for (int k = 0; k < host_part_count(&nodes[node], figure); k++)
        low += is_below(&nodes[node], figure, k, limit);
    return host_part_count(&nodes[node], figure) > 2 &&
           4 * low > (size_t)host_part_count(&nodes[node], figure);
}

bool host_is_low(const struct host_node *nodes, size_t count, size_t node, enum host_figure figure,
                 int index, double reference)
{
    double limit = spec_of(figure).least * reference;

    return is_below(&nodes[node], figure, index, limit) &&
           !is_common(nodes, count, node, figure, index, limit);
}

bool host_expected_sum(const struct host_node *nodes, size_t count, size_t node, uint64_t *expected)
{
    uint64_t candidate = 0;
    size_t lead = 0, cores = 0, same = 0;

    /* Boyer and Moore, 1981: the one that is left over when others are struck out in pairs */
    for (size_t i = 0; i < count; i++)
        for (int k = 0; strcmp(nodes[i].model, nodes[node].model) == 0 && k < nodes[i].core_count;
             k++) {
            const struct host_core *core = &nodes[i].cores[k];

            if (core->repeats == 0)
                continue;
            cores++;
            if (lead == 0)
                candidate = core->sum;
            if (core->sum == candidate)
                lead++;
            else
                lead--;
        }
    for (size_t i = 0; i < count; i++)
        for (int k = 0; strcmp(nodes[i].model, nodes[node].model) == 0 && k < nodes[i].core_count;
             k++)
            same += nodes[i].cores[k].repeats > 0 && nodes[i].cores[k].sum == candidate;
    *expected = candidate;
    return 2 * same > cores;
}

bool host_differs(const struct host_core *core, uint64_t expected)
{
    return core->repeats > 0 &&
           (core->sum != expected || core->others > 0 || core->again_wrong > 0);
}

/* ---------------------------------------------------------------- records */

struct reporter {
    const struct host_node *nodes;
    size_t count, node;
    const char *name;
    double references[HOST_FIGURES];
    host_report_fn *report;
    void *context;
    char part[96], message[400];
};

/* code: FAULT_NONE: pass. Of a fault the verdict is the catalogue's, unless record has one. */
static void report_line(struct reporter *reporter, const char *test, const char *metric,
                        double value, const char *unit, enum fault_code code, struct record *record)
{
    record->test = test;
    record->metric = metric;
    record->node = reporter->name;
    record->part = reporter->part;
    record->value = value;
    record->unit = unit;
    record->code = code;
    if (record->verdict == VERDICT_NONE)
        record->verdict = code == FAULT_NONE ? VERDICT_PASS : catalog_fault(code)->severity;
    record->message = reporter->message;
    reporter->report(record, reporter->context);
    reporter->message[0] = reporter->part[0] = '\0';
}

static const struct host_node *own_node(const struct reporter *reporter)
{
    return &reporter->nodes[reporter->node];
}

static void limit_set(const struct reporter *reporter, enum host_figure figure,
                      struct record *record)
{
    if (!isfinite(reporter->references[figure]) || !is_judged(own_node(reporter), figure))
        return;
    record->limit = spec_of(figure).least * reporter->references[figure];
    record->limit_source = "peers";
}

static bool is_low(const struct reporter *reporter, enum host_figure figure, int index)
{
    return host_is_low(reporter->nodes, reporter->count, reporter->node, figure, index,
                       reporter->references[figure]);
}

/* The code of a low figure: none of a thread that was kept from running. What would be a warning
 * is then no reason to do without a certificate. */
static enum fault_code code_of_low(enum host_figure figure, const struct host_value *value,
                                   struct record *record)
{
    if (value->stalled <= HOST_STALLED_MOST_SHARE)
        return spec_of(figure).code;
    record->verdict = catalog_fault(spec_of(figure).code)->severity == VERDICT_WARN
                          ? VERDICT_SKIP
                          : VERDICT_UNKNOWN;
    return FAULT_NOT_STEADY;
}

static void value_report(struct reporter *reporter, enum host_figure figure, int index)
{
    const struct host_value *value = value_of(own_node(reporter), figure, index);
    struct figure_spec spec = spec_of(figure);
    struct record record;
    enum fault_code code = FAULT_NONE;

    if (value->best <= 0)
        return;
    record = RECORD(.low = value->lowest, .high = value->best, .samples = (unsigned)value->samples,
                    .stalled = value->stalled);
    limit_set(reporter, figure, &record);
    if (figure == HOST_TRIAD && own_node(reporter)->array_share < 1) {
        record.verdict = VERDICT_SKIP;
        snprintf(reporter->message, sizeof reporter->message,
                 "not evaluated: free memory allows arrays of only %.2g of their size, so this "
                 "figure includes the cache",
                 own_node(reporter)->array_share);
    }
    if (is_low(reporter, figure, index)) {
        code = code_of_low(figure, value, &record);
        snprintf(reporter->message, sizeof reporter->message, "reaches %.4g, its peers %.4g %s%s",
                 (double)value->best, reporter->references[figure], spec.unit,
                 code == FAULT_NOT_STEADY ? "; it was not scheduled, so this figure is inconclusive"
                                          : "");
    }
    report_line(reporter, spec.test, spec.metric, value->best, spec.unit, code, &record);
}

/* "cpu3,7-9" of the socket's low cores, as far as there is room. */
static void low_cores_print(struct reporter *reporter, int socket)
{
    const struct host_node *node = own_node(reporter);
    size_t length = (size_t)snprintf(reporter->part, sizeof reporter->part, "cpu");

    for (int k = 0, is_first = 1; k < node->core_count; k++)
        if (node->cores[k].socket == socket && is_low(reporter, HOST_RATE, k) &&
            length < sizeof reporter->part - 8) {
            length += (size_t)snprintf(reporter->part + length, sizeof reporter->part - length,
                                       "%s%d", is_first ? "" : ",", node->cores[k].cpu);
            is_first = 0;
        }
}

/* Whether a low core tells more than the other one: it ran, or both or neither did and it is the
 * slower one. */
static bool is_worse(const struct host_value *rate, const struct host_value *other)
{
    bool ran = rate->stalled <= HOST_STALLED_MOST_SHARE;

    if (!other || ran != (other->stalled <= HOST_STALLED_MOST_SHARE))
        return !other || ran;
    return rate->best < other->best;
}

/* One record for the cores of a socket: the slowest of them, or of those that are low. Where some
 * are, half of them at most, they are the part, else the socket. */
static void socket_report(struct reporter *reporter, int socket)
{
    const struct host_node *node = own_node(reporter);
    const struct host_value *slowest = NULL, *worst = NULL, *best = NULL;
    struct figure_spec spec = spec_of(HOST_RATE);
    struct record record;
    enum fault_code code = FAULT_NONE;
    int cores = 0, low = 0;

    for (int k = 0; k < node->core_count; k++) {
        const struct host_value *rate = &node->cores[k].rate;

        if (node->cores[k].socket != socket || rate->best <= 0)
            continue;
        cores++;
        if (is_low(reporter, HOST_RATE, k)) {
            low++;
            worst = is_worse(rate, worst) ? rate : worst;
        }
        if (!slowest || rate->best < slowest->best)
            slowest = rate;
        if (!best || rate->best > best->best)
            best = rate;
    }
    if (cores == 0)
        return;
    worst = low > 0 ? worst : slowest;
    record = RECORD(.low = slowest->best, .high = best->best, .samples = (unsigned)cores);
    limit_set(reporter, HOST_RATE, &record);
    snprintf(reporter->part, sizeof reporter->part, "socket%d", socket);
    if (low > 0) {
        code = code_of_low(HOST_RATE, worst, &record);
        snprintf(reporter->message, sizeof reporter->message,
                 "%d of %d cores are slow: the slowest reaches %.4g, its peers %.4g %s%s", low,
                 cores, (double)worst->best, reporter->references[HOST_RATE], spec.unit,
                 code == FAULT_NOT_STEADY
                     ? "; its hypervisor did not schedule it, so this figure is inconclusive"
                     : "");
    }
    if (low > 0 && 2 * low <= cores)
        low_cores_print(reporter, socket);
    report_line(reporter, spec.test, spec.metric, worst->best, spec.unit, code, &record);
}

static bool is_first_of_socket(const struct host_node *node, int core)
{
    for (int k = 0; k < core; k++)
        if (node->cores[k].socket == node->cores[core].socket)
            return false;
    return true;
}

static void wrong_core_report(struct reporter *reporter, const struct host_core *core,
                              uint64_t expected)
{
    uint64_t found = core->sum != expected ? core->sum : core->other;
    struct record record = RECORD_INIT;
    uint32_t wrong = core->sum != expected ? core->repeats - core->others : core->others;

    if (core->again_wrong == 0)
        record.verdict = VERDICT_UNKNOWN;
    snprintf(reporter->part, sizeof reporter->part, "cpu%d", core->cpu);
    snprintf(reporter->message, sizeof reporter->message,
             "%u of %u results differ from those of most cores of its model (0x%016llx, expected "
             "0x%016llx), and %u of %u when measured again",
             wrong, core->repeats, (unsigned long long)found, (unsigned long long)expected,
             core->again_wrong, core->again);
    report_line(reporter, "host.compute", "core_wrong", wrong, "count", FAULT_CORE_WRONG, &record);
}

static void sums_report(struct reporter *reporter)
{
    const struct host_node *node = own_node(reporter);
    struct record record = RECORD_INIT;
    uint64_t expected;
    double repeats = 0;
    int wrong = 0;

    for (int k = 0; k < node->core_count; k++)
        repeats += node->cores[k].repeats;
    if (repeats == 0)
        return;
    if (!host_expected_sum(reporter->nodes, reporter->count, reporter->node, &expected)) {
        record.verdict = VERDICT_UNKNOWN;
        snprintf(reporter->message, sizeof reporter->message,
                 "no majority result among the cores of %s: the correct result is unknown",
                 node->model);
        report_line(reporter, "host.compute", "results", repeats, "count", FAULT_CORE_WRONG,
                    &record);
        return;
    }
    for (int k = 0; k < node->core_count; k++)
        if (host_differs(&node->cores[k], expected) && wrong++ < WRONG_CORES_MOST)
            wrong_core_report(reporter, &node->cores[k], expected);
    if (wrong == 0)
        report_line(reporter, "host.compute", "results", repeats, "count", FAULT_NONE, &record);
}

static void quota_report(struct reporter *reporter)
{
    struct record record = RECORD_INIT;
    double share = own_node(reporter)->quota_share;

    if (share <= HOST_QUOTA_MOST_SHARE)
        return;
    record.limit = HOST_QUOTA_MOST_SHARE;
    snprintf(reporter->message, sizeof reporter->message,
             "the CPU quota of the job's cgroup (cpu.max) throttled it for %.0f %% of the time",
             100 * share);
    report_line(reporter, "host.compute", "quota", share, "1", FAULT_CPU_LIMITED, &record);
}

static void disk_report(struct reporter *reporter)
{
    const struct host_node *node = own_node(reporter);
    struct record record = RECORD_INIT;

    for (int figure = HOST_READ; figure < HOST_FIGURES && *node->disk; figure++) {
        snprintf(reporter->part, sizeof reporter->part, "%s", node->disk);
        value_report(reporter, (enum host_figure)figure, 0);
    }
    if (!*node->disk_text)
        return;
    snprintf(reporter->part, sizeof reporter->part, "%s", node->disk);
    snprintf(reporter->message, sizeof reporter->message, "not measured: %s", node->disk_text);
    report_line(reporter, "host.disk", "disk", NAN, NULL, FAULT_NOT_MEASURED, &record);
}

static void node_report(struct reporter *reporter)
{
    const struct host_node *node = own_node(reporter);
    struct record record = RECORD_INIT;

    reporter->part[0] = reporter->message[0] = '\0';
    if (*node->text) {
        if (node->is_skipped)
            record.verdict = VERDICT_SKIP;
        snprintf(reporter->message, sizeof reporter->message, "not measured: %s", node->text);
        report_line(reporter, "host.compute", "results", NAN, NULL,
                    node->is_skipped ? FAULT_NONE : FAULT_NOT_MEASURED, &record);
        return;
    }
    for (int k = 0; k < node->core_count; k++)
        if (is_first_of_socket(node, k))
            socket_report(reporter, node->cores[k].socket);
    sums_report(reporter);
    quota_report(reporter);
    for (int k = 0; k < node->numa_count; k++) {
        snprintf(reporter->part, sizeof reporter->part, "numa%d", node->numas[k].number);
        value_report(reporter, HOST_TRIAD, k);
    }
    disk_report(reporter);
}

/* References are those of a kind: looked for once where nodes of one follow each other. */
static void references_find(struct reporter *reporter)
{
    if (reporter->node > 0 && is_alike(own_node(reporter) - 1, own_node(reporter)))
        return;
    for (int figure = 0; figure < HOST_FIGURES; figure++)
        reporter->references[figure] = host_reference(reporter->nodes, reporter->count,
                                                      reporter->node, (enum host_figure)figure);
}

void host_evaluate(const struct host_node *nodes, size_t count, const char *const *names,
                   host_report_fn *report, void *context)
{
    struct reporter reporter = {
        .nodes = nodes, .count = count, .report = report, .context = context};

    for (size_t i = 0; i < count; i++) {
        reporter.node = i;
        reporter.name = names[i];
        references_find(&reporter);
        node_report(&reporter);
    }
}
