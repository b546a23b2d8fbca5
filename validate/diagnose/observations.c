/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/observations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples that should be alike: of a rail, inside a leaf or across, alone or with the other rails,
 * that so many others share an uplink with. */
enum { LOADS = 8, CLASSES_OF_RAIL = 2 * 2 * LOADS };
/* A class of no fewer samples may be slower than its rail is inside leaves. */
enum { CLASS_LEAST = 30 };
static const double sound = 0.8; /* share of the nominal rate that sound links have at least */
static const double mad_scale = 1.4826;
static const double scale_most = 0.1;
static const double upper_share = 0.9;
static const float dead_y = -4;
/* What is no lower counts as what it should be, and what is lower than that by steps of so many
 * bins: then many runs are of a kind. */
static const float plain_y = -0.03F, coarse_y = -0.12F, coarse_end = -1;
enum { COARSE = 4 };

static bool is_shared(const struct diagnose_network *network, const struct diagnose_sample *sample)
{
    return sample->shared > 1 && network->leaves && network->leaf_count > 1 &&
           network->leaves[sample->from] != network->leaves[sample->to];
}

static int class_of(const struct diagnose_network *network, const struct diagnose_sample *sample)
{
    bool is_across = network->leaves && network->leaf_count > 1 &&
                     network->leaves[sample->from] != network->leaves[sample->to];
    int load = 0;

    while (is_across && (1 << load) < sample->shared && load < LOADS - 1)
        load++;
    return sample->rail * CLASSES_OF_RAIL + is_across * 2 * LOADS + sample->is_together * LOADS +
           load;
}

static float y_of(const struct diagnose_sample *sample)
{
    return sample->rate > 0 ? fmaxf((float)log(sample->rate), dead_y) : dead_y;
}

static int by_value(const void *left, const void *right)
{
    float a = *(const float *)left, b = *(const float *)right;

    return (a > b) - (a < b);
}

static double median(float *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return count == 0 ? NAN : (values[(count - 1) / 2] + values[count / 2]) / 2.0;
}

/* Sorts the values. Location and scale of a class: of its sound samples, which are those that are
 * near the nominal rate. What scatters to the upper side is no fault's. */
static void fit(float *values, size_t count, double fallback, double *location, double *scale)
{
    double least = log(sound);
    size_t begin = 0, upper = 0;

    *location = fallback;
    *scale = 0;
    if (count == 0)
        return;
    qsort(values, count, sizeof *values, by_value);
    while (begin < count && values[begin] < fallback + least)
        begin++;
    if (count - begin >= 3 && (count - begin) * 10 >= count)
        *location = median(values + begin, count - begin);
    else if (count >= CLASS_LEAST && !isnan(fallback))
        return;
    while (upper < count && values[upper] < *location)
        upper++;
    if (count - upper >= 3)
        *scale = fmin(mad_scale * (values[(upper + count) / 2] - *location), scale_most);
}

struct fitted {
    double location, scale;
    size_t begin, count;
};

/* Fits the classes from those that others fall back to: alone inside leaves, then the rest. */
static int fit_classes(const struct diagnose_network *network, struct observations *observations,
                       const struct model_dips dips[2], const struct diagnose_sample *samples,
                       size_t count, const struct model_table **tables, double *locations)
{
    size_t classes = network->rail_count * CLASSES_OF_RAIL;
    struct fitted *fitted = calloc(classes + 1, sizeof *fitted);
    float *values = malloc((count + 1) * sizeof *values);
    int status = fitted && values ? 0 : -1;

    for (size_t i = 0; i < count && status == 0; i++)
        fitted[class_of(network, &samples[i])].count++;
    for (size_t i = 0; i < classes && status == 0; i++) {
        fitted[i + 1].begin = fitted[i].begin + fitted[i].count;
        fitted[i].count = 0;
    }
    for (size_t i = 0; i < count && status == 0; i++) {
        struct fitted *one = &fitted[class_of(network, &samples[i])];

        values[one->begin + one->count++] = y_of(&samples[i]);
    }
    for (size_t i = 0; i < classes && status == 0; i++) {
        size_t in_rail = i % CLASSES_OF_RAIL, first = i - in_rail;
        size_t back = in_rail == 0           ? i
                      : in_rail % LOADS      ? i - 1
                      : in_rail >= 2 * LOADS ? i - 2 * LOADS
                                             : first;
        double fallback = in_rail == 0 ? 0 : fitted[back].location;

        fit(values + fitted[i].begin, fitted[i].count, fallback, &fitted[i].location,
            &fitted[i].scale);
        /* what shares uplinks has what is left to it, whatever the nominal rate is: what the best
         * have, as those of a slow leaf may be most. The values are sorted */
        if (in_rail >= 2 * LOADS && in_rail % LOADS > 0 && fitted[i].count >= CLASS_LEAST)
            fitted[i].location =
                fmin(fallback,
                     values[fitted[i].begin + (size_t)(upper_share * (double)fitted[i].count)]);
        if (in_rail == 0)
            locations[i / CLASSES_OF_RAIL] = fitted[i].location;
    }
    for (size_t i = 0; i < classes && status == 0; i++) {
        int group = i % (2 * LOADS) % LOADS > 0, number = model_scale(fitted[i].scale);
        struct model_table **table = &observations->tables[group][number];

        if (fitted[i].count > 0 && !*table) {
            *table = malloc(sizeof **table);
            if (*table)
                model_table(number, &dips[group], *table);
        }
        tables[i] = fitted[i].count > 0 ? *table : NULL;
        if (fitted[i].count > 0 && !tables[i])
            status = -1;
        locations[network->rail_count + i] = fitted[i].location;
    }
    free(fitted);
    free(values);
    return status;
}

