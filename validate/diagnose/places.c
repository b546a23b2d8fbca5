/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/places.h"

#include <math.h>
#include <stdlib.h>

/* Of samples of a rail, alone or with the others: ln of the density of each rate across leaves, of
 * those that share an uplink, over that within; NAN where there are too few samples. */
typedef double ratios[MODEL_BINS];
enum { SAMPLES_LEAST = 20 };
static const double prior_count = 0.5; /* of each bin, spread */
static const double prior_misplaced = 1e-4;
/* The other leaf has to say so by itself, and it is certain when the own one does. */
static const double each_least = 3;

static int bin_of(const struct diagnose_sample *sample)
{
    return sample->rate > 0 ? model_bin(log(sample->rate)) : 0;
}

/* Neighboring bins are much the same. */
static void smooth(double *counts)
{
    double held[MODEL_BINS];

    for (int bin = 0; bin < MODEL_BINS; bin++) {
        held[bin] = prior_count;
        for (int near = -2; near <= 2; near++)
            if (bin + near >= 0 && bin + near < MODEL_BINS)
                held[bin] += counts[bin + near] / 5;
    }
    for (int bin = 0; bin < MODEL_BINS; bin++)
        counts[bin] = held[bin];
}

static void make_ratios(const struct diagnose_network *network,
                        const struct diagnose_sample *samples, size_t count, int class,
                        double *log_ratio)
{
    double counts[2][MODEL_BINS] = {{0}}, all[2] = {0};

    for (size_t i = 0; i < count; i++) {
        bool across = sample_is_across(network, &samples[i]);

        if (samples[i].rail * 2 + samples[i].is_together != class ||
            (across && samples[i].shared < 2))
            continue;
        counts[across][bin_of(&samples[i])]++;
    }
    for (int side = 0; side < 2; side++) {
        smooth(counts[side]);
        for (int bin = 0; bin < MODEL_BINS; bin++)
            all[side] += counts[side][bin];
    }
    for (int bin = 0; bin < MODEL_BINS; bin++)
        log_ratio[bin] = fmin(all[0], all[1]) > SAMPLES_LEAST + prior_count * MODEL_BINS
                             ? log(counts[1][bin] / all[1]) - log(counts[0][bin] / all[0])
                             : NAN;
}

/* What pair runs of each node with those of each leaf say for being across: [nodes][leaves].
 * Samples of a run are not independent: it says the mean of what they do. */
static void add_runs(const struct diagnose_network *network, const struct diagnose_sample *samples,
                     size_t count, const ratios *log_ratios, double *said)
{
    size_t leaves = network->leaf_count;

    for (size_t begin = 0, end; begin < count; begin = end) {
        double sum = 0;
        int used = 0;

        for (end = begin; end < count && samples[end].pair_run == samples[begin].pair_run; end++) {
            double ratio =
                log_ratios[samples[end].rail * 2 + samples[end].is_together][bin_of(&samples[end])];

            sum += isnan(ratio) ? 0 : ratio;
            used += !isnan(ratio);
        }
        for (int k = 0; k < 2 && used > 0; k++) {
            int node = k ? samples[begin].to : samples[begin].from;
            int other = k ? samples[begin].from : samples[begin].to;

            said[(size_t)node * leaves + (size_t)network->leaves[other]] += sum / used;
        }
    }
}

/* A node that meets those of its leaf alone on its uplinks has all there as well, so that they say
 * nothing for it. One that is well with most others only has a better way. */
static long find_misplaced(const struct diagnose_network *network, const double *said,
                           struct misplaced *misplaced)
{
    size_t leaves = network->leaf_count;
    long found = 0;

    for (int node = 0; node < (int)network->node_count; node++) {
        const double *row = said + (size_t)node * leaves;
        int own = network->leaves[node], best = -1;
        double odds, others = 0;
        bool is_certain = row[own] >= each_least;

        for (int leaf = 0; leaf < (int)leaves; leaf++) {
            others += leaf == own ? 0 : row[leaf];
            if (leaf != own && (best < 0 || row[leaf] < row[best]))
                best = leaf;
        }
        if (best < 0 || -row[best] < each_least || (!is_certain && others - row[best] <= 0))
            continue;
        odds = fmax(row[own], 0) - row[best] + log(prior_misplaced / (double)leaves);
        if (1 / (1 + exp(-odds)) > MODEL_CLEARED)
            misplaced[found++] = (struct misplaced){node, best, 1 / (1 + exp(-odds)), is_certain};
    }
    return found;
}

long diagnose_places(const struct diagnose_network *network, const struct diagnose_sample *samples,
                     size_t count, struct misplaced **misplaced)
{
    size_t classes = 2 * network->rail_count;
    double *said = calloc(network->node_count * network->leaf_count + 1, sizeof *said);
    ratios *log_ratios = malloc(classes * sizeof *log_ratios);
    long found = -1;

    *misplaced = malloc((network->node_count + 1) * sizeof **misplaced);
    if (said && log_ratios && *misplaced && network->leaf_count < 2) {
        found = 0;
    } else if (said && log_ratios && *misplaced) {
        for (size_t class = 0; class < classes; class ++)
            make_ratios(network, samples, count, (int)class, log_ratios[class]);
        add_runs(network, samples, count, log_ratios, said);
        found = find_misplaced(network, said, *misplaced);
    }
    free(said);
    free(log_ratios);
    return found;
}
