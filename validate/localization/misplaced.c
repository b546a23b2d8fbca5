/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/localization/misplaced.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* For samples of a rail, alone or with the others: ln of the density of each bin of rate across
 * leaves, of samples that share an uplink, over the density inside leaves. NAN: there are too few
 * samples. */
typedef double ratios[MODEL_BINS];
enum { SAMPLES_LEAST = 20 };
static const double prior_count = 0.5; /* added to each bin */
static const double prior_misplaced = 1e-4;
/* Log odds. The samples with the other leaf must show as much by themselves; if those with the
 * stated leaf do as well, the other leaf is certain. */
static const double each_least = 3;

/* Spreads each count over five bins, as neighboring bins are much the same, and adds
 * prior_count. */
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

static int class_of(const struct diagnose_sample *sample)
{
    return sample->rail * 2 + sample->is_together;
}

/* Sets bins, [count] of the samples, and counts, [class][0 inside leaves, 1 across][bin]. Across
 * leaves only samples that share an uplink count. */
static void count_samples(const struct diagnose_network *network,
                          const struct diagnose_sample *samples, size_t count, unsigned char *bins,
                          double (*counts)[2][MODEL_BINS])
{
    for (size_t i = 0; i < count; i++) {
        bool across = sample_is_across(network, &samples[i]);

        bins[i] = samples[i].rate > 0 ? (unsigned char)model_bin(log(samples[i].rate)) : 0;
        counts[class_of(&samples[i])][across][bins[i]] += !across || samples[i].shared > 1;
    }
}

static void make_ratios(double counts[2][MODEL_BINS], double *log_ratio)
{
    double all[2] = {0};

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

/* What a pair run of the node with a node of that leaf shows: mean of the log ratios. */
struct contact {
    int node, leaf;
    double log_ratio;
    const struct contact *next; /* of the same node */
};

/* Reads the contacts of all pair runs. contacts: room for two of each run; first: [nodes] first
 * contact of the node, or NULL. Samples of a run are not independent, so a run counts as their
 * mean. */
static void read_contacts(const struct diagnose_network *network,
                          const struct diagnose_sample *samples, size_t count,
                          const unsigned char *bins, const ratios *log_ratios,
                          struct contact *contacts, const struct contact **first)
{
    size_t found = 0;

    for (size_t begin = 0, end; begin < count; begin = end) {
        int ends[] = {samples[begin].from, samples[begin].to}, used = 0;
        double sum = 0;

        for (end = begin; end < count && samples[end].pair_run == samples[begin].pair_run; end++) {
            double ratio = log_ratios[class_of(&samples[end])][bins[end]];

            sum += isnan(ratio) ? 0 : ratio;
            used += !isnan(ratio);
        }
        for (int k = 0; k < 2 && used > 0; k++)
            contacts[found++] =
                (struct contact){ends[k], network->leaves[ends[1 - k]], sum / used, NULL};
    }
    while (found-- > 0) {
        contacts[found].next = first[contacts[found].node];
        first[contacts[found].node] = &contacts[found];
    }
}

/* Whether the node is on another leaf; sets *misplaced. A node that had the uplinks to itself has
 * the full rate with its stated leaf as well, so such samples show nothing. A node that is good
 * with most other leaves too only has a better path. */
static bool is_misplaced(const struct diagnose_network *network, int node, const double *ratio_sums,
                         struct misplaced *misplaced)
{
    int own = network->leaves[node], best = -1;
    double odds, others = 0;
    bool is_certain = ratio_sums[own] >= each_least;

    for (int leaf = 0; leaf < (int)network->leaf_count; leaf++) {
        others += leaf == own ? 0 : ratio_sums[leaf];
        if (leaf != own && (best < 0 || ratio_sums[leaf] < ratio_sums[best]))
            best = leaf;
    }
    if (best < 0 || -ratio_sums[best] < each_least ||
        (!is_certain && others - ratio_sums[best] <= 0))
        return false;
    odds = fmax(ratio_sums[own], 0) - ratio_sums[best] +
           log(prior_misplaced / (double)network->leaf_count);
    *misplaced = (struct misplaced){node, best, 1 / (1 + exp(-odds)), is_certain};
    return misplaced->probability > MODEL_CLEARED;
}

/* Finds the misplaced nodes and returns their number. first: [nodes] first contact; ratio_sums:
 * room for leaf_count. */
static long find_misplaced(const struct diagnose_network *network,
                           const struct contact *const *first, double *ratio_sums,
                           struct misplaced *misplaced)
{
    long found = 0;

    for (int node = 0; node < (int)network->node_count; node++) {
        memset(ratio_sums, 0, network->leaf_count * sizeof *ratio_sums);
        for (const struct contact *one = first[node]; one; one = one->next)
            ratio_sums[one->leaf] += one->log_ratio;
        found += is_misplaced(network, node, ratio_sums, &misplaced[found]);
    }
    return found;
}

long misplaced_find(const struct diagnose_network *network, const struct diagnose_sample *samples,
                    size_t count, struct misplaced **misplaced)
{
    size_t classes = 2 * network->rail_count, nodes = network->node_count;
    struct contact *contacts;
    const struct contact **first;
    unsigned char *bins;
    double(*counts)[2][MODEL_BINS];
    ratios *log_ratios;
    double *ratio_sums;
    long found = -1;

    *misplaced = NULL;
    if (network->leaf_count < 2)
        return 0;
    contacts = malloc((2 * count + 1) * sizeof *contacts);
    first = calloc(nodes + 1, sizeof *first);
    ratio_sums = malloc(network->leaf_count * sizeof *ratio_sums);
    bins = malloc(count + 1);
    counts = calloc(classes, sizeof *counts);
    log_ratios = malloc(classes * sizeof *log_ratios);
    *misplaced = malloc((nodes + 1) * sizeof **misplaced);
    if (contacts && first && ratio_sums && bins && counts && log_ratios && *misplaced) {
        count_samples(network, samples, count, bins, counts);
        for (size_t class = 0; class < classes; class ++)
            make_ratios(counts[class], log_ratios[class]);
        read_contacts(network, samples, count, bins, log_ratios, contacts, first);
        found = find_misplaced(network, first, ratio_sums, *misplaced);
    }
    free(contacts);
    free(first);
    free(ratio_sums);
    free(bins);
    free(counts);
    free(log_ratios);
    return found;
}
