/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/judge/links/localization/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/constants/judge_constants.h"

void samples_clear(struct samples *samples)
{
    free(samples->items);
    *samples = (struct samples){0};
}

static int order_of(long left, long right)
{
    return (left > right) - (left < right);
}

static int by_pair(const struct sample *a, const struct sample *b)
{
    int low_a = a->sample.from < a->sample.to ? a->sample.from : a->sample.to;
    int low_b = b->sample.from < b->sample.to ? b->sample.from : b->sample.to;
    int order = order_of(low_a, low_b);

    return order ? order : order_of(a->sample.from + a->sample.to, b->sample.from + b->sample.to);
}

static int by_way(const struct sample *a, const struct sample *b)
{
    int order = by_pair(a, b);

    order = order ? order : order_of(a->sample.from, b->sample.from);
    return order ? order : order_of(a->sample.rail, b->sample.rail);
}

static int by_way_and_order(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    int order = by_way(a, b);

    return order ? order : order_of((long)a->order, (long)b->order);
}

static int by_pair_run(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    int order = by_pair(a, b);

    order = order ? order : order_of(a->sample.pair_run, b->sample.pair_run);
    return order ? order : order_of((long)a->order, (long)b->order);
}

/* The n-th samples of all rails and directions of a pair are those of its n-th run. */
static void number_runs(struct samples *samples)
{
    int number = 0;

    qsort(samples->items, samples->count, sizeof *samples->items, by_way_and_order);
    for (size_t i = 0; i < samples->count; i++) {
        if (i > 0)
            number = by_way(&samples->items[i - 1], &samples->items[i]) == 0 ? number + 1 : 0;
        samples->items[i].sample.pair_run = number;
    }
    qsort(samples->items, samples->count, sizeof *samples->items, by_pair_run);
    number = 0;
    for (size_t i = 0, next; i < samples->count; i = next, number++) {
        int run = samples->items[i].sample.pair_run;

        for (next = i; next < samples->count && samples->items[next].sample.pair_run == run &&
                       by_pair(&samples->items[i], &samples->items[next]) == 0;
             next++)
            ;
        for (size_t k = i; k < next; k++)
            samples->items[k].sample.pair_run = number;
    }
}

