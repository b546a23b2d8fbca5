/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/observations.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/statistics.h"

/* A class is samples that should be alike: of a rail, inside a leaf or across leaves, alone or with
 * the other rails. */
enum { CLASSES_OF_RAIL = 2 * 2 };
enum { STREAM_MOST = 64 }; /* samples of a stream that are used */
static const double mad_scale = 1.4826;
static const float dead_y = -4;

bool nodes_are_across(const struct diagnose_network *network, int a, int b)
{
    return network->leaves && network->leaf_count > 1 && network->leaves[a] != network->leaves[b];
}

bool node_is_alone(const struct diagnose_network *network, int node)
{
    for (int i = 0; i < (int)network->node_count; i++)
        if (i != node && network->leaves[i] == network->leaves[node])
            return false;
    return true;
}

bool sample_is_across(const struct diagnose_network *network, const struct diagnose_sample *sample)
{
    return nodes_are_across(network, sample->from, sample->to);
}

bool sample_is_shared(const struct diagnose_network *network, const struct diagnose_sample *sample)
{
    return sample->shared > 1 && sample_is_across(network, sample);
}

static int class_of(const struct diagnose_network *network, const struct diagnose_sample *sample)
{
    return sample->rail * CLASSES_OF_RAIL + sample_is_across(network, sample) * 2 +
           sample->is_together;
}

/* Whether the rate changed during the sample, and not because an end was not scheduled. The sample
 * was slow for some of the time. Its low end tells more than its mean, which depends on how much of
 * that time was slow. */
static bool is_changed(const struct diagnose_sample *sample)
{
    return sample->low > 0 && sample->high > MODEL_CHANGED * sample->low &&
           sample->stalled <= MODEL_SEEN;
}

float sample_y(const struct diagnose_sample *sample)
{
    double rate = is_changed(sample) ? sample->low : sample->rate;

    return rate > 0 ? fmaxf((float)log(rate), dead_y) : dead_y;
}

/* The samples, and the indices of those that did not share an uplink: of many pairs hardly any. */
struct source {
    const struct diagnose_network *network;
    const struct diagnose_sample *samples;
    size_t count, own_count;
    unsigned *own;
};

static int find_own(struct source *source)
{
    source->own = malloc((source->count + 1) * sizeof *source->own);
    for (unsigned i = 0; i < source->count && source->own; i++)
        if (!sample_is_shared(source->network, &source->samples[i]))
            source->own[source->own_count++] = i;
    return source->own ? 0 : -1;
}

/* Returns the median of the values with ranks from first on, or NAN if there are none. Reorders
 * values. */
static double median(double *values, size_t first, size_t count)
{
    float lower, upper;

    if (first == count)
        return NAN;
    lower = (float)statistics_select(values, count, (first + count - 1) / 2);
    upper = (float)statistics_select(values, count, (first + count) / 2);
    return (lower + upper) / 2.0;
}

/* What samples of a class should have, as ln, and the table for how they scatter. */
struct class
{
    double location;
    const struct model_table *table;
    size_t end; /* of its values */
};

static size_t count_below(const double *values, size_t count, double limit)
{
    size_t below = 0;

    for (size_t i = 0; i < count; i++)
        below += values[i] < limit;
    return below;
}

/* Fits the sound samples of a class, which are those near *location or above. Sets *location to
 * their median, unless they are too few. Returns the scale, of the upper half only, as no fault
 * raises a rate; 0 if these are too few. */
static double fit(double *values, size_t count, double *location)
{
    size_t low = count_below(values, count, *location + log(MODEL_SOUND)), upper;

    if (count - low >= 3 && (count - low) * 10 >= count)
        *location = median(values, low, count);
    upper = count_below(values, count, *location);
    if (count - upper < 3)
        return 0;
    return fmin(mad_scale * (statistics_select(values, count, (upper + count) / 2) - *location),
                MODEL_HEALTHY_SCALE_MOST);
}

/* Sorts the y of the samples by class. Sets the end of each class in values. */
static void sort_values(const struct source *source, struct class *classes, double *values)
{
    size_t begin = 0;

    for (size_t i = 0; i < source->own_count; i++)
        classes[class_of(source->network, &source->samples[source->own[i]])].end++;
    for (size_t i = 0; i < CLASSES_OF_RAIL * source->network->rail_count; i++) {
        begin += classes[i].end;
        classes[i].end = begin - classes[i].end;
    }
    for (size_t i = 0; i < source->own_count; i++) {
        const struct diagnose_sample *sample = &source->samples[source->own[i]];

        values[classes[class_of(source->network, sample)].end++] = sample_y(sample);
    }
}

/* Fits each class, beginning with the location of the class that it falls back to: that of alone,
 * or that of inside. Returns 0, or -1 if memory is out. */
