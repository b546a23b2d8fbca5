/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/host/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"
#include "lib/base/text.h"
#include "lib/constants/battery_constants.h"

/* Sizes of memory within a 32nd are the same: the kernel and firmware take a little. */
enum { MEMORY_ALIKE = 32, WRONG_CORES_MOST = 8 };

struct figure_spec {
    const char *test, *metric, *unit;
    const double *least; /* share of the reference */
    enum fault_code code;
};

#define DISK(metric, unit)                                                                         \
    {                                                                                              \
        "host.disk", metric, unit, &HOST_DISK_LEAST_SHARE, FAULT_DISK_SLOW                         \
    }

static const struct figure_spec specs[HOST_FIGURES] = {
    [HOST_RATE] = {"host.compute", "core_rate", "GFLOP/s", &HOST_CORE_LEAST_SHARE, FAULT_CORE_SLOW},
    [HOST_TRIAD] = {"host.memory", "triad", "GB/s", &HOST_MEMORY_LEAST_SHARE, FAULT_MEMORY_SLOW},
    [HOST_READ] = DISK("disk_read", "MB/s"),
    [HOST_WRITE] = DISK("disk_write", "MB/s"),
    [HOST_IOPS] = DISK("disk_reads", "1/s"),
};

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

/* Whether the figure is judged. Arrays that are too small are in the cache. */
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
    double limit = *specs[figure].least * reference;

    return is_below(&nodes[node], figure, index, limit) &&
           !is_common(nodes, count, node, figure, index, limit);
}

bool host_expected_sum(const struct host_node *nodes, size_t count, size_t node, uint64_t *expected)
{
    uint64_t candidate = 0;
    size_t lead = 0, cores = 0, same = 0;

    /* majority vote (Boyer and Moore, 1981): what is left when different ones are struck out in
     * pairs */
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
    const struct record_sink *sink;
};

/* A record of a part of the node. */
#define OF(reporter, part_, ...) RECORD(.node = (reporter)->name, .part = part_, __VA_ARGS__)

static const struct host_node *own_node(const struct reporter *reporter)
{
    return &reporter->nodes[reporter->node];
}

static void limit_set(const struct reporter *reporter, enum host_figure figure,
                      struct record *record)
{
    if (!isfinite(reporter->references[figure]) || !is_judged(own_node(reporter), figure))
        return;
    record->limit = *specs[figure].least * reporter->references[figure];
    record->limit_source = "peers";
}

static bool is_low(const struct reporter *reporter, enum host_figure figure, int index)
{
    return host_is_low(reporter->nodes, reporter->count, reporter->node, figure, index,
                       reporter->references[figure]);
}

/* Sets the code of a low figure. If the thread was not scheduled that is FAULT_NOT_STEADY, with
 * verdict UNKNOWN; or SKIP, where the fault would be a warning, so that a certificate is not
 * withheld for it. */
static void code_set(enum host_figure figure, const struct host_value *value, struct record *record)
{
    record->code = specs[figure].code;
    if (value->stalled <= HOST_STALLED_MOST_SHARE)
        return;
    record->verdict =
        catalog_fault(record->code)->severity == VERDICT_WARN ? VERDICT_SKIP : VERDICT_UNKNOWN;
    record->code = FAULT_NOT_STEADY;
}

static void value_report(const struct reporter *reporter, enum host_figure figure, int index,
                         const char *part)
{
    const struct host_value *value = value_of(own_node(reporter), figure, index);
    const struct figure_spec *spec = &specs[figure];
    struct record record =
        OF(reporter, part, .test = spec->test, .metric = spec->metric, .unit = spec->unit,
           .value = value->best, .low = value->lowest, .high = value->best,
           .samples = (unsigned)value->samples, .stalled = value->stalled);

    if (value->best <= 0)
        return;
    limit_set(reporter, figure, &record);
    if (is_low(reporter, figure, index)) {
        code_set(figure, value, &record);
        record_report(reporter->sink, record, "reaches %.4g, its peers %.4g %s%s", record.value,
                      reporter->references[figure], spec->unit,
                      record.code == FAULT_NOT_STEADY
                          ? "; it was not scheduled, so this figure is inconclusive"
                          : "");
    } else if (figure == HOST_TRIAD && own_node(reporter)->array_share < 1) {
        record.verdict = VERDICT_SKIP;
        record_report(reporter->sink, record,
                      "not evaluated: free memory allows arrays of only %.2g of their size, so "
                      "this figure includes the cache",
                      own_node(reporter)->array_share);
    } else {
        record_report_pass(reporter->sink, record);
    }
}