static double ratio_of(const struct sample *sample)
{
    return sample->mbps / sample->nominal_mbps;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* What the rail has on sound nodes, as a share of nominal: of the nodes' best figures, the worse
 * direction of each, the upper quartile is one of a sound node; the median of the samples that are
 * as good. best: room for 2 x nodes. ratios: room for the samples. 0: nothing is known. */
static double reference_of(const struct samples *samples, int rail, size_t nodes, double *best,
                           double *ratios)
{
    size_t count = 0, known = 0;
    double sound;

    for (size_t i = 0; i < 2 * nodes; i++)
        best[i] = NAN;
    for (size_t i = 0; i < samples->count; i++) {
        const struct sample *sample = &samples->items[i];

        if (sample->sample.rail != rail)
            continue;
        best[sample->sample.from] = fmax(best[sample->sample.from], ratio_of(sample));
        best[nodes + (size_t)sample->sample.to] =
            fmax(best[nodes + (size_t)sample->sample.to], ratio_of(sample));
    }
    for (size_t i = 0; i < nodes; i++)
        if (!isnan(best[i]) && !isnan(best[nodes + i]))
            best[known++] = fmin(best[i], best[nodes + i]);
    if (known == 0)
        return 0;
    qsort(best, known, sizeof *best, by_value);
    sound = best[(3 * (known - 1) + 3) / 4];
    for (size_t i = 0; i < samples->count; i++)
        if (samples->items[i].sample.rail == rail &&
            ratio_of(&samples->items[i]) >= sound * exp(-SAMPLES_SOUND_GAP))
            ratios[count++] = ratio_of(&samples->items[i]);
    qsort(ratios, count, sizeof *ratios, by_value);
    return count > 0 ? ratios[count / 2] : 0;
}

/* Sets y of all samples. */
static int scale(const struct localization *localization, struct samples *samples)
{
    size_t nodes = localization->links.node_count, rails = localization->links.rail_count;
    double *best = malloc((2 * nodes + 1) * sizeof *best);
    double *ratios = malloc((samples->count + 1) * sizeof *ratios);

    for (size_t k = 0; k <= rails && best && ratios; k++) {
        int rail = k < rails ? (int)k : SAMPLES_MEAN;
        double reference = reference_of(samples, rail, nodes, best, ratios);

        for (size_t i = 0; i < samples->count; i++) {
            struct sample *sample = &samples->items[i];
            double share = reference > 0 ? ratio_of(sample) / reference : 1;

            if (sample->sample.rail == rail)
                sample->sample.y = (float)log(fmax(share, SAMPLES_NOTHING_SHARE));
        }
    }
    free(best);
    free(ratios);
    return best && ratios ? 0 : -1;
}

/* Whether other is of the same direction as the mean, which then takes it in. */
static bool mean_take(struct sample *mean, const struct sample *other)
{
    if (other->sample.from != mean->sample.from)
        return false;
    mean->mbps += ratio_of(other);
    mean->is_stalled |= other->is_stalled;
    mean->is_shared |= other->is_shared;
    return true;
}

/* Adds the mean of all rails of each pair run and direction: rails that share what a host has do
 * not share it evenly. */
static void means_add(struct samples *samples, size_t rails)
{
    size_t count = samples->count;

    for (size_t i = 0; i < count; i++) {
        struct sample mean = samples->items[i];
        size_t found = 1;

        if (mean.sample.rail != 0)
            continue;
        mean.mbps /= mean.nominal_mbps;
        for (size_t k = i + 1;
             k < count && samples->items[k].sample.pair_run == mean.sample.pair_run; k++)
            found += mean_take(&mean, &samples->items[k]);
        for (size_t k = i; k > 0 && samples->items[k - 1].sample.pair_run == mean.sample.pair_run;
             k--)
            found += mean_take(&mean, &samples->items[k - 1]);
        if (found != rails)
            continue;
        mean.sample.rail = SAMPLES_MEAN;
        mean.mbps /= (double)rails;
        mean.low_mbps = mean.mbps;
        mean.nominal_mbps = 1;
        samples->items[samples->count++] = mean;
    }
    qsort(samples->items, samples->count, sizeof *samples->items, by_pair_run);
}

static int rail_find(const struct links *links, const char *name)
{
    for (size_t i = 0; i < links->rail_count; i++)
        if (strcmp(links->rails[i], name) == 0)
            return (int)i;
    return -1;
}

static double nominal_of(const struct links *links, int from, int to, int rail)
{
    double a = links->nominal_mbps[(size_t)from * links->rail_count + (size_t)rail];
    double b = links->nominal_mbps[(size_t)to * links->rail_count + (size_t)rail];

    return a > 0 && b > 0 ? fmin(a, b) : 1;
}

/* Returns whether the record is such a sample. */
static bool take(const struct localization *localization, size_t i, bool is_together,
                 struct sample *sample)
{
    const struct record *record = &localization->source.records->items[i];
    bool is_isolated = i >= localization->again;
    long from, to;
    int rail;

    if (!matrix_is_measurement(record) || isnan(record->value) ||
        strcmp(record->metric, is_together ? "bandwidth_together" : "bandwidth") != 0)
        return false;
    from = name_index_find(&localization->matrix.by_node, record->node);
    to = name_index_find(&localization->matrix.by_node, record->peer);
    rail = rail_find(&localization->links, record->part);
    if (from < 0 || to < 0 || from == to || rail < 0)
        return false;
    *sample = (struct sample){
        .sample = {.from = (int)from, .to = (int)to, .rail = rail},
        .mbps = is_isolated && !is_together ? matrix_isolated_mbps(localization->source.records, i)
                                            : record->value,
        .nominal_mbps = nominal_of(&localization->links, (int)from, (int)to, rail),
        .order = i,
        .is_isolated = is_isolated,
        .is_stalled = !(record->stalled < LINKS_QUIET),
        .is_shared = !is_isolated && record->shared > 1};
    sample->low_mbps = record->low < sample->mbps ? record->low : sample->mbps;
    return true;
}

int samples_read(const struct localization *localization, bool is_together, struct samples *samples)
{
    const struct records *records = localization->source.records;
    size_t most = 0;
    struct sample sample;

    *samples = (struct samples){0};
    for (size_t i = localization->first; i < records->count; i++)
        most += matrix_is_measurement(&records->items[i]);
    samples->items = malloc(((is_together ? 2 : 1) * most + 1) * sizeof *samples->items);
    if (!samples->items)
        return -1;
    for (size_t i = localization->first; i < records->count; i++)
        if (take(localization, i, is_together, &sample))
            samples->items[samples->count++] = sample;
    number_runs(samples);
    if (is_together)
        means_add(samples, localization->links.rail_count);
    return scale(localization, samples);
}

/* Whether the sample belongs to the finding's leaf but not to its node. */
static bool is_of_leaf(const struct links *links, const struct finding *finding,
                       const struct likelihood_sample *sample)
{
    int leaf = links->blocks ? links->blocks[finding->node] : -1;

    return links->blocks && sample->from != finding->node && sample->to != finding->node &&
           (links->blocks[sample->from] == leaf || links->blocks[sample->to] == leaf);
}

/* What is low while an end was not scheduled, or others used the uplink, is no evidence. */
static bool is_evidence(const struct sample *item, double y)
{
    return !((item->is_stalled || item->is_shared) && y < likelihood_low());
}

/* Whether others have to be looked at: in small clusters always, else where the leaf is not well
 * without the node. */
static bool needs_others(const struct samples *samples, const struct links *links,
                         const struct finding *finding)
{
    size_t all = 0, low = 0;

    for (size_t i = 0; i < samples->count; i++)
        if (is_of_leaf(links, finding, &samples->items[i].sample) &&
            is_evidence(&samples->items[i], samples->items[i].sample.y)) {
            all++;
            low += samples->items[i].sample.y < likelihood_low();
        }
    return links->node_count <= LINKS_FEW || SAMPLES_LOW_LEAST * low >= all;
}

int samples_choose(const struct samples *samples, const struct links *links,
                   const struct finding *finding, struct likelihood_sample **chosen,
                   struct likelihood_data *data)
{
    bool is_host = finding->kind == FINDING_HOST;
    bool has_others = needs_others(samples, links, finding);
    size_t count = 0;

    *chosen = malloc((samples->count + 1) * sizeof **chosen);
    if (!*chosen)
        return -1;
    for (size_t i = 0; i < samples->count; i++) {
        const struct sample *item = &samples->items[i];
        struct likelihood_sample sample = item->sample;
        bool is_mean = sample.rail == SAMPLES_MEAN;

        if (is_mean != (is_host && finding->rail < 0) ||
            !(sample.from == finding->node || sample.to == finding->node ||
              (has_others &&
               (links->node_count <= LINKS_FEW || is_of_leaf(links, finding, &sample)))))
            continue;
        /* what is well on the whole may be slow in some of its repeats */
        if (finding->is_intermittent && item->low_mbps > 0)
            sample.y += (float)log(item->low_mbps / item->mbps);
        if (!is_evidence(item, sample.y))
            continue;
        likelihood_set_preempted(&sample, item->is_stalled);
        (*chosen)[count++] = sample;
    }
    *data = (struct likelihood_data){*chosen, count, links->blocks, links->node_count, has_others};
    return 0;
}