static int fit_classes(struct observations *observations, const struct source *source,
                       struct class *classes)
{
    double *values = malloc((source->own_count + 1) * sizeof *values);
    int status = values ? 0 : -1;

    if (values)
        sort_values(source, classes, values);
    for (int i = 0; i < CLASSES_OF_RAIL * (int)source->network->rail_count && status == 0; i++) {
        size_t begin = i > 0 ? classes[i - 1].end : 0;
        int in_rail = i % CLASSES_OF_RAIL;
        struct model_table **table;
        double scale;

        if (in_rail > 0) /* together: alone; across: inside */
            classes[i].location = classes[i - (in_rail % 2 ? 1 : 2)].location;
        scale = fit(values + begin, classes[i].end - begin, &classes[i].location);
        table = &observations->tables[model_scale(scale)];
        *table = *table ? *table : malloc(sizeof **table);
        classes[i].table = *table;
        status = *table ? 0 : -1;
    }
    free(values);
    return status;
}

/* Returns the mean over all rails in the pair run and direction of sample i, measured as i was:
 * alone or together. */
static double mean_of_rails(const struct source *source, size_t i)
{
    const struct diagnose_sample *samples = source->samples, *one = &samples[i];
    size_t begin = i, rails = 0;
    double sum = 0;

    while (begin > 0 && samples[begin - 1].pair_run == one->pair_run)
        begin--;
    for (size_t k = begin; k < source->count && samples[k].pair_run == one->pair_run; k++)
        if (samples[k].from == one->from && samples[k].is_together == one->is_together) {
            sum += samples[k].rate;
            rails++;
        }
    return sum / (double)rails;
}

/* What a leaf's uplinks carried for one pair in one direction, as the mean of the rails. */
struct uplinks {
    double alone, together; /* the most of any pair */
    int common[2];          /* nodes that are in all samples together; -1: none */
    int leaf;               /* at the other end of all samples together; -1: several */
    bool is_measured;       /* there are samples together */
};

/* Adds the sample to the uplinks of both of its leaves. Samples alone come after those together. */
static void add_sample(const struct diagnose_network *network, const struct diagnose_sample *sample,
                       double mean, struct uplinks *uplinks)
{
    int leaves[] = {network->leaves[sample->from], network->leaves[sample->to]};

    for (int way = 0; way < 2; way++) {
        struct uplinks *of = &uplinks[2 * leaves[way] + way];
        int other = leaves[1 - way];

        if (!sample->is_together) {
            if (of->is_measured && (of->leaf < 0 || of->leaf == other))
                of->alone = fmax(of->alone, mean);
            continue;
        }
        if (!of->is_measured)
            *of = (struct uplinks){
                .common = {sample->from, sample->to}, .leaf = other, .is_measured = true};
        if (of->leaf != other)
            of->leaf = -1;
        for (int i = 0; i < 2; i++)
            if (of->common[i] != sample->from && of->common[i] != sample->to)
                of->common[i] = -1;
        of->together = fmax(of->together, mean);
    }
}

/* Returns the uplinks [leaf][up, down], or NULL if memory is out. is_measured remains where no node
 * can be the reason that all rails of a pair have less together: no node is in all samples, or the
 * node that is has no other node on its leaf. */
static struct uplinks *find_uplinks(const struct source *source)
{
    const struct diagnose_network *network = source->network;
    struct uplinks *uplinks = calloc(2 * network->leaf_count + 1, sizeof *uplinks);

    /* samples together first: samples alone count if they pass the same uplinks */
    for (int together = 1; together >= 0; together--)
        for (size_t i = 0; i < source->own_count && uplinks; i++) {
            const struct diagnose_sample *sample = &source->samples[source->own[i]];

            if (sample->is_together == together && sample_is_across(network, sample))
                add_sample(network, sample, mean_of_rails(source, source->own[i]), uplinks);
        }
    for (size_t i = 0; i < 2 * network->leaf_count && uplinks; i++)
        for (int k = 0; k < 2 && uplinks[i].is_measured; k++)
            if (uplinks[i].common[k] >= 0 && !node_is_alone(network, uplinks[i].common[k]) &&
                (uplinks[i].common[1 - k] < 0 || !node_is_alone(network, uplinks[i].common[1 - k])))
                uplinks[i].is_measured = false;
    return uplinks;
}

/* Returns what the uplinks of the sample were built for, if that is less than all rails of a pair
 * have, as sound uplinks may carry: what no pair of the leaf exceeds, however the rails share it. 0
 * if they limit nothing. */
static double built_rate(const struct diagnose_network *network, const struct uplinks *uplinks,
                         const struct diagnose_sample *sample, double location)
{
    double least = MODEL_SOUND * exp(location), built = 0;

    for (int way = 0; way < 2 && sample->is_together && sample_is_across(network, sample); way++) {
        const struct uplinks *of =
            &uplinks[2 * network->leaves[way ? sample->to : sample->from] + way];

        if (of->is_measured && of->alone >= least && of->together < least)
            built = built > 0 ? fmin(built, of->together) : of->together;
    }
    return built;
}

