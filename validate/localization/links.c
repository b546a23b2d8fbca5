/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/localization/links.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/statistics.h"
#include "lib/catalog/catalog.h"
#include "lib/constants/links_constants.h"
#include "validate/diagnose/model.h"

static bool is_metric(const struct record *record, enum metric_id metric)
{
    return catalog_is_metric(record->metric, metric);
}

bool links_is_measurement(const struct record *record)
{
    return record->node && record->peer && record->part && record->metric &&
           catalog_is_suite(record->suite, SUITE_LINKS) &&
           catalog_is_test(record->test, TEST_LINKS) &&
           (is_metric(record, METRIC_BANDWIDTH) || is_metric(record, METRIC_BANDWIDTH_RECEIVED) ||
            is_metric(record, METRIC_BANDWIDTH_TOGETHER) || is_metric(record, METRIC_LATENCY));
}

int links_rail(const struct links *links, const char *name)
{
    for (size_t i = 0; i < links->rail_count; i++)
        if (strcmp(links->rails[i], name) == 0)
            return (int)i;
    return -1;
}

static int rail_add(struct links *links, const char *name)
{
    if (links_rail(links, name) >= 0)
        return 0;
    if (!GROW(links->rails, links->rail_count))
        return -1;
    links->rails[links->rail_count] = strdup(name);
    return links->rails[links->rail_count] ? (links->rail_count++, 0) : -1;
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Sets the nominal speed of a rail: of the configuration, else what its node reported first. */
static void read_nominal(const struct record *record, struct links *links)
{
    long node;
    int rail;

    if (!record->node || !record->part || !record->unit || !is_metric(record, METRIC_SPEED) ||
        strcmp(record->unit, "Mb/s") != 0)
        return;
    node = name_index_find(&links->by_node, record->node);
    rail = links_rail(links, record->part);
    if (node >= 0 && rail >= 0) {
        double *nominal = &links->nominal_mbps[(size_t)node * links->rail_count + (size_t)rail];

        *nominal = *nominal > 0 ? *nominal : record->value;
    }
}

/* Returns the names of the nodes on the leaf, malloc'd. */
static char *name_group(const struct links *links, const int *leaves, int leaf)
{
    struct hostlist names = {0};
    char *folded;

    for (size_t i = 0; i < links->node_count; i++)
        if (leaves[i] == leaf)
            hostlist_append(&names, links->nodes[i]);
    folded = hostlist_fold(&names);
    hostlist_clear(&names);
    return folded;
}

/* Sets the leaves of links, numbered without leaves that have no node. leaves: [node] below count;
 * names: [count] of the leaves, or NULL to name each after its nodes. Returns 0, or -1 if memory is
 * out. */
static int number_leaves(struct links *links, const int *leaves, size_t count,
                         const char *const *names)
{
    int *numbers = calloc(count + 1, sizeof *numbers);
    bool is_done;

    links->leaves = malloc((links->node_count + 1) * sizeof *links->leaves);
    links->leaf_names = calloc(count + 1, sizeof *links->leaf_names);
    is_done = numbers && links->leaves && links->leaf_names;
    for (size_t i = 0; i < links->node_count && is_done; i++)
        numbers[leaves[i]] = 1;
    for (size_t leaf = 0; leaf < count && is_done; leaf++)
        if (numbers[leaf] > 0) {
            numbers[leaf] = (int)links->leaf_count++;
            links->leaf_names[numbers[leaf]] =
                names ? strdup(names[leaf]) : name_group(links, leaves, (int)leaf);
            is_done = links->leaf_names[numbers[leaf]] != NULL;
        }
    for (size_t i = 0; i < links->node_count && is_done; i++)
        links->leaves[i] = numbers[leaves[i]];
    free(numbers);
    return is_done ? 0 : -1;
}

/* Reads the leaves of the source. If the leaf of one node is not known, none is. Returns 0, or -1
 * if memory is out. */
static int read_leaves(const struct links_source *source, struct links *links)
{
    int last = -1;

    for (size_t i = 0; i < links->node_count; i++) {
        if (source->leaves[i] < 0)
            return 0;
        last = source->leaves[i] > last ? source->leaves[i] : last;
    }
    return number_leaves(links, source->leaves, (size_t)(last + 1), source->leaf_names);
}

bool links_is_same_transfer(const struct record *a, const struct record *b)
{
    return a->node && a->peer && a->part && a->node == b->node && a->peer == b->peer &&
           a->part == b->part;
}

/* Returns the record of the receiver about the transfer, which is beside record i and is read into
 * *other, or NULL if there is none. */
static const struct record *received_of(const struct records *records, size_t i,
                                        const struct record *record, struct record *other)
{
    for (size_t k = i > 0 ? i - 1 : 1; k <= i + 1 && k < records->count; k += 2)
        if (links_is_same_transfer(records_get(records, k, other), record) &&
            is_metric(other, METRIC_BANDWIDTH_RECEIVED) && links_is_measurement(other))
            return other;
    return NULL;
}

/* Returns the record of the largest packet that arrived, if longer ones were lost: the record
 * before, which is read into *other. NULL: none is known to be lost. */
static const struct record *path_mtu_of(const struct records *records, size_t i,
                                        const struct record *record, struct record *other)
{
    return i > 0 && record->code == FAULT_PATH_MTU_LOW &&
                   is_metric(records_get(records, i - 1, other), METRIC_PATH_MTU) &&
                   links_is_same_transfer(other, record)
               ? other
               : NULL;
}

static bool is_unscheduled(const struct record *record)
{
    return record->stalled > MODEL_SEEN;
}

/* Returns the share of the time in which an end was not scheduled. If that is not known: 1, or 0 if
 * nothing arrived. */
static double stalled_of(const struct record *record)
{
    return !isnan(record->stalled) ? record->stalled : record->value > 0;
}

/* Returns the rate that the path has shown, in Mb/s. The time in which an end was not scheduled
 * does not count, as that is not the fault of the path. The rate is at most what the counter of the
 * receiver saw in the best part: a sender that was not scheduled sees several samples end at once,
 * and the last of them look fast. */
static double shown_by(const struct record *record, const struct record *received)
{
    double most = record->high;

    if (!is_unscheduled(record))
        return record->value;
    if (received)
        most = isnan(received->high) ? fmin(record->high, received->value) : received->high;
    if (record->stalled < 1)
        most = fmin(most, record->value / (1 - record->stalled));
    return fmax(record->value, most);
}

/* Returns the bytes of a packet, within the range of the type. */
static unsigned short packet_of(double bytes)
{
    return (unsigned short)fmin(fmax(bytes, 0), USHRT_MAX);
}

/* Adds record i, if both of its nodes are known. */
static void add_sample(const struct links_source *source, size_t i, const struct record *record,
                       size_t retests, struct links *links)
{
    struct record others[2];
    long from = name_index_find(&links->by_node, record->node);
    long to = name_index_find(&links->by_node, record->peer);
    bool is_together = is_metric(record, METRIC_BANDWIDTH_TOGETHER);
    const struct record *received =
        is_together ? NULL : received_of(source->records, i, record, &others[0]);
    const struct record *path_mtu = path_mtu_of(source->records, i, record, &others[1]);
    double mbps = is_together ? record->value : shown_by(record, received);

    if (from < 0 || to < 0 || from == to)
        return;
    links->samples[links->sample_count] = (struct diagnose_sample){
        .from = (int)from,
        .to = (int)to,
        .rail = links_rail(links, record->part),
        .stalled = stalled_of(record),
        .is_together = is_together,
        .shared = i < retests && record->shared > 0 ? (unsigned short)record->shared : 0,
        .low = isnan(record->low) ? 0 : record->low,
        .high = isnan(record->high) ? 0 : record->high,
        .received = received ? fmax(received->value, mbps * is_unscheduled(record)) : 0,
    };
    links->measured[links->sample_count++] = (struct link_sample){
        .mbps = mbps,
        .expected_mbps = 1,
        .is_isolated = i >= retests,
        .lost_bytes = path_mtu ? packet_of(path_mtu->limit) : 0,
        .path_mtu_bytes = path_mtu ? packet_of(path_mtu->value) : 0,
    };
}

static int compare_pairs(struct node_pair a, struct node_pair b)
{
    return a.low != b.low ? a.low - b.low : a.high - b.high;
}

static size_t end_of(const struct diagnose_sample *sample, bool is_high)
{
    return (size_t)(is_high ? sample_pair(sample).high : sample_pair(sample).low);
}

/* Sorts the samples from first on by the lower or the higher node of their pair: order gets their
 * indices, counted from first. Samples with the same node keep the order of `before` (NULL: their
 * own). begins: room for node_count + 1. */
static void order_by(const struct links *links, size_t first, bool is_high, size_t *begins,
                     const unsigned *before, unsigned *order)
{
    const struct diagnose_sample *samples = links->samples + first;
    size_t count = links->sample_count - first;

    memset(begins, 0, (links->node_count + 1) * sizeof *begins);
    for (size_t i = 0; i < count; i++)
        begins[end_of(&samples[i], is_high) + 1]++;
    for (size_t node = 0; node < links->node_count; node++)
        begins[node + 1] += begins[node];
    for (unsigned i = 0; i < count; i++) {
        unsigned one = before ? before[i] : i;

        order[begins[end_of(&samples[one], is_high)]++] = one;
    }
}

/* Sorts both arrays. order: index of the element that belongs at each index; it is overwritten. */
static void permute(struct diagnose_sample *samples, struct link_sample *measured, size_t count,
                    unsigned *order)
{
    for (unsigned i = 0; i < count; i++) {
        struct diagnose_sample sample = samples[i];
        struct link_sample of_sample = measured[i];
        unsigned at = i;

        for (unsigned next; (next = order[at]) != i; at = next) {
            samples[at] = samples[next];
            measured[at] = measured[next];
            order[at] = at;
        }
        samples[at] = sample;
        measured[at] = of_sample;
        order[at] = at;
    }
}

/* Merges the samples after the first `sorted` into these. Both are sorted. Returns 0, or -1 if
 * memory is out. */
static int merge(struct links *links, size_t sorted)
{
    size_t at = links->sample_count, left = at - sorted;
    struct diagnose_sample *samples = malloc((left + 1) * sizeof *samples);
    struct link_sample *measured = malloc((left + 1) * sizeof *measured);
    bool is_done = samples && measured;

    if (is_done) {
        memcpy(samples, links->samples + sorted, left * sizeof *samples);
        memcpy(measured, links->measured + sorted, left * sizeof *measured);
    }
    while (left > 0 && is_done) {
        bool is_before = sorted > 0 && compare_pairs(sample_pair(&samples[left - 1]),
                                                     sample_pair(&links->samples[sorted - 1])) < 0;
        size_t from = is_before ? --sorted : --left;

        at--;
        links->samples[at] = is_before ? links->samples[from] : samples[from];
        links->measured[at] = is_before ? links->measured[from] : measured[from];
    }
    free(samples);
    free(measured);
    return is_done ? 0 : -1;
}

/* Sorts the samples by pair, and those of one pair by time, in which they were added. The first
 * `sorted` are sorted. Returns 0, or -1 if memory is out. */
static int sort_by_pair(struct links *links, size_t sorted)
{
    size_t count = links->sample_count - sorted;
    size_t *begins = malloc((links->node_count + 1) * sizeof *begins);
    unsigned *order = malloc((count + 1) * sizeof *order);
    unsigned *by_high = malloc((count + 1) * sizeof *by_high);
    bool is_done = begins && order && by_high;

    if (is_done) {
        order_by(links, sorted, true, begins, NULL, by_high);
        order_by(links, sorted, false, begins, by_high, order);
        permute(links->samples + sorted, links->measured + sorted, count, order);
    }
    free(begins);
    free(order);
    free(by_high);
    return !is_done ? -1 : sorted > 0 ? merge(links, sorted) : 0;
}

/* Numbers the pair runs from 1 on. A run ends where a rail and direction occurs again. At first all
 * rails together are measured in other rounds than rails alone; in a retest they come last in a
 * run. Returns 0, or -1 if memory is out. */
static int number_runs(struct links *links)
{
    unsigned *seen = calloc(4 * links->rail_count + 1, sizeof *seen), run = 0;

    for (size_t i = 0; i < links->sample_count && seen; i++) {
        struct diagnose_sample *sample = &links->samples[i];
        const struct diagnose_sample *before = i > 0 ? sample - 1 : NULL;
        int cell = (2 * sample->rail + (sample->from < sample->to)) * 2 + sample->is_together;
        bool is_first_together = before && sample->is_together && !before->is_together &&
                                 !links->measured[i].is_isolated;

        if (!before || !sample_is_same_pair(before, sample) || seen[cell] == run ||
            is_first_together)
            run++;
        seen[cell] = sample->pair_run = run;
    }
    free(seen);
    return seen ? 0 : -1;
}

static double nominal_of(const struct links *links, const struct diagnose_sample *sample)
{
    size_t rail = (size_t)sample->rail;
    double from = links->nominal_mbps[(size_t)sample->from * links->rail_count + rail];
    double to = links->nominal_mbps[(size_t)sample->to * links->rail_count + rail];

    return from > 0 && to > 0 ? (from < to ? from : to) : 0;
}

static void rise(double *best, double mbps)
{
    if (!(*best >= mbps)) /* it may be NAN */
        *best = mbps;
}

/* Finds the best rates of each rail. A rate above nominal counts as nominal: it comes from the
 * clock readings of a busy machine. */
static void find_figures(struct links *links)
{
    double *sends = links->figures_mbps, *receives = links->bests_mbps;

    for (size_t end = 0; end < links->node_count * links->rail_count; end++)
        sends[end] = receives[end] = NAN;
    for (size_t i = 0; i < links->sample_count; i++) {
        const struct diagnose_sample *sample = &links->samples[i];
        double nominal = nominal_of(links, sample), mbps = links->measured[i].mbps;
        size_t rail = (size_t)sample->rail;

        if (sample->is_together)
            continue;
        mbps = nominal > 0 && nominal < mbps ? nominal : mbps;
        rise(&sends[(size_t)sample->from * links->rail_count + rail], mbps);
        rise(&receives[(size_t)sample->to * links->rail_count + rail], mbps);
    }
    for (size_t end = 0; end < links->node_count * links->rail_count; end++) {
        double lower = fmin(sends[end], receives[end]);

        links->bests_mbps[end] = fmax(sends[end], receives[end]);
        links->figures_mbps[end] = lower;
    }
}

/* Returns what a rail without a nominal speed should have: the upper quartile of the figures of the
 * nodes, which is that of a good node; 0 if nothing is known. figures: room for the nodes. */
static double usual_of(const struct links *links, size_t rail, double *figures)
{
    size_t count = 0;

    for (size_t i = 0; i < links->node_count; i++)
        if (!isnan(links->figures_mbps[i * links->rail_count + rail]))
            figures[count++] = links->figures_mbps[i * links->rail_count + rail];
    return count > 0 ? statistics_select(figures, count, 3 * count / 4) : 0;
}

/* Divides each sample by what its rail should have. That may have been another figure before.
 * Returns 0, or -1 if memory is out. */
static int scale(struct links *links)
{
    double *usual = malloc((links->rail_count + 1) * sizeof *usual);
    double *figures = malloc((links->node_count + 1) * sizeof *figures);
    bool is_done = usual && figures;

    for (size_t k = 0; k < links->rail_count && is_done; k++)
        usual[k] = usual_of(links, k, figures);
    for (size_t i = 0; i < links->sample_count && is_done; i++) {
        struct diagnose_sample *sample = &links->samples[i];
        struct link_sample *measured = &links->measured[i];
        double expected = nominal_of(links, sample), before = measured->expected_mbps;

        if (!(expected > 0))
            expected = usual[sample->rail];
        measured->expected_mbps = expected = expected > 0 ? expected : 1;
        sample->rate = measured->mbps / expected;
        sample->low *= (float)(before / expected);
        sample->high *= (float)(before / expected);
        sample->received *= (float)(before / expected);
    }
    free(usual);
    free(figures);
    return is_done ? 0 : -1;
}

static int root_of(int *parents, int node)
{
    for (; parents[node] != node; node = parents[node])
        parents[node] = parents[parents[node]];
    return node;
}

/* Finds leaf switches that are not stated: groups of nodes that reach each other well, and nodes of
 * other groups on no rail. A node that reaches no other one well is a group of its own. Returns 0,
 * or -1 if memory is out. */
static int find_leaves(double peers_share, struct links *links)
{
    int *parents = malloc((links->node_count + 1) * sizeof *parents), groups = 0;
    int *sizes = calloc(links->node_count + 1, sizeof *sizes);
    bool is_done = parents && sizes;

    for (size_t i = 0; i < links->node_count && is_done; i++)
        parents[i] = (int)i;
    for (size_t i = 0; i < links->sample_count && is_done; i++) {
        const struct diagnose_sample *sample = &links->samples[i];

        if (!sample->is_together && sample->rate >= peers_share)
            parents[root_of(parents, sample->from)] = root_of(parents, sample->to);
    }
    for (size_t i = 0; i < links->node_count && is_done; i++) {
        parents[i] = root_of(parents, (int)i);
        groups += ++sizes[parents[i]] == 2;
    }
    links->has_found_leaves = groups > 1;
    if (groups > 1)
        is_done = number_leaves(links, parents, links->node_count, NULL) == 0;
    free(parents);
    free(sizes);
    return is_done ? 0 : -1;
}

static void read_latency(const struct record *record, struct links *links)
{
    const char *ends[] = {record->node, record->peer};
    double least_us = fmin(record->value, record->low);
    double delay_us = record->stalled > 0 ? least_us * fmax(1 - record->stalled, 0) : least_us;
    int rail = links_rail(links, record->part);

    for (int k = 0; k < 2; k++) {
        long node = name_index_find(&links->by_node, ends[k]);
        size_t end;

        if (node < 0 || rail < 0)
            continue;
        end = (size_t)node * links->rail_count + (size_t)rail;
        links->latencies_us[end] = fmin(links->latencies_us[end], least_us);
        links->delays_us[end] = fmin(links->delays_us[end], delay_us);
    }
}

/* Makes room for the records that were not read yet, and counts their rails. */
static int allocate(const struct links_source *source, struct links *links)
{
    size_t most = links->sample_count;
    void *samples, *measured;

    for (size_t i = links->read_count; i < source->records->count; i++) {
        const struct record *record = RECORD_AT(source->records, i);

        if (!links_is_measurement(record))
            continue;
        most++;
        if (rail_add(links, record->part) != 0)
            return -1;
    }
    samples = realloc(links->samples, (most + 1) * sizeof *links->samples);
    links->samples = samples ? samples : links->samples;
    measured = realloc(links->measured, (most + 1) * sizeof *links->measured);
    links->measured = measured ? measured : links->measured;
    return samples && measured ? 0 : -1;
}

/* Sets what is known of each rail of each node before anything is read. Returns 0, or -1 if memory
 * is out. */
static int begin(const struct links_source *source, struct links *links)
{
    size_t rails = links->rail_count, ends = links->node_count * rails;

    if (rails > 1)
        qsort(links->rails, rails, sizeof *links->rails, by_name);
    links->nominal_mbps = malloc((ends + 1) * sizeof *links->nominal_mbps);
    links->figures_mbps = malloc((ends + 1) * sizeof *links->figures_mbps);
    links->bests_mbps = malloc((ends + 1) * sizeof *links->bests_mbps);
    links->latencies_us = malloc((ends + 1) * sizeof *links->latencies_us);
    links->delays_us = malloc((ends + 1) * sizeof *links->delays_us);
    if (!links->nominal_mbps || !links->figures_mbps || !links->bests_mbps ||
        !links->latencies_us || !links->delays_us)
        return -1;
    for (size_t end = 0; end < ends; end++) {
        links->nominal_mbps[end] = conf_nominal_mbps(source->conf, links->rails[end % rails]);
        links->latencies_us[end] = links->delays_us[end] = NAN;
    }
    return read_leaves(source, links);
}

static void clear_leaves(struct links *links)
{
    for (size_t i = 0; i < links->leaf_count; i++)
        free(links->leaf_names[i]);
    free(links->leaf_names);
    free(links->leaves);
    links->leaf_names = NULL;
    links->leaves = NULL;
    links->leaf_count = 0;
}

int links_read(const struct links_source *source, size_t first, size_t retests, double peers_share,
               struct links *links)
{
    size_t rails = links->rail_count, sorted = links->sample_count;
    bool is_first = !links->nominal_mbps;

    if (is_first) {
        links->node_count = source->names->count;
        links->nodes = (const char *const *)source->names->names;
        links->read_count = first;
        if (name_index_build(links->nodes, links->node_count, &links->by_node) != 0)
            return -1;
    }
    if (allocate(source, links) != 0)
        return -1;
    if (!is_first && links->rail_count > rails) { /* the other rails have other indices now */
        links_clear(links);
        return links_read(source, first, retests, peers_share, links);
    }
    if (is_first && begin(source, links) != 0)
        return -1;
    for (size_t i = is_first ? 0 : links->read_count; i < source->records->count; i++) {
        const struct record *record = RECORD_AT(source->records, i);

        if (i < first || !links_is_measurement(record))
            read_nominal(record, links);
        else if (is_metric(record, METRIC_LATENCY))
            read_latency(record, links);
        else if (!is_metric(record, METRIC_BANDWIDTH_RECEIVED) && !isnan(record->value))
            add_sample(source, i, record, retests, links);
    }
    links->read_count = source->records->count;
    if (sort_by_pair(links, sorted) != 0 || number_runs(links) != 0)
        return -1;
    find_figures(links);
    if (scale(links) != 0)
        return -1;
    if (links->leaf_count > 0 && !links->has_found_leaves)
        return 0;
    clear_leaves(links);
    return find_leaves(peers_share, links);
}

void links_clear(struct links *links)
{
    for (size_t i = 0; i < links->rail_count; i++)
        free(links->rails[i]);
    clear_leaves(links);
    free(links->rails);
    free(links->nominal_mbps);
    free(links->figures_mbps);
    free(links->bests_mbps);
    free(links->latencies_us);
    free(links->delays_us);
    free(links->samples);
    free(links->measured);
    name_index_clear(&links->by_node);
    *links = (struct links){0};
}

bool links_show_leaves(const struct links *links)
{
    double *rates = malloc((links->sample_count + 1) * sizeof *rates);
    bool is_shown = false;

    for (size_t rail = 0; rail < links->rail_count && rates && links->leaf_count > 1; rail++) {
        double medians[2];

        for (int across = 0; across < 2; across++) {
            size_t count = 0;

            for (size_t i = 0; i < links->sample_count; i++) {
                const struct diagnose_sample *sample = &links->samples[i];

                if (sample->rail == (int)rail && !sample->is_together &&
                    !links->measured[i].is_isolated &&
                    (links->leaves[sample->from] != links->leaves[sample->to]) == across)
                    rates[count++] = sample->rate;
            }
            medians[across] = statistics_median(rates, count);
        }
        is_shown |= log(medians[1] / medians[0]) < -LEAVES_MEASURABLE;
    }
    free(rates);
    return is_shown;
}
