/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/gpu/group_evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"

/* Nodes of one kind differ little: their devices' clocks count for nothing here. */
#define GROUP_LEAST 0.85

static const char test[] = "gpu.collectives";

static double bandwidth(enum collective collective, int ranks, double bytes, double ms)
{
    return ms > 0 && ranks > 1 ? bytes * collective_bus_factor(collective, ranks) / ms / 1e6 : 0;
}

double group_bandwidth(const struct group_result *result, enum collective collective)
{
    return bandwidth(collective, result->ranks, result->bytes, result->ms[collective]);
}

/* Of two the better; NAN of fewer. */
static double middle(const double *samples, size_t count)
{
    if (count == 2)
        return fmax(samples[0], samples[1]);
    return count > 2 ? statistics_median(samples, count) : NAN;
}

int group_version(const struct group_node *nodes, size_t count)
{
    int best = 0;
    size_t most = 0;

    for (size_t i = 0; i < count; i++) {
        size_t alike = 0;

        if (nodes[i].count == 0 || nodes[i].version == 0)
            continue;
        for (size_t k = 0; k < count; k++)
            alike += nodes[k].count > 0 && nodes[k].version == nodes[i].version;
        if (alike > most || (alike == most && nodes[i].version > best)) {
            most = alike;
            best = nodes[i].version;
        }
    }
    return best;
}

/* Nodes of as many devices of the same model. */
static bool is_alike(const struct gpu_node *devices, const struct group_node *nodes, size_t one,
                     size_t other)
{
    return nodes[one].count == nodes[other].count &&
           strcmp(devices[one].devices[0].model, devices[other].devices[0].model) == 0;
}

static double reference_of(const struct gpu_node *devices, const struct group_node *nodes,
                           size_t count, size_t node, enum collective collective)
{
    double *samples = malloc((count + 1) * sizeof *samples), reference;
    size_t found = 0;

    for (size_t i = 0; samples && i < count; i++) {
        double value = group_bandwidth(&nodes[i].within, collective);

        if (value > 0 && is_alike(devices, nodes, i, node))
            samples[found++] = value;
    }
    reference = samples ? middle(samples, found) : NAN;
    free(samples);
    return reference;
}

bool group_is_low(const struct gpu_node *devices, const struct group_node *nodes, size_t count,
                  size_t node, enum collective collective)
{
    double value = group_bandwidth(&nodes[node].within, collective);

    return value > 0 && value < GROUP_LEAST * reference_of(devices, nodes, count, node, collective);
}

/* ---------------------------------------------------------------- suspects */

static double pair_bandwidth(const struct group_node *node, int i, int k)
{
    return bandwidth(COLLECTIVE_ALL_REDUCE, 2, node->pairs[i][k].bytes, node->pairs[i][k].ms);
}

/* The median where three quarters of three samples and more are within a fifth of it. */
static double common(const double *samples, size_t count)
{
    double reference = count > 2 ? statistics_median(samples, count) : NAN;
    size_t near = 0;

    for (size_t i = 0; i < count; i++)
        near += fabs(samples[i] - reference) <= 0.2 * reference;
    return 4 * near >= 3 * count ? reference : NAN;
}

/* What the pair should reach: of three nodes of the kind and more the median of the same pair; else
 * what the node's pairs without that device (-1: all) have in common, as pairs may differ by how
 * they are connected. */
static double pair_reference(const struct gpu_node *devices, const struct group_node *nodes,
                             size_t count, size_t node, int i, int k, int without)
{
    size_t size = count > WORKERS * WORKERS ? count : WORKERS * WORKERS, found = 0;
    double *samples = malloc(size * sizeof *samples), reference;

    for (size_t n = 0; samples && n < count; n++)
        if (nodes[n].pairs[i][k].state == PAIR_DONE && is_alike(devices, nodes, n, node))
            samples[found++] = pair_bandwidth(&nodes[n], i, k);
    if (samples && found > 2) {
        reference = statistics_median(samples, found);
        free(samples);
        return reference;
    }
    found = 0;
    for (int a = 0; samples && a < WORKERS; a++)
        for (int b = a + 1; b < WORKERS; b++)
            if (nodes[node].pairs[a][b].state == PAIR_DONE && a != without && b != without)
                samples[found++] = pair_bandwidth(&nodes[node], a, b);
    reference = samples ? common(samples, found) : NAN;
    free(samples);
    return reference;
}