/* Adds the sample to the last pair and run. y: ln of its rate over what it should be; mean_y: of
 * the mean of all rails. */
static void add_observation(struct observations *observations, const struct diagnose_sample *sample,
                            const struct class *class, float y, double mean_y)
{
    struct pair *pair = &observations->pairs[observations->pair_count - 1];

    observations->items[observations->count++] =
        (struct observation){.table = class->table,
                             .bin = (unsigned char)model_bin(y),
                             .rails_mean_bin = (unsigned char)model_bin(mean_y),
                             .own_share_bin = (unsigned char)model_bin(y),
                             .rail = (unsigned char)sample->rail,
                             .is_up = sample->from == pair->low,
                             .is_together = sample->is_together,
                             .is_changed = is_changed(sample),
                             .is_low = y<MODEL_LOW, .is_seen = sample->stalled> MODEL_SEEN};
    pair->is_low |= y < MODEL_LOW;
    pair->end = observations->runs[observations->run_count - 1].end = observations->count;
}

/* Whether the sample fits the pattern of a hiccup, which slows the samples of a rail, of the whole
 * run, of a direction, of all rails at once, or of a rail and a direction. */
static bool is_in_common(const struct observation *sample, int pattern, int rails)
{
    return pattern == rails       ? true
           : pattern == rails + 1 ? sample->is_up
           : pattern == rails + 2 ? !sample->is_up
           : pattern == rails + 3 ? sample->is_together
           : pattern >= rails + 4 ? 2 * sample->rail + sample->is_up == pattern - rails - 4
                                  : sample->rail == pattern;
}

/* Returns the likelihood of a hiccup over that of healthy samples. Each pattern and each depth is
 * as likely. */
static double hiccup_of(const struct observations *observations, const struct run *run)
{
    int rails = (int)observations->network->rail_count, patterns = 3 * rails + 4;
    double sum = 0;

    for (int pattern = 0; pattern < patterns; pattern++) {
        double products[MODEL_DEPTHS];
        int low = 0;

        for (int depth = 0; depth < MODEL_DEPTHS; depth++)
            products[depth] = 1.0 / MODEL_DEPTHS / patterns;
        for (unsigned i = run->begin; i < run->end; i++) {
            const struct observation *sample = &observations->items[i];
            const float *row =
                sample->table->rows[MODEL_QUIET][sample->is_seen][sample->bin].always;

            if (!is_in_common(sample, pattern, rails))
                continue;
            low += sample->is_low;
            for (int depth = 0; depth < MODEL_DEPTHS; depth++)
                products[depth] *= row[depth] + model_impossible;
        }
        for (int depth = 0; depth < MODEL_DEPTHS && low >= 2; depth++)
            sum += products[depth];
    }
    return sum;
}

static bool is_same_stream(const struct observation *a, const struct observation *b)
{
    return a->rail == b->rail && a->is_up == b->is_up;
}

static double median_of_stream(const struct observations *observations, const struct pair *pair,
                               const struct observation *stream, bool is_together)
{
    double values[STREAM_MOST];
    size_t count = 0;

    for (unsigned i = pair->begin; i < pair->end && count < STREAM_MOST; i++) {
        const struct observation *one = &observations->items[i];

        if (is_same_stream(one, stream) && one->is_together == is_together)
            values[count++] = model_bin_y(one->rails_mean_bin);
    }
    return median(values, 0, count);
}

/* Sets is_slow of each sample, and own_share_bin of those that met others on a cable. */
static void find_streams(struct observations *observations, const struct pair *pair)
{
    long rails = (long)observations->network->rail_count;

    for (unsigned i = pair->begin; i < pair->end && pair->is_low; i++) {
        struct observation *one = &observations->items[i];
        double alone =
            one->is_together && one->is_low ? median_of_stream(observations, pair, one, false) : 0;
        long streams = 1;
        int low = 0;

        for (unsigned k = pair->begin; k < pair->end; k++)
            if (is_same_stream(&observations->items[k], one))
                low += observations->items[k].is_low ? 1 : -1;
        one->is_slow = low > 0;
        if (alone < MODEL_LOW)
            streams = lround(exp(alone - median_of_stream(observations, pair, one, true)));
        if (streams > 1)
            one->own_share_bin =
                (unsigned char)model_bin(model_bin_y(one->rails_mean_bin) +
                                         log((double)(streams < rails ? streams : rails)));
    }
}