static unsigned short bin_of(float y)
{
    int bin = model_bin(y);

    if (y >= plain_y)
        bin = model_bin(0);
    else if (y < coarse_y && y > coarse_end)
        bin = bin - bin % COARSE + COARSE / 2;
    return (unsigned short)bin;
}

static void take(struct observations *observations, const struct diagnose_sample *sample,
                 const struct model_table *table, double location)
{
    struct run *run = &observations->runs[observations->run_count - 1];
    float y = fmaxf(y_of(sample) - (float)location, dead_y);

    observations->items[observations->count++] = (struct observation){
        .table = table,
        .bin = bin_of(y),
        .rail = (unsigned short)sample->rail,
        .is_up = sample->from == run->low,
        .is_together = sample->is_together,
        .shared = (unsigned short)(is_shared(observations->network, sample) ? sample->shared : 1),
        .is_low = y<model_value(MODEL_LOW), .is_seen = sample->stalled> model_value(MODEL_SEEN),
        .is_relative = location < log(sound),
    };
    run->end = observations->count;
}

static bool is_same(const struct observation *a, const struct observation *b)
{
    return a->table == b->table && a->bin == b->bin && a->rail == b->rail &&
           a->shared == b->shared && a->is_up == b->is_up && a->is_together == b->is_together &&
           a->is_low == b->is_low && a->is_seen == b->is_seen && a->is_relative == b->is_relative;
}

static bool are_same(const struct observations *observations, const struct run *a,
                     const struct run *b)
{
    unsigned count = a->end - a->begin;
    bool are = b->end - b->begin == count;

    for (unsigned i = 0; i < count && are; i++)
        are = is_same(&observations->items[a->begin + i], &observations->items[b->begin + i]);
    return are;
}