static bool pair_is_slow(const struct gpu_node *devices, const struct group_node *nodes,
                         size_t count, size_t node, int i, int k, int without)
{
    return nodes[node].pairs[i][k].state == PAIR_DONE &&
           pair_bandwidth(&nodes[node], i, k) <
               GPU_PEER_LEAST * pair_reference(devices, nodes, count, node, i, k, without);
}

unsigned group_suspects(const struct gpu_node *devices, const struct group_node *nodes,
                        size_t count, size_t node, bool is_slow)
{
    unsigned suspects = 0;
    int seen = 0, found = 0;

    for (int i = 0; i < WORKERS; i++) {
        int measured = 0, bad = 0;

        for (int k = 0; k < WORKERS; k++) {
            int state = nodes[node].pairs[i][k].state;

            measured += state != PAIR_NONE;
            bad += is_slow ? pair_is_slow(devices, nodes, count, node, i, k, i)
                           : state == PAIR_WRONG || state == PAIR_BROKEN;
        }
        seen += measured > 0;
        if (measured >= 2 && bad == measured) {
            suspects |= 1U << i;
            found++;
        }
    }
    return 2 * found < seen ? suspects : 0;
}

static double node_median(const struct group_node *node)
{
    double samples[GROUP_ROUNDS];
    size_t found = 0;

    for (int i = 0; i < GROUP_ROUNDS; i++)
        if (node->rounds[i].state == PAIR_DONE)
            samples[found++] = node->rounds[i].bandwidth;
    return found > 0 ? statistics_median(samples, found) : NAN;
}

/* What the pairs without that node have in common. */
static double node_reference(const struct group_node *nodes, size_t count, size_t without)
{
    double *samples = malloc((count * GROUP_ROUNDS + 1) * sizeof *samples), reference;
    size_t found = 0;

    for (size_t i = 0; samples && i < count; i++)
        for (int r = 0; r < GROUP_ROUNDS; r++)
            if (nodes[i].rounds[r].state == PAIR_DONE && i != without &&
                (size_t)nodes[i].rounds[r].partner != without)
                samples[found++] = nodes[i].rounds[r].bandwidth;
    reference = samples ? common(samples, found) : NAN;
    free(samples);
    return reference;
}

bool group_is_suspect(const struct group_node *nodes, size_t count, size_t node, bool is_slow)
{
    double reference = is_slow ? node_reference(nodes, count, node) : NAN;
    int measured = 0, bad = 0;

    for (int r = 0; r < GROUP_ROUNDS; r++) {
        int state = nodes[node].rounds[r].state;

        measured += state != PAIR_NONE;
        if (is_slow)
            bad += state == PAIR_DONE && nodes[node].rounds[r].bandwidth < GROUP_LEAST * reference;
        else
            bad += state == PAIR_WRONG || state == PAIR_BROKEN;
    }
    return measured >= 2 && bad == measured;
}

/* ---------------------------------------------------------------- records */

struct reporter {
    const struct gpu_node *devices;
    const struct group_node *nodes;
    size_t count, node;
    const char *const *names;
    gpu_report_fn *report;
    void *context;
    char part[64], metric[32], message[400];
};

static void report_line(struct reporter *reporter, const char *metric, double value,
                        enum fault_code code, struct record *rest)
{
    rest->test = test;
    rest->metric = metric;
    rest->part = reporter->part;
    rest->value = value;
    rest->code = code;
    if (rest->verdict == VERDICT_NONE)
        rest->verdict = code == FAULT_NONE ? VERDICT_PASS : catalog_fault(code)->severity;
    rest->message = reporter->message;
    reporter->report(rest, reporter->context);
    reporter->part[0] = reporter->message[0] = '\0';
}