/* Lists the pairs of each node, in the order of pairs. Returns 0, or -1 if memory is out. */
static int list_pairs(struct observations *observations)
{
    const struct pair *pairs = observations->pairs;
    size_t nodes = observations->network->node_count;
    unsigned *next;

    observations->of_nodes =
        malloc((2 * observations->pair_count + 1) * sizeof *observations->of_nodes);
    observations->first = calloc(nodes + 2, sizeof *observations->first);
    if (!observations->of_nodes || !observations->first)
        return -1;
    next = observations->first + 1; /* [node] becomes the end of its pairs */
    for (unsigned i = 0; i < observations->pair_count; i++) {
        next[pairs[i].low + 1]++;
        next[pairs[i].high + 1]++;
    }
    for (size_t node = 0; node < nodes; node++)
        next[node + 1] += next[node];
    for (unsigned i = 0; i < observations->pair_count; i++) {
        observations->of_nodes[next[pairs[i].low]++] = i;
        observations->of_nodes[next[pairs[i].high]++] = i;
    }
    return 0;
}

int observations_make(const struct diagnose_network *network, const struct diagnose_sample *samples,
                      size_t count, struct observations *observations)
{
    struct source source = {.network = network, .samples = samples, .count = count};
    struct class *classes = calloc(network->rail_count * CLASSES_OF_RAIL + 1, sizeof *classes);
    struct uplinks *uplinks = find_own(&source) == 0 ? find_uplinks(&source) : NULL;
    const struct diagnose_sample *last = NULL; /* the last sample added */
    bool is_done;

    *observations = (struct observations){.network = network};
    observations->items = malloc((source.own_count + 1) * sizeof *observations->items);
    observations->runs = calloc(source.own_count + 1, sizeof *observations->runs);
    observations->pairs = malloc((source.own_count + 1) * sizeof *observations->pairs);
    is_done = classes && uplinks && observations->items && observations->runs &&
              observations->pairs && fit_classes(observations, &source, classes) == 0;
    for (size_t i = 0; i < source.own_count && is_done; i++) {
        const struct diagnose_sample *sample = &samples[source.own[i]];
        const struct class *class = &classes[class_of(network, sample)];
        bool is_new = !last || !sample_is_same_pair(sample, last);
        struct node_pair ends = sample_pair(sample);
        double y, mean_y;

        y = mean_y = sample_y(sample) - class->location;
        if (sample->is_together) {
            double built = built_rate(network, uplinks, sample, class->location);

            mean_y = log(mean_of_rails(&source, source.own[i])) -
                     (built > 0 ? log(built) : class->location);
            y = built > 0 ? mean_y : y;
        }
        if (is_new)
            observations->pairs[observations->pair_count++] =
                (struct pair){.low = ends.low,
                              .high = ends.high,
                              .begin = observations->count,
                              .first_run = observations->run_count};
        if (is_new || sample->pair_run != last->pair_run) {
            observations->pairs[observations->pair_count - 1].run_count++;
            observations->runs[observations->run_count++].begin = observations->count;
        }
        last = sample;
        add_observation(observations, sample, class, (float)fmax(y, dead_y), mean_y);
    }
    free(source.own);
    free(uplinks);
    free(classes);
    for (unsigned i = 0; i < observations->pair_count; i++)
        find_streams(observations, &observations->pairs[i]);
    return is_done ? list_pairs(observations) : -1;
}

void observations_weigh(struct observations *observations, const struct model_noise *noise)
{
    double odds = noise->hiccups / (1 - noise->hiccups);

    for (int scale = 0; scale < MODEL_SCALES; scale++)
        if (observations->tables[scale])
            model_table(scale, noise, observations->network->rail_count,
                        observations->tables[scale]);
    for (unsigned i = 0; i < observations->pair_count; i++) {
        struct pair *pair = &observations->pairs[i];

        pair->most = 0;
        for (unsigned k = pair->begin; k < pair->end; k++)
            pair->most += observation_most(&observations->items[k]);
        pair->gain = exp(pair->most);
    }
    for (unsigned i = 0; i < observations->run_count; i++) {
        struct run *run = &observations->runs[i];
        double busy = 0;
        int low = 0;

        for (unsigned k = run->begin; k < run->end; k++) {
            const struct observation *sample = &observations->items[k];

            low += sample->is_low;
            busy += sample->table->healthy[MODEL_BUSY][sample->is_seen][sample->bin] -
                    sample->table->healthy[MODEL_QUIET][sample->is_seen][sample->bin];
        }
        run->busy = exp(busy);
        run->hiccup = low < 2 ? 0 : odds * hiccup_of(observations, run);
    }
}

void observations_clear(struct observations *observations)
{
    free(observations->items);
    free(observations->runs);
    free(observations->pairs);
    free(observations->of_nodes);
    free(observations->first);
    for (int i = 0; i < MODEL_SCALES; i++)
        free(observations->tables[i]);
}