static size_t hash_of(const struct observations *observations, const struct run *run)
{
    size_t hash = 0;

    for (unsigned i = run->begin; i < run->end; i++) {
        const struct observation *one = &observations->items[i];

        hash ^= (size_t)one->bin << 32 ^ (size_t)one->rail << 16 ^ (size_t)one->shared << 5 ^
                (size_t)(one->is_up + 2 * one->is_together + 4 * one->is_seen);
        hash *= 0x9e3779b97f4a7c15;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Numbers the kinds of runs. */
static int find_kinds(struct observations *observations)
{
    size_t size = 1;
    unsigned *slots; /* 1 + a run of the kind */

    while (size < 2 * (size_t)observations->run_count + 1)
        size *= 2;
    slots = calloc(size, sizeof *slots);
    if (!slots)
        return -1;
    for (unsigned i = 0; i < observations->run_count; i++) {
        struct run *run = &observations->runs[i];
        size_t at = hash_of(observations, run) & (size - 1);

        while (slots[at] && !are_same(observations, &observations->runs[slots[at] - 1], run))
            at = (at + 1) & (size - 1);
        run->kind = slots[at] ? observations->runs[slots[at] - 1].kind : observations->kind_count++;
        if (!slots[at])
            slots[at] = i + 1;
    }
    free(slots);
    return 0;
}

struct meeting {
    int other;
    unsigned run;
};

static int by_other(const void *left, const void *right)
{
    const struct meeting *a = left, *b = right;

    return a->other != b->other ? (a->other > b->other) - (a->other < b->other)
                                : (a->run > b->run) - (a->run < b->run);
}

/* Puts the runs of each node in the order of the other end. */
static int sort_runs(struct observations *observations)
{
    struct meeting *meetings = malloc((observations->run_count + 1) * sizeof *meetings);

    if (!meetings)
        return -1;
    for (size_t node = 0; node < observations->network->node_count; node++) {
        unsigned begin = observations->node_begin[node];
        unsigned count = observations->node_begin[node + 1] - begin;

        for (unsigned i = 0; i < count; i++) {
            const struct run *run = &observations->runs[observations->node_runs[begin + i]];

            meetings[i] = (struct meeting){run->low == (int)node ? run->high : run->low,
                                           observations->node_runs[begin + i]};
        }
        qsort(meetings, count, sizeof *meetings, by_other);
        for (unsigned i = 0; i < count; i++)
            observations->node_runs[begin + i] = meetings[i].run;
    }
    free(meetings);
    return 0;
}

static int index_runs(struct observations *observations)
{
    const struct diagnose_network *network = observations->network;
    size_t nodes = network->node_count;
    unsigned *begin = calloc(nodes + 2, sizeof *begin);

    observations->node_begin = begin;
    observations->node_runs = malloc((2 * (size_t)observations->run_count + 1) * sizeof *begin);
    observations->leaf_begin = calloc(network->leaf_count + 2, sizeof *begin);
    observations->members = malloc((nodes + 1) * sizeof *observations->members);
    observations->node_across = calloc(nodes + 1, sizeof *begin);
    observations->node_together = calloc(nodes + 1, sizeof *begin);
    if (!observations->node_across || !observations->node_together)
        return -1;
    if (!begin || !observations->node_runs || !observations->leaf_begin || !observations->members)
        return -1;
    for (unsigned i = 0; i < observations->run_count; i++) {
        const struct run *run = &observations->runs[i];
        bool is_across =
            network->leaf_count > 0 && network->leaves[run->low] != network->leaves[run->high];
        bool is_together = false;

        for (unsigned k = run->begin; k < run->end && !is_together; k++)
            is_together = observations->items[k].is_together;
        for (int end = 0; end < 2; end++) {
            int node = end ? run->high : run->low;

            begin[node + 2]++;
            observations->node_across[node] += is_across;
            observations->node_together[node] += is_together;
        }
    }
    for (size_t i = 2; i < nodes + 2; i++)
        begin[i] += begin[i - 1];
    for (unsigned i = 0; i < observations->run_count; i++) {
        observations->node_runs[begin[observations->runs[i].low + 1]++] = i;
        observations->node_runs[begin[observations->runs[i].high + 1]++] = i;
    }
    for (size_t i = 0; i < nodes && network->leaf_count > 0; i++)
        observations->leaf_begin[network->leaves[i] + 2]++;
    for (size_t i = 2; i < network->leaf_count + 2; i++)
        observations->leaf_begin[i] += observations->leaf_begin[i - 1];
    for (size_t i = 0; i < nodes && network->leaf_count > 0; i++)
        observations->members[observations->leaf_begin[network->leaves[i] + 1]++] = (int)i;
    return sort_runs(observations) == 0 ? find_kinds(observations) : -1;
}

static bool is_same_pair(const struct diagnose_sample *a, const struct diagnose_sample *b)
{
    return (a->from == b->from && a->to == b->to) || (a->from == b->to && a->to == b->from);
}

/* Whether the pair of the first sample was measured with an uplink to itself, without and with all
 * rails together. Samples of a pair come one after the other. */
static void find_alone(const struct diagnose_network *network,
                       const struct diagnose_sample *samples, size_t count, bool alone[2])
{
    alone[0] = alone[1] = false;
    for (size_t i = 0; i < count && is_same_pair(&samples[i], &samples[0]); i++)
        if (!is_shared(network, &samples[i]))
            alone[samples[i].is_together] = true;
}

int observations_make(const struct diagnose_network *network, const struct model_dips dips[2],
                      const struct diagnose_sample *samples, size_t count,
                      struct observations *observations)
{
    size_t classes = network->rail_count * CLASSES_OF_RAIL;
    const struct model_table **tables = calloc(classes + 1, sizeof *tables);
    unsigned last_run = 0;
    bool alone[2] = {false, false};

    *observations = (struct observations){.network = network};
    observations->items = malloc((count + 1) * sizeof *observations->items);
    observations->runs = malloc((count + 1) * sizeof *observations->runs);
    observations->location =
        calloc(network->rail_count + classes + 1, sizeof *observations->location);
    if (!tables || !observations->items || !observations->runs || !observations->location ||
        fit_classes(network, observations, dips, samples, count, tables, observations->location) !=
            0) {
        free(tables);
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        const struct diagnose_sample *sample = &samples[i];
        int class = class_of(network, sample);

        if (i == 0 || !is_same_pair(sample, &samples[i - 1]))
            find_alone(network, samples + i, count - i, alone);
        if (alone[sample->is_together] && is_shared(network, sample))
            continue;
        if (observations->run_count == 0 || sample->pair_run != last_run)
            observations->runs[observations->run_count++] = (struct run){
                .low = sample->from < sample->to ? sample->from : sample->to,
                .high = sample->from < sample->to ? sample->to : sample->from,
                .begin = observations->count,
            };
        last_run = sample->pair_run;
        take(observations, sample, tables[class],
             observations->location[network->rail_count + (size_t) class]);
    }
    free(tables);
    return index_runs(observations);
}

void observations_clear(struct observations *observations)
{
    free(observations->items);
    free(observations->runs);
    free(observations->node_begin);
    free(observations->node_runs);
    free(observations->node_across);
    free(observations->node_together);
    free(observations->leaf_begin);
    free(observations->members);
    free(observations->location);
    for (int i = 0; i < 2 * MODEL_SCALES; i++)
        free(observations->tables[i / MODEL_SCALES][i % MODEL_SCALES]);
}