static enum fault_code code_of(enum worker_outcome outcome)
{
    switch (outcome) {
    case WORKER_WRONG:
        return FAULT_GPU_COLLECTIVE_WRONG;
    case WORKER_HUNG:
        return FAULT_GPU_COLLECTIVE_HUNG;
    case WORKER_ERROR:
    case WORKER_DIED:
        return FAULT_GPU_COLLECTIVE_FAILED;
    case WORKER_DONE:
    case WORKER_NOT_TESTED:
    case WORKER_NO_DEVICE:
    case WORKER_SLOW:
        break;
    }
    return FAULT_NOT_MEASURED;
}

static unsigned suspects_of(const struct reporter *reporter, bool is_slow)
{
    return group_suspects(reporter->devices, reporter->nodes, reporter->count, reporter->node,
                          is_slow);
}

/* "gpu1 gpu5", by the inventory's numbers. */
static void write_parts(const struct gpu_node *node, unsigned devices, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (int i = 0; i < node->count && length < size; i++)
        if (devices >> i & 1)
            length += (size_t)snprintf(text + length, size - length, "%sgpu%d",
                                       length > 0 ? " " : "", node->devices[i].part);
}

static void write_version(int version, char text[32])
{
    snprintf(text, 32, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

/* Whether nodes have been tested: then one that has no library differs from them. */
static void report_library(struct reporter *reporter, int version)
{
    const struct group_node *node = &reporter->nodes[reporter->node];
    struct record record = RECORD(.node = reporter->names[reporter->node]);
    char own[32], others[32];

    write_version(node->version, own);
    write_version(version, others);
    if (node->outcome == WORKER_NOT_TESTED && version > 0) {
        snprintf(reporter->message, sizeof reporter->message, "other nodes have NCCL %s, here: %s",
                 others, node->text);
        report_line(reporter, "library", NAN, FAULT_GPU_COLLECTIVE_VERSION, &record);
    } else if (node->outcome != WORKER_DONE) {
        if (node->outcome == WORKER_NOT_TESTED)
            record.verdict = VERDICT_SKIP;
        snprintf(reporter->message, sizeof reporter->message, "not tested: %s", node->text);
        report_line(reporter, "library", NAN,
                    record.verdict == VERDICT_SKIP ? FAULT_NONE : code_of(node->outcome), &record);
    } else if (node->version != version) {
        snprintf(reporter->message, sizeof reporter->message,
                 "NCCL %s, but %s on most nodes; not tested across nodes", own, others);
        report_line(reporter, "library", NAN, FAULT_GPU_COLLECTIVE_VERSION, &record);
    } else if (node->within.ranks == 1 && node->within.outcome == WORKER_DONE) {
        snprintf(reporter->message, sizeof reporter->message, "NCCL %s works with its one device",
                 own);
        report_line(reporter, "library", NAN, FAULT_NONE, &record);
    }
}

/* What ended a group, or was wrong in it. */
static void write_end(const struct group_result *result, char *text, size_t size)
{
    const char *name = result->collective >= 0 ? collective_names[result->collective] : NULL;

    if (result->outcome == WORKER_WRONG)
        snprintf(text, size, "%llu wrong elements among %d devices, in %s first: %s", result->wrong,
                 result->ranks, name, result->text);
    else
        snprintf(text, size, "%s among %d devices: %s", name ? name : "forming a communicator",
                 result->ranks, result->text);
}

static void report_within(struct reporter *reporter)
{
    const struct group_node *node = &reporter->nodes[reporter->node];
    const struct gpu_node *devices = &reporter->devices[reporter->node];
    const char *name = reporter->names[reporter->node];
    const struct group_result *result = &node->within;
    unsigned slow = suspects_of(reporter, true);

    if (!result->is_measured)
        return;
    for (int i = 0; i < COLLECTIVES; i++) {
        enum collective collective = (enum collective)i;
        double value = group_bandwidth(result, collective), reference;
        struct record record = RECORD(.node = name, .unit = "GB/s");
        bool is_low = group_is_low(reporter->devices, reporter->nodes, reporter->count,
                                   reporter->node, collective);

        if (value <= 0)
            continue;
        reference = reference_of(reporter->devices, reporter->nodes, reporter->count,
                                 reporter->node, collective);
        if (isfinite(reference)) {
            record.limit = GROUP_LEAST * reference;
            record.limit_source = "peers";
        }
        if (is_low) {
            write_parts(devices, slow, reporter->part, sizeof reporter->part);
            snprintf(reporter->message, sizeof reporter->message,
                     "%s of %d devices reaches %.4g of its peers' %.4g GB/s", collective_names[i],
                     result->ranks, value, reference);
        } else {
            snprintf(reporter->message, sizeof reporter->message,
                     "%d devices, %.4g MB, algorithm bandwidth %.4g GB/s", result->ranks,
                     (double)result->bytes / 1e6,
                     value / collective_bus_factor(collective, result->ranks));
        }
        report_line(reporter, collective_names[i], value,
                    is_low ? FAULT_GPU_COLLECTIVE_SLOW : FAULT_NONE, &record);
    }
    if (result->outcome != WORKER_DONE) {
        unsigned suspects = suspects_of(reporter, false);
        struct record record = RECORD(.node = name);

        write_end(result, reporter->message, sizeof reporter->message);
        write_parts(devices, suspects ? suspects : result->wrong_devices, reporter->part,
                    sizeof reporter->part);
        report_line(reporter, "device", NAN, code_of(result->outcome), &record);
    }
}

/* The pair of a slow device that is the slowest; or a slow pair. */
static void report_pair(struct reporter *reporter, int i, int k, unsigned parts, int without)
{
    const struct gpu_node *devices = &reporter->devices[reporter->node];
    double value = pair_bandwidth(&reporter->nodes[reporter->node], i, k),
           reference = pair_reference(reporter->devices, reporter->nodes, reporter->count,
                                      reporter->node, i, k, without);
    struct record record = RECORD(.node = reporter->names[reporter->node], .unit = "GB/s",
                                  .limit = GPU_PEER_LEAST * reference, .limit_source = "peers");

    write_parts(devices, parts, reporter->part, sizeof reporter->part);
    snprintf(reporter->message, sizeof reporter->message,
             "all_reduce of gpu%d and gpu%d%s reaches %.4g of the other pairs' %.4g GB/s",
             devices->devices[i].part, devices->devices[k].part,
             without >= 0 ? ", and with each other one," : "", value, reference);
    report_line(reporter, "all_reduce", value, FAULT_GPU_COLLECTIVE_SLOW, &record);
}

static void report_pairs(struct reporter *reporter)
{
    const struct group_node *node = &reporter->nodes[reporter->node];
    unsigned slow = suspects_of(reporter, true);

    for (int i = 0; i < WORKERS; i++) {
        int slowest = -1;

        for (int k = 0; k < WORKERS; k++) {
            if (node->pairs[i][k].state != PAIR_DONE)
                continue;
            if (slowest < 0 || node->pairs[i][k].ms > node->pairs[i][slowest].ms)
                slowest = k;
            if (k > i && !(slow >> i & 1) && !(slow >> k & 1) &&
                pair_is_slow(reporter->devices, reporter->nodes, reporter->count, reporter->node, i,
                             k, -1))
                report_pair(reporter, i, k, 1U << i | 1U << k, -1);
        }
        if (slow >> i & 1)
            report_pair(reporter, i, slowest, 1U << i, i);
    }
}

/* The first node of the group that has something to say of how it ended. */
static const struct group_node *first_told(const struct reporter *reporter, size_t *node)
{
    const struct group_node *told = NULL;

    for (size_t i = 0; i < reporter->count; i++) {
        const struct group_result *result = &reporter->nodes[i].across;

        if (!result->is_measured || result->outcome == WORKER_DONE)
            continue;
        if (!told || (!*told->across.text && *result->text)) {
            told = &reporter->nodes[i];
            *node = i;
        }
    }
    return told;
}

/* What is of no node's has no more than a warning: the network may be at fault, or what uses it. */
static void report_across(struct reporter *reporter)
{
    const struct group_node *told;
    const struct group_result *result = NULL;
    size_t node = 0;

    for (size_t i = 0; i < reporter->count && !result; i++)
        if (reporter->nodes[i].across.is_measured)
            result = &reporter->nodes[i].across;
    if (!result)
        return;
    for (int i = 0; i < COLLECTIVES; i++) {
        enum collective collective = (enum collective)i;
        double value = group_bandwidth(result, collective);
        struct record record = RECORD(.unit = "GB/s");

        if (value <= 0)
            continue;
        snprintf(reporter->metric, sizeof reporter->metric, "%s_nodes", collective_names[i]);
        snprintf(reporter->message, sizeof reporter->message,
                 "%d devices, %.4g MB, algorithm bandwidth %.4g GB/s", result->ranks,
                 (double)result->bytes / 1e6,
                 value / collective_bus_factor(collective, result->ranks));
        report_line(reporter, reporter->metric, value, FAULT_NONE, &record);
    }
    told = first_told(reporter, &node);
    if (told) {
        struct record record = RECORD(.verdict = VERDICT_WARN);
        char text[300];

        write_end(&told->across, text, sizeof text);
        snprintf(reporter->message, sizeof reporter->message, "across nodes, told by %s: %s",
                 reporter->names[node], text);
        report_line(reporter, "device", NAN, code_of(told->across.outcome), &record);
    }
}

static void report_suspect(struct reporter *reporter)
{
    struct record record = RECORD(.node = reporter->names[reporter->node], .verdict = VERDICT_WARN);
    size_t node = reporter->node;
    double reference = node_reference(reporter->nodes, reporter->count, node);

    if (group_is_suspect(reporter->nodes, reporter->count, node, false)) {
        int wrong = 0;

        for (int r = 0; r < GROUP_ROUNDS; r++)
            wrong += reporter->nodes[node].rounds[r].state == PAIR_WRONG;
        if (wrong)
            record.verdict = VERDICT_NONE; /* a wrong result is no network's load */
        snprintf(reporter->message, sizeof reporter->message,
                 "all_reduce with each other node that was tried is %s",
                 wrong ? "wrong" : "not brought to its end");
        report_line(reporter, "device", NAN,
                    wrong ? FAULT_GPU_COLLECTIVE_WRONG : FAULT_GPU_COLLECTIVE_HUNG, &record);
    } else if (group_is_suspect(reporter->nodes, reporter->count, node, true)) {
        double value = node_median(&reporter->nodes[node]);

        record.unit = "GB/s";
        record.limit = GROUP_LEAST * reference;
        record.limit_source = "peers";
        snprintf(reporter->message, sizeof reporter->message,
                 "all_reduce with each other node that was tried reaches %.4g of the other pairs' "
                 "%.4g GB/s",
                 value, reference);
        report_line(reporter, "all_reduce_nodes", value, FAULT_GPU_COLLECTIVE_SLOW, &record);
    }
}

void group_evaluate(const struct gpu_node *devices, const struct group_node *nodes, size_t count,
                    const char *const *names, gpu_report_fn *report, void *context)
{
    struct reporter reporter = {.devices = devices,
                                .nodes = nodes,
                                .count = count,
                                .names = names,
                                .report = report,
                                .context = context};
    int version = group_version(nodes, count);

    for (reporter.node = 0; reporter.node < count; reporter.node++) {
        if (nodes[reporter.node].count == 0 && nodes[reporter.node].outcome == WORKER_DONE)
            continue;
        report_library(&reporter, version);
        report_within(&reporter);
        report_pairs(&reporter);
        report_suspect(&reporter);
    }
    report_across(&reporter);
}
