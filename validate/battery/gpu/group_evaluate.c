/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/gpu/group_evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"
#include "lib/base/text.h"
#include "lib/constants/battery_constants.h"

enum { PART = 64 };

struct reporter {
    const struct gpu_node *devices;
    const struct group_node *nodes;
    size_t count, node, *kinds; /* kinds: of each node the first one that is like it */
    double *samples;            /* for as many as there may be */
    /* what a pair of devices, and all, of nodes like this should reach; NAN: not yet known */
    double pairs[GPU_DEVICES_MOST][GPU_DEVICES_MOST], rates[COLLECTIVES];
    const char *const *names;
    const struct record_sink *sink;
};

#define OF(metric_, ...) RECORD(.test = "gpu.collectives", .metric = metric_, __VA_ARGS__)

/* Returns the first node like this one: as many devices, of the same models at the same PCI
 * addresses, and as many of them in its group. */
static size_t kind_of(const struct gpu_node *devices, const struct group_node *nodes,
                      const size_t *kinds, size_t node)
{
    for (size_t i = 0; i < node; i++)
        if (kinds[i] == i && nodes[i].count == nodes[node].count &&
            gpu_is_same_node(&devices[i], &devices[node]))
            return i;
    return node;
}

/* Sets a reporter up, to be released with reporter_clear(). Returns false if memory is out. */
static bool reporter_set(struct reporter *reporter, const struct gpu_node *devices,
                         const struct group_node *nodes, size_t count)
{
    size_t samples = count * GROUP_ROUNDS + GPU_DEVICES_MOST * GPU_PEERS_MOST;

    *reporter = (struct reporter){.devices = devices, .nodes = nodes, .count = count};
    reporter->kinds = malloc((count + 1) * sizeof *reporter->kinds);
    reporter->samples = malloc(samples * sizeof *reporter->samples);
    if (!reporter->kinds || !reporter->samples)
        return false;
    for (size_t i = 0; i < count; i++)
        reporter->kinds[i] = kind_of(devices, nodes, reporter->kinds, i);
    return true;
}

static void reporter_clear(struct reporter *reporter)
{
    free(reporter->kinds);
    free(reporter->samples);
}

static double bandwidth(enum collective collective, int ranks, double bytes, double ms)
{
    return ms > 0 && ranks > 1 ? bytes * collective_bus_factor(collective, ranks) / ms / 1e6 : 0;
}