/* Writes the low cores of the socket, "cpu3,7,8", as far as there is room. */
static void low_cores_print(const struct reporter *reporter, int socket, char *part, size_t size)
{
    const struct host_node *node = own_node(reporter);

    *part = '\0';
    for (int k = 0; k < node->core_count; k++)
        if (node->cores[k].socket == socket && is_low(reporter, HOST_RATE, k) &&
            strlen(part) < size - 8)
            text_join(part, size, ",", "%s%d", *part ? "" : "cpu", node->cores[k].cpu);
}

/* Whether a low core is better evidence than the other one: only it was scheduled, or both or
 * neither were and it is the slower one. */
static bool is_worse(const struct host_value *rate, const struct host_value *other)
{
    bool ran = rate->stalled <= HOST_STALLED_MOST_SHARE;

    if (!other || ran != (other->stalled <= HOST_STALLED_MOST_SHARE))
        return !other || ran;
    return rate->best < other->best;
}

/* Reports one record for the cores of a socket, with the slowest core, or the worst of the low
 * ones. The part is the low cores if these are half of them at most, else the socket. */
static void socket_report(const struct reporter *reporter, int socket)
{
    const struct host_node *node = own_node(reporter);
    const struct host_value *slowest = NULL, *worst = NULL, *best = NULL;
    const struct figure_spec *spec = &specs[HOST_RATE];
    struct record record;
    int cores = 0, low = 0;
    char part[96];

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
    snprintf(part, sizeof part, "socket%d", socket);
    if (low > 0 && 2 * low <= cores)
        low_cores_print(reporter, socket, part, sizeof part);
    record = OF(reporter, part, .test = spec->test, .metric = spec->metric, .unit = spec->unit,
                .value = worst->best, .low = slowest->best, .high = best->best,
                .samples = (unsigned)cores);
    limit_set(reporter, HOST_RATE, &record);
    if (low == 0) {
        record_report_pass(reporter->sink, record);
        return;
    }
    code_set(HOST_RATE, worst, &record);
    record_report(reporter->sink, record,
                  "%d of %d cores are slow: the slowest reaches %.4g, its peers %.4g %s%s", low,
                  cores, record.value, reporter->references[HOST_RATE], spec->unit,
                  record.code == FAULT_NOT_STEADY
                      ? "; its hypervisor did not schedule it, so this figure is inconclusive"
                      : "");
}

static bool is_first_of_socket(const struct host_node *node, int core)
{
    for (int k = 0; k < core; k++)
        if (node->cores[k].socket == node->cores[core].socket)
            return false;
    return true;
}

static void wrong_core_report(const struct reporter *reporter, const struct host_core *core,
                              uint64_t expected)
{
    uint64_t found = core->sum != expected ? core->sum : core->other;
    uint32_t wrong = core->sum != expected ? core->repeats - core->others : core->others;
    char part[16];

    snprintf(part, sizeof part, "cpu%d", core->cpu);
    record_report(reporter->sink,
                  OF(reporter, part, .test = "host.compute", .metric = "core_wrong", .value = wrong,
                     .unit = "count", .code = FAULT_CORE_WRONG,
                     .verdict = core->again_wrong == 0 ? VERDICT_UNKNOWN : VERDICT_NONE),
                  "%u of %u results differ from those of most cores of its model (0x%016llx, "
                  "expected 0x%016llx), and %u of %u when measured again",
                  wrong, core->repeats, (unsigned long long)found, (unsigned long long)expected,
                  core->again_wrong, core->again);
}