double group_bandwidth(const struct group_result *result, enum collective collective)
{
    return bandwidth(collective, result->ranks, result->bytes, result->ms[collective]);
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

static bool is_alike(const struct reporter *reporter, size_t other)
{
    return reporter->kinds[reporter->node] == reporter->kinds[other];
}

/* Forgets the references: for a node of another kind than the one before, or the first. */
static void reporter_forget(struct reporter *reporter)
{
    for (int i = 0; i < GPU_DEVICES_MOST; i++)
        for (int k = 0; k < GPU_DEVICES_MOST; k++)
            reporter->pairs[i][k] = NAN;
    for (int i = 0; i < COLLECTIVES; i++)
        reporter->rates[i] = NAN;
}

static double reference_of(struct reporter *reporter, enum collective collective)
{
    size_t found = 0;

    if (!isnan(reporter->rates[collective]))
        return reporter->rates[collective];
    for (size_t i = 0; i < reporter->count; i++) {
        double value = group_bandwidth(&reporter->nodes[i].within, collective);

        if (value > 0 && is_alike(reporter, i))
            reporter->samples[found++] = value;
    }
    return reporter->rates[collective] = gpu_middle(reporter->samples, found);
}

bool group_is_low(const struct gpu_node *devices, const struct group_node *nodes, size_t count,
                  size_t node)
{
    struct reporter reporter;
    bool is_ready = reporter_set(&reporter, devices, nodes, count), is_low = false;

    reporter.node = node;
    reporter_forget(&reporter);
    for (int i = 0; i < COLLECTIVES && is_ready; i++) {
        double value = group_bandwidth(&nodes[node].within, (enum collective)i);

        is_low = is_low || (value > 0 && value < GPU_COLLECTIVE_LEAST_SHARE *
                                                     reference_of(&reporter, (enum collective)i));
    }
    reporter_clear(&reporter);
    return is_low;
}

/* ---------------------------------------------------------------- suspects */

static double pair_bandwidth(const struct gpu_pair *pair)
{
    return bandwidth(COLLECTIVE_ALL_REDUCE, 2, pair->bytes, pair->ms);
}

/* Returns what the pair did on that node, or NULL if it was not measured. */
static const struct gpu_pair *pair_of(const struct gpu_node *node, int i, int k)
{
    return i < node->count ? gpu_pair_find(&node->devices[i], k) : NULL;
}

/* Returns what more than two samples have in common, or NAN: two may differ by how they are
 * connected. */
static double common(const struct reporter *reporter, size_t count)
{
    return count > 2 ? gpu_common(reporter->samples, count) : NAN;
}

/* Returns the median of what the pair reaches on nodes of the kind, or NAN if these are less than
 * three. */
static double reference_of_nodes(const struct reporter *reporter, int i, int k)
{
    size_t found = 0;

    for (size_t n = 0; n < reporter->count; n++) {
        const struct gpu_pair *pair = pair_of(&reporter->devices[n], i, k);

        if (pair && pair->state == PAIR_DONE && is_alike(reporter, n))
            reporter->samples[found++] = pair_bandwidth(pair);
    }
    return found > 2 ? gpu_middle(reporter->samples, found) : NAN;
}

/* Returns what the pair should reach: as on other nodes of the kind or, if that is not known, what
 * the pairs of the node without the device `without` (-1: all pairs) have in common. */
static double pair_reference(struct reporter *reporter, int i, int k, int without)
{
    const struct gpu_node *own = &reporter->devices[reporter->node];
    double *known = &reporter->pairs[i][k];
    size_t found = 0;

    if (isnan(*known))
        *known = reference_of_nodes(reporter, i, k);
    if (isfinite(*known))
        return *known;
    for (int a = 0; a < own->count; a++)
        for (int p = 0; p < own->devices[a].pair_count; p++) {
            const struct gpu_pair *pair = &own->devices[a].pairs[p];

            if (pair->with > a && pair->state == PAIR_DONE && a != without && pair->with != without)
                reporter->samples[found++] = pair_bandwidth(pair);
        }
    return common(reporter, found);
}

/* Whether a pair of device i is slow. without: see pair_reference(). */
static bool pair_is_slow(struct reporter *reporter, int i, const struct gpu_pair *pair, int without)
{
    return pair->state == PAIR_DONE &&
           pair_bandwidth(pair) <
               GPU_PEER_LEAST_SHARE * pair_reference(reporter, i, pair->with, without);
}

static bool is_bad(int state)
{
    return state == PAIR_WRONG || state == PAIR_BROKEN;
}

/* Returns the devices of the node that are bad, or slow, in all their pairs, at least two, if less
 * than half of them are. */
static struct device_set suspects_of(struct reporter *reporter, bool is_slow)
{
    const struct gpu_node *node = &reporter->devices[reporter->node];
    struct device_set suspects = {{0}};
    int seen = 0;

    for (int i = 0; i < node->count; i++) {
        int measured = 0, bad = 0;

        for (int p = 0; p < node->devices[i].pair_count; p++) {
            const struct gpu_pair *pair = &node->devices[i].pairs[p];

            measured += pair->state != PAIR_NONE;
            bad += is_slow ? pair_is_slow(reporter, i, pair, i) : is_bad((int)pair->state);
        }
        seen += measured > 0;
        if (measured >= 2 && bad == measured)
            device_set_add(&suspects, i);
    }
    return 2 * device_set_count(&suspects) < seen ? suspects : (struct device_set){{0}};
}

/* Returns what the pairs of nodes have in common, without those of this node. */
static double node_reference(const struct reporter *reporter)
{
    size_t found = 0;

    for (size_t i = 0; i < reporter->count; i++)
        for (int r = 0; r < GROUP_ROUNDS; r++)
            if (reporter->nodes[i].rounds[r].state == PAIR_DONE && i != reporter->node &&
                (size_t)reporter->nodes[i].rounds[r].partner != reporter->node)
                reporter->samples[found++] = reporter->nodes[i].rounds[r].bandwidth;
    return common(reporter, found);
}

/* Whether all pairs of the node, at least two, are bad or, if least is given, below least. */
static bool is_suspect(const struct reporter *reporter, double least)
{
    int measured = 0, bad = 0;

    for (int r = 0; r < GROUP_ROUNDS; r++) {
        int state = reporter->nodes[reporter->node].rounds[r].state;
        double value = reporter->nodes[reporter->node].rounds[r].bandwidth;

        measured += state != PAIR_NONE;
        bad += least > 0 ? state == PAIR_DONE && value < least : is_bad(state);
    }
    return measured >= 2 && bad == measured;
}

/* ---------------------------------------------------------------- records */

static enum fault_code code_of(enum worker_outcome outcome)
{
    static const enum fault_code codes[WORKER_DIED + 1] = {
        [WORKER_WRONG] = FAULT_GPU_COLLECTIVE_WRONG,
        [WORKER_HUNG] = FAULT_GPU_COLLECTIVE_HUNG,
        [WORKER_ERROR] = FAULT_GPU_COLLECTIVE_FAILED,
        [WORKER_DIED] = FAULT_GPU_COLLECTIVE_FAILED,
    };

    return codes[outcome] ? codes[outcome] : FAULT_NOT_MEASURED;
}

/* Writes devices by their numbers in the inventory, "gpu1 gpu5", as many as there is room for. */
static const char *write_parts(const struct reporter *reporter, const struct device_set *devices,
                               char part[PART])
{
    const struct gpu_node *node = &reporter->devices[reporter->node];

    part[0] = '\0';
    for (int i = 0; i < node->count; i++)
        if (device_set_has(devices, i) && strlen(part) + sizeof " gpu1000" <= PART)
            text_join(part, PART, " ", "gpu%d", node->devices[i].part);
    return part;
}

static void write_version(int version, char text[32])
{
    snprintf(text, 32, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

/* Reports a node without NCCL, or with another version than most nodes have. version: that one; 0:
 * no node was tested. */
static void report_library(const struct reporter *reporter, int version)
{
    const struct group_node *node = &reporter->nodes[reporter->node];
    struct record record = OF("library", .node = reporter->names[reporter->node]);
    char own[32], others[32];

    write_version(node->version, own);
    write_version(version, others);
    if (node->outcome == WORKER_NOT_TESTED && version > 0) {
        record.code = FAULT_GPU_COLLECTIVE_VERSION;
        record_report(reporter->sink, record, "other nodes have NCCL %s, this node: %s", others,
                      node->text);
    } else if (node->outcome != WORKER_DONE) {
        if (node->outcome == WORKER_NOT_TESTED)
            record.verdict = VERDICT_SKIP;
        else
            record.code = code_of(node->outcome);
        record_report(reporter->sink, record, "not tested: %s", node->text);
    } else if (node->version != version) {
        record.code = FAULT_GPU_COLLECTIVE_VERSION;
        record_report(reporter->sink, record,
                      "found NCCL %s, most nodes have %s; not tested across nodes", own, others);
    } else if (node->within.ranks == 1 && node->within.outcome == WORKER_DONE) {
        record.verdict = VERDICT_PASS;
        record_report(reporter->sink, record, "NCCL %s works with the only device", own);
    }
}

/* Writes what ended a group, or was wrong in it. */
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

/* Reports the bandwidths of a group within the node `name`, compared with its peers, or of the
 * group of all nodes (NULL). */
static void report_rates(struct reporter *reporter, const struct group_result *result,
                         const char *name)
{
    for (int i = 0; i < COLLECTIVES; i++) {
        enum collective collective = (enum collective)i;
        double value = group_bandwidth(result, collective);
        double reference = name ? reference_of(reporter, collective) : NAN;
        struct record record;
        struct device_set suspects;
        char part[PART] = "", metric[32];

        if (value <= 0)
            continue;
        snprintf(metric, sizeof metric, "%s%s", collective_names[i], name ? "" : "_nodes");
        record = OF(metric, .node = name, .part = part, .value = value, .unit = "GB/s");
        if (isfinite(reference)) {
            record.limit = GPU_COLLECTIVE_LEAST_SHARE * reference;
            record.limit_source = "peers";
        }
        if (value < record.limit) {
            suspects = suspects_of(reporter, true);
            write_parts(reporter, &suspects, part);
            record.code = FAULT_GPU_COLLECTIVE_SLOW;
            record_report(reporter->sink, record,
                          "%s of %d devices reaches %.4g GB/s, its peers %.4g GB/s",
                          collective_names[i], result->ranks, value, reference);
        } else {
            record.verdict = VERDICT_PASS;
            record_report(reporter->sink, record,
                          "%d devices, %.4g MB, algorithm bandwidth %.4g GB/s", result->ranks,
                          (double)result->bytes / 1e6,
                          value / collective_bus_factor(collective, result->ranks));
        }
    }
}

static void report_within(struct reporter *reporter)
{
    const struct group_result *result = &reporter->nodes[reporter->node].within;
    const char *name = reporter->names[reporter->node];
    struct device_set suspects = suspects_of(reporter, false);
    char text[300], part[PART];

    if (!result->is_measured)
        return;
    report_rates(reporter, result, name);
    if (result->outcome == WORKER_DONE)
        return;
    write_end(result, text, sizeof text);
    write_parts(reporter, device_set_count(&suspects) > 0 ? &suspects : &result->wrong_devices,
                part);
    record_report(reporter->sink,
                  OF("device", .node = name, .part = part, .code = code_of(result->outcome)), "%s",
                  text);
}

/* Reports the slowest pair of a slow device, `without`, or a slow pair (-1). */
static void report_pair(struct reporter *reporter, int i, const struct gpu_pair *pair,
                        const struct device_set *parts, int without)
{
    const struct gpu_node *devices = &reporter->devices[reporter->node];
    double value = pair_bandwidth(pair),
           reference = pair_reference(reporter, i, pair->with, without);
    char part[PART];

    record_report(reporter->sink,
                  OF("all_reduce", .node = reporter->names[reporter->node],
                     .part = write_parts(reporter, parts, part), .value = value, .unit = "GB/s",
                     .limit = GPU_PEER_LEAST_SHARE * reference, .limit_source = "peers",
                     .code = FAULT_GPU_COLLECTIVE_SLOW),
                  "all_reduce of gpu%d and gpu%d%s reaches %.4g GB/s, the other pairs %.4g GB/s",
                  devices->devices[i].part, devices->devices[pair->with].part,
                  without >= 0 ? ", and with each other device," : "", value, reference);
}

static void report_pairs(struct reporter *reporter)
{
    const struct gpu_node *node = &reporter->devices[reporter->node];
    struct device_set slow = suspects_of(reporter, true), parts;

    for (int i = 0; i < node->count; i++) {
        const struct gpu_device *device = &node->devices[i];
        const struct gpu_pair *slowest = NULL;

        for (int p = 0; p < device->pair_count; p++) {
            const struct gpu_pair *pair = &device->pairs[p];

            if (pair->state != PAIR_DONE)
                continue;
            if (!slowest || pair->ms > slowest->ms)
                slowest = pair;
            if (pair->with < i || device_set_has(&slow, i) || device_set_has(&slow, pair->with) ||
                !pair_is_slow(reporter, i, pair, -1))
                continue;
            parts = device_set_one(i);
            device_set_add(&parts, pair->with);
            report_pair(reporter, i, pair, &parts, -1);
        }
        parts = device_set_one(i);
        if (device_set_has(&slow, i))
            report_pair(reporter, i, slowest, &parts, i);
    }
}

/* Reports the group of all nodes. A fault of no node in particular is no more than a warning: it
 * may be the network, or what else uses it. The text is of the first node that has one. */
static void report_across(struct reporter *reporter)
{
    const struct group_result *any = NULL, *shown = NULL;
    const char *name = NULL;
    char text[300];

    for (size_t i = 0; i < reporter->count; i++) {
        const struct group_result *result = &reporter->nodes[i].across;

        if (!result->is_measured)
            continue;
        any = any ? any : result;
        if (result->outcome != WORKER_DONE && (!shown || (!*shown->text && *result->text))) {
            shown = result;
            name = reporter->names[i];
        }
    }
    if (any)
        report_rates(reporter, any, NULL);
    if (!shown)
        return;
    write_end(shown, text, sizeof text);
    record_report(reporter->sink,
                  OF("device", .verdict = VERDICT_WARN, .code = code_of(shown->outcome)),
                  "across nodes, reported by %s: %s", name, text);
}

static void report_suspect(const struct reporter *reporter)
{
    const struct group_node *node = &reporter->nodes[reporter->node];
    const char *name = reporter->names[reporter->node];
    double reference = node_reference(reporter), samples[GROUP_ROUNDS];
    bool is_wrong = false;

    for (int r = 0; r < GROUP_ROUNDS; r++) {
        is_wrong = is_wrong || node->rounds[r].state == PAIR_WRONG;
        samples[r] = node->rounds[r].state == PAIR_DONE ? node->rounds[r].bandwidth : NAN;
    }
    if (is_suspect(reporter, 0)) {
        /* load on the network makes no result wrong */
        record_report(reporter->sink,
                      OF("device", .node = name, .verdict = is_wrong ? VERDICT_NONE : VERDICT_WARN,
                         .code = is_wrong ? FAULT_GPU_COLLECTIVE_WRONG : FAULT_GPU_COLLECTIVE_HUNG),
                      "all_reduce with each other node tried is %s",
                      is_wrong ? "wrong" : "not completed");
    } else if (is_suspect(reporter, GPU_COLLECTIVE_LEAST_SHARE * reference)) {
        double value = statistics_median(samples, GROUP_ROUNDS);

        record_report(
            reporter->sink,
            OF("all_reduce_nodes", .node = name, .verdict = VERDICT_WARN, .value = value,
               .unit = "GB/s", .limit = GPU_COLLECTIVE_LEAST_SHARE * reference,
               .limit_source = "peers", .code = FAULT_GPU_COLLECTIVE_SLOW),
            "all_reduce with each other node tried reaches %.4g GB/s, the other pairs %.4g GB/s",
            value, reference);
    }
}

void group_evaluate(const struct gpu_node *devices, const struct group_node *nodes, size_t count,
                    const char *const *names, const struct record_sink *sink)
{
    struct reporter reporter;
    bool is_ready = reporter_set(&reporter, devices, nodes, count);
    int version = group_version(nodes, count);

    reporter.names = names;
    reporter.sink = sink;
    for (; reporter.node < count && is_ready; reporter.node++) {
        if (reporter.node == 0 || !is_alike(&reporter, reporter.node - 1))
            reporter_forget(&reporter);
        if (nodes[reporter.node].count == 0 && nodes[reporter.node].outcome == WORKER_DONE)
            continue;
        report_library(&reporter, version);
        report_within(&reporter);
        report_pairs(&reporter);
        report_suspect(&reporter);
    }
    if (is_ready)
        report_across(&reporter);
    reporter_clear(&reporter);
}