static void sums_report(const struct reporter *reporter)
{
    const struct host_node *node = own_node(reporter);
    struct record record =
        OF(reporter, "", .test = "host.compute", .metric = "results", .value = 0, .unit = "count");
    uint64_t expected;
    int wrong = 0;

    for (int k = 0; k < node->core_count; k++)
        record.value += node->cores[k].repeats;
    if (record.value == 0)
        return;
    if (!host_expected_sum(reporter->nodes, reporter->count, reporter->node, &expected)) {
        record.verdict = VERDICT_UNKNOWN;
        record.code = FAULT_CORE_WRONG;
        record_report(reporter->sink, record,
                      "no majority result among the cores of %s: the correct result is unknown",
                      node->model);
        return;
    }
    for (int k = 0; k < node->core_count; k++)
        if (host_differs(&node->cores[k], expected) && wrong++ < WRONG_CORES_MOST)
            wrong_core_report(reporter, &node->cores[k], expected);
    if (wrong == 0)
        record_report_pass(reporter->sink, record);
}

static void quota_report(const struct reporter *reporter)
{
    double share = own_node(reporter)->quota_share;

    if (share > HOST_QUOTA_MOST_SHARE)
        record_report(
            reporter->sink,
            OF(reporter, "", .test = "host.compute", .metric = "quota", .value = share, .unit = "1",
               .limit = HOST_QUOTA_MOST_SHARE, .code = FAULT_CPU_LIMITED),
            "the CPU quota of the job's cgroup (cpu.max) throttled it for %.0f %% of the time",
            100 * share);
}

static void disk_report(const struct reporter *reporter)
{
    const struct host_node *node = own_node(reporter);

    for (int figure = HOST_READ; figure < HOST_FIGURES && *node->disk; figure++)
        value_report(reporter, (enum host_figure)figure, 0, node->disk);
    if (*node->disk_text)
        record_report(reporter->sink,
                      OF(reporter, node->disk, .test = "host.disk", .metric = "disk",
                         .code = FAULT_NOT_MEASURED),
                      "not measured: %s", node->disk_text);
}

static void node_report(const struct reporter *reporter)
{
    const struct host_node *node = own_node(reporter);
    char part[16];

    if (*node->text) {
        record_report(reporter->sink,
                      OF(reporter, "", .test = "host.compute", .metric = "results",
                         .verdict = node->is_skipped ? VERDICT_SKIP : VERDICT_NONE,
                         .code = node->is_skipped ? FAULT_NONE : FAULT_NOT_MEASURED),
                      "not measured: %s", node->text);
        return;
    }
    for (int k = 0; k < node->core_count; k++)
        if (is_first_of_socket(node, k))
            socket_report(reporter, node->cores[k].socket);
    sums_report(reporter);
    quota_report(reporter);
    for (int k = 0; k < node->numa_count; k++) {
        snprintf(part, sizeof part, "numa%d", node->numas[k].number);
        value_report(reporter, HOST_TRIAD, k, part);
    }
    disk_report(reporter);
}

/* Finds the references of the kind of the node, once for nodes of one kind that follow each
 * other. */
static void references_find(struct reporter *reporter)
{
    if (reporter->node > 0 && is_alike(own_node(reporter) - 1, own_node(reporter)))
        return;
    for (int figure = 0; figure < HOST_FIGURES; figure++)
        reporter->references[figure] = host_reference(reporter->nodes, reporter->count,
                                                      reporter->node, (enum host_figure)figure);
}

void host_evaluate(const struct host_node *nodes, size_t count, const char *const *names,
                   const struct record_sink *sink)
{
    struct reporter reporter = {.nodes = nodes, .count = count, .sink = sink};

    for (size_t i = 0; i < count; i++) {
        reporter.node = i;
        reporter.name = names[i];
        references_find(&reporter);
        node_report(&reporter);
    }
}
