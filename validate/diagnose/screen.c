/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/constants/links_constants.h"
#include "validate/diagnose/diagnose.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Samples are compared within a class: of a rail, alone or with the others, with as many pairs on
 * the uplink (a power of two). */
enum { LOADS = 8 };
/* Parts picked at most; the lowest pairs of each to measure alone; pairs measured alone that are
 * enough, of a node and of uplinks; pairs to measure alone for paths. */
enum { PICKS = 8, LOWEST = 4, ENOUGH = 3, ENOUGH_LARGE = 12, PATHS = 32 };

/* A class, by bin of y. Scores of the last bin and above are all alike. */
struct class
{
    unsigned counts[MODEL_BINS]; /* of samples between nodes that are not marked */
    float score[MODEL_BINS];   /* of a sample: -ln of the share that is as low, scaled to mean 1 */
    float density[MODEL_BINS]; /* of y */
    int last;
};

/* The sum over the samples that pass a part. */
struct sum {
    double score;
    unsigned count;
    bool is_picked;
};

/* The samples of a pair. */
struct range {
    struct node_pair pair;
    unsigned begin, end;
    bool is_alone; /* some of them did not share an uplink */
};

struct ranked {
    struct node_pair pair;
    double score;
};

struct state {
    const struct diagnose_network *network;
    const struct diagnose_sample *samples;
    size_t count, class_count, rails, leaves;
    /* [count] it shared an uplink, its ends were scheduled, nothing explains it */
    bool *is_counted;
    unsigned char *bins; /* [count] model_bin() of its y; 0: it did not share an uplink */
    struct range *ranges;
    size_t range_count;
    struct class *classes;
    struct sum *sums; /* [part_count] by number: see part_of() */
    size_t part_count;
    bool *is_marked;       /* [nodes] in a part surely at fault; later: one of the worst */
    struct ranked *ranked; /* room for the nodes, and for the pairs */
    size_t ranked_count;
};

/* Returns the part with that number. Numbers: for each node all rails, then each rail; then for
 * leaves a <= b, at a * leaves + b, the uplinks between them or, if a is b, all uplinks of the
 * leaf. */
static struct part part_of(const struct state *state, size_t number)
{
    size_t of_node = 1 + state->rails, of_nodes = state->network->node_count * of_node;
    struct part part = {.type = DIAGNOSE_UPLINK, .peer = -1, .rail = -1, .ways = DIAGNOSE_BOTH};

    if (number < of_nodes) {
        part.type = number % of_node > 0 ? DIAGNOSE_RAIL : DIAGNOSE_NODE;
        part.index = (int)(number / of_node);
        part.rail = (int)(number % of_node) - 1;
        return part;
    }
    part.index = (int)((number - of_nodes) / state->leaves);
    if ((number - of_nodes) % (state->leaves + 1) > 0)
        part.peer = (int)((number - of_nodes) % state->leaves);
    return part;
}

/* Sets numbers to those of the parts that the sample passes. Returns how many. With two leaves,
 * both have the same uplinks. */
enum { NUMBERS_MOST = 7 };
static int numbers_of(const struct state *state, const struct diagnose_sample *sample,
                      size_t numbers[NUMBERS_MOST])
{
    const int *leaves = state->network->leaves;
    size_t of_node = 1 + state->rails, first = state->network->node_count * of_node;
    size_t a = (size_t)leaves[sample->from], b = (size_t)leaves[sample->to];
    size_t low = a < b ? a : b, high = a < b ? b : a;
    int ends[] = {sample->from, sample->to}, count = 0;

    for (int k = 0; k < 2; k++) {
        numbers[count++] = (size_t)ends[k] * of_node;
        numbers[count++] = (size_t)ends[k] * of_node + 1 + (size_t)sample->rail;
    }
    numbers[count++] = first + low * (state->leaves + 1);
    if (state->leaves > 2) {
        numbers[count++] = first + high * (state->leaves + 1);
        numbers[count++] = first + low * state->leaves + high;
    }
    return count;
}

/* load: log2, rounded up, of the number of pairs that shared the uplink. */
static struct class *class_of(const struct state *state, const struct diagnose_sample *sample)
{
    int load = sample->shared > 1 ? 32 - __builtin_clz(sample->shared - 1U) : 0;
    int index = (sample->rail * 2 + sample->is_together) * LOADS;

    return &state->classes[index + (load < LOADS ? load : LOADS - 1)];
}

static void fit_class(struct class *class)
{
    const unsigned *counts = class->counts;
    double all = 0, below = 0, above = 0, mean = 0;
    int top = MODEL_BINS - 1;

    for (int bin = 0; bin < MODEL_BINS; bin++)
        all += counts[bin];
    for (; top > 0 && above + counts[top] <= (1 - SCREEN_UPPER_SHARE) * all; top--)
        above += counts[top];
    for (class->last = 0; model_bin_y(class->last) < model_bin_y(top) + MODEL_LOW; class->last++)
        ;
    for (int bin = 0; bin <= class->last; bin++) {
        bool is_low = bin < class->last;
        double width = is_low ? model_bin_y(bin + 1) - model_bin_y(bin) : -MODEL_LOW;
        double own = is_low ? counts[bin] + SCREEN_GENERIC * SCREEN_DIP_SHARE * width / SCREEN_FOLDS
                            : all + SCREEN_GENERIC - below;
        double share = own / (all + SCREEN_GENERIC);

        class->score[bin] = (float)-log((below + own / 2) / (all + SCREEN_GENERIC));
        class->density[bin] = (float)(share / width);
        mean += share * class->score[bin];
        below += own;
    }
    for (int bin = 0; bin <= class->last; bin++)
        class->score[bin] /= (float)mean;
    for (int bin = class->last + 1; bin < MODEL_BINS; bin++) {
        class->score[bin] = class->score[class->last];
        class->density[bin] = class->density[class->last];
    }
}

static double mean_of(const struct sum *sum)
{
    return sum->count > 0 ? sum->score / sum->count : 0;
}

static double score_of(const struct state *state, size_t i)
{
    return class_of(state, &state->samples[i])->score[state->bins[i]];
}

/* Adds a sample to the parts that it passes, or (-1) takes it away. */
static void add_score(struct state *state, size_t i, int more)
{
    size_t numbers[NUMBERS_MOST];
    int count = numbers_of(state, &state->samples[i], numbers);
    double score = more * score_of(state, i);

    for (int k = 0; k < count; k++) {
        state->sums[numbers[k]].score += score;
        state->sums[numbers[k]].count += (unsigned)more;
    }
}

/* Fits each class to the samples between nodes that are not marked, and sums the scores of all
 * samples by part. */
static void fit_classes(struct state *state)
{
    memset(state->classes, 0, state->class_count * sizeof *state->classes);
    for (size_t i = 0; i < state->count; i++) {
        const struct diagnose_sample *sample = &state->samples[i];

        if (state->is_counted[i] && !state->is_marked[sample->from] &&
            !state->is_marked[sample->to])
            class_of(state, sample)->counts[state->bins[i]]++;
    }
    for (size_t i = 0; i < state->class_count; i++)
        fit_class(&state->classes[i]);
    memset(state->sums, 0, state->part_count * sizeof *state->sums);
    for (size_t i = 0; i < state->count; i++)
        if (state->is_counted[i])
            add_score(state, i, 1);
}

static int by_score(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    return (a->score < b->score) - (a->score > b->score);
}

/* Marks the worst nodes, which may be at fault: PICKS at most, of few nodes less than half. */
static void mark_worst(struct state *state)
{
    size_t nodes = state->network->node_count, of_node = 1 + state->rails;
    double most;

    for (size_t node = 0; node < nodes; node++)
        state->ranked[node].score = mean_of(&state->sums[node * of_node]);
    qsort(state->ranked, nodes, sizeof *state->ranked, by_score);
    most = state->ranked[nodes > 2 * PICKS ? PICKS : (nodes - 1) / 2].score;
    for (size_t node = 0; node < nodes; node++)
        state->is_marked[node] = mean_of(&state->sums[node * of_node]) > most;
}

/* Returns the part with the lowest samples that is not picked yet, or NULL. Scores are exponential
 * with mean 1, or with a greater mean through a part at fault. */
static struct sum *find_lowest(const struct state *state)
{
    struct sum *best = NULL;
    double most = SCREEN_PICK_LEAST;

    for (size_t i = 0; i < state->part_count; i++) {
        double mean = mean_of(&state->sums[i]);
        double gain = mean > 1 ? state->sums[i].count * (mean - 1 - log(mean)) : 0;

        if (gain > most && !state->sums[i].is_picked) {
            most = gain;
            best = &state->sums[i];
        }
    }
    return best;
}

static bool passes(const struct state *state, const struct part *part, size_t i)
{
    const struct diagnose_sample *sample = &state->samples[i];

    return part_carries(state->network, part, sample->from, sample->to, sample->rail);
}

/* Takes away the samples that pass the part: they are explained. */
static void explain(struct state *state, const struct part *part)
{
    for (const struct range *of = state->ranges; of < state->ranges + state->range_count; of++) {
        if (!part_touches(state->network, part, of->pair.low, of->pair.high))
            continue;
        for (size_t i = of->begin; i < of->end; i++)
            if (state->is_counted[i] && passes(state, part, i)) {
                add_score(state, i, -1);
                state->is_counted[i] = false;
            }
    }
}

/* Finds the samples of each pair, and sets is_counted: the sample shared an uplink, its ends were
 * scheduled, and it passes no part that is surely at fault. Few nodes are marked, so most samples
 * need no check. */
static void find_counted(struct state *state, const struct diagnosis *diagnosis)
{
    const struct suspicion *items = diagnosis->items;
    size_t sure = 0; /* items that are sure, which come first */

    for (; sure < diagnosis->count && items[sure].probability >= MODEL_SURE; sure++)
        part_mark(state->network, &items[sure].part, SIZE_MAX, state->is_marked);
    for (size_t i = 0; i < state->count; i++) {
        const struct diagnose_sample *sample = &state->samples[i];
        bool is_at_fault = state->is_marked[sample->from] || state->is_marked[sample->to];
        bool is_shared = sample_is_shared(state->network, sample);

        if (i == 0 || !sample_is_same_pair(sample, sample - 1))
            state->ranges[state->range_count++] =
                (struct range){.pair = sample_pair(sample), .begin = (unsigned)i};
        state->ranges[state->range_count - 1].end = (unsigned)i + 1;
        state->ranges[state->range_count - 1].is_alone |= !is_shared;
        state->bins[i] = is_shared ? (unsigned char)model_bin(sample_y(sample)) : 0;
        state->is_counted[i] = is_shared && sample->stalled <= MODEL_SEEN;
        for (size_t k = 0; k < sure && is_at_fault && state->is_counted[i]; k++)
            state->is_counted[i] = !passes(state, &items[k].part, i);
    }
    memset(state->is_marked, 0, state->network->node_count * sizeof *state->is_marked);
}

/* Returns the score of the lowest sample that passes the part, or 0. */
static double lowest_of(const struct state *state, const struct range *of, const struct part *part)
{
    double most = 0;

    if (!part_touches(state->network, part, of->pair.low, of->pair.high))
        return 0;
    for (size_t i = of->begin; i < of->end; i++)
        if (passes(state, part, i))
            most = fmax(most, score_of(state, i));
    return most;
}

/* Returns ln of how much likelier the samples on the rail are of one common depth than of their
 * classes: the maximum of those in one direction, in the other, and in both. */
static double path_gain(const struct state *state, const struct range *of, int rail)
{
    double sums[3] = {0};

    for (size_t k = of->begin; k < of->end; k++) {
        const struct diagnose_sample *deep = &state->samples[k];
        double ways[2] = {1, 1};

        if (deep->rail != rail || state->bins[k] >= class_of(state, deep)->last)
            continue;
        for (size_t i = of->begin; i < of->end; i++) {
            const struct diagnose_sample *one = &state->samples[i];

            if (one->rail == rail && state->is_counted[i])
                ways[one->from > one->to] *=
                    model_density(sample_y(one) - sample_y(deep), SCREEN_PATH_SCALE) /
                    class_of(state, one)->density[state->bins[i]];
        }
        for (int way = 0; way < 3; way++)
            sums[way] += (way < 2 ? ways[way] : ways[0] * ways[1]) / MODEL_DEPTHS;
    }
    return log(fmax(fmax(sums[0], sums[1]), sums[2]));
}

/* Ranks the pairs that were not measured alone: those of the part by their lowest sample or, if
 * part is NULL, all by path_gain(). Returns how many pairs of the part were measured alone. */
static size_t rank(struct state *state, const struct part *part)
{
    size_t alone = 0;

    state->ranked_count = 0;
    for (const struct range *of = state->ranges; of < state->ranges + state->range_count; of++) {
        double score = part ? lowest_of(state, of, part) : 0;

        for (int rail = 0; rail < (int)state->rails && !part && !of->is_alone; rail++)
            score = fmax(score, path_gain(state, of, rail));
        if (score <= (part ? 0 : SCREEN_PATH_LEAST))
            continue;
        alone += of->is_alone;
        if (!of->is_alone)
            state->ranked[state->ranked_count++] = (struct ranked){of->pair, score};
    }
    qsort(state->ranked, state->ranked_count, sizeof *state->ranked, by_score);
    return alone;
}

/* Adds the first of the ranked pairs that have no node in common, except the node of the part. */
static void add_pairs(const struct state *state, const struct part *part,
                      struct diagnosis *diagnosis)
{
    int own = part_is_of_node(part) ? part->index : -1;
    size_t first = diagnosis->screened_count;

    for (size_t i = 0; i < state->ranked_count && diagnosis->screened_count < first + LOWEST; i++) {
        struct node_pair pair = state->ranked[i].pair;
        bool is_new = true;

        for (size_t k = first; k < diagnosis->screened_count && is_new; k++) {
            const struct node_pair *other = &diagnosis->screened[k];

            is_new = (pair.low == own || (pair.low != other->low && pair.low != other->high)) &&
                     (pair.high == own || (pair.high != other->low && pair.high != other->high));
        }
        if (is_new)
            diagnosis->screened[diagnosis->screened_count++] = pair;
    }
}

/* Picks the part with the lowest samples and adds pairs of it. Returns whether there is one. */
static bool pick(struct state *state, struct diagnosis *diagnosis)
{
    struct sum *lowest = find_lowest(state);
    struct part part;
    size_t alone;

    if (!lowest)
        return false;
    lowest->is_picked = true;
    part = part_of(state, (size_t)(lowest - state->sums));
    alone = rank(state, &part);
    /* samples of pairs measured alone clear the part: it explains nothing */
    if (state->ranked_count == 0 || alone >= (part_is_large(&part) ? ENOUGH_LARGE : ENOUGH))
        return true;
    explain(state, &part);
    add_pairs(state, &part, diagnosis);
    return true;
}

/* The samples across the uplinks of a leaf. */
struct uplinks {
    double carried; /* most that pairs had together; infinite: a pair was measured alone */
    const struct diagnose_sample *lowest;
};

/* Adds the lowest pair of each leaf whose uplinks were never seen to carry what one pair needs: all
 * samples across them may be slow alike, and none is low in its class. */
static int add_unproven(const struct state *state, struct diagnosis *diagnosis)
{
    const struct diagnose_network *network = state->network;
    struct uplinks *uplinks = calloc(state->leaves + 1, sizeof *uplinks);
    double needed = 0;

    if (!uplinks)
        return -1;
    for (size_t i = 0; i < state->count; i++) {
        const struct diagnose_sample *sample = &state->samples[i];
        bool is_shared = sample_is_shared(network, sample);
        int ends[] = {sample->from, sample->to};

        if (!is_shared)
            needed = fmax(needed, network->fault_share * sample->rate);
        for (int k = 0; k < 2 && sample_is_across(network, sample); k++) {
            struct uplinks *own = &uplinks[network->leaves[ends[k]]];
            double carried = is_shared ? sample->rate * sample->shared : INFINITY;

            own->carried = fmax(own->carried, carried);
            if (!own->lowest || sample->rate < own->lowest->rate)
                own->lowest = sample;
        }
    }
    for (size_t leaf = 0; leaf < state->leaves; leaf++)
        if (uplinks[leaf].lowest && uplinks[leaf].carried < needed)
            diagnosis->screened[diagnosis->screened_count++] = sample_pair(uplinks[leaf].lowest);
    free(uplinks);
    return 0;
}

static int find(struct state *state, struct diagnosis *diagnosis)
{
    fit_classes(state);
    mark_worst(state);
    fit_classes(state);
    for (int i = 0; i < PICKS && pick(state, diagnosis); i++)
        ;
    rank(state, NULL);
    for (size_t i = 0; i < state->ranked_count && i < PATHS; i++)
        diagnosis->screened[diagnosis->screened_count++] = state->ranked[i].pair;
    return add_unproven(state, diagnosis);
}

int diagnose_screen(const struct diagnose_network *network, const struct diagnose_sample *samples,
                    size_t count, struct diagnosis *diagnosis)
{
    size_t rails = network->rail_count, leaves = network->leaf_count;
    struct state state = {
        .network = network,
        .samples = samples,
        .count = count,
        .rails = rails,
        .leaves = leaves,
        .class_count = rails * 2 * LOADS,
        .part_count = network->node_count * (1 + rails) + leaves * leaves,
        .is_counted = malloc((count + 1) * sizeof *state.is_counted),
        .bins = malloc((count + 1) * sizeof *state.bins),
        .ranges = malloc((count + 1) * sizeof *state.ranges),
        .ranked = malloc((count + network->node_count + 1) * sizeof *state.ranked),
        .is_marked = calloc(network->node_count + 1, sizeof *state.is_marked),
    };
    int status = -1;

    state.classes = malloc((state.class_count + 1) * sizeof *state.classes);
    state.sums = calloc(state.part_count + 1, sizeof *state.sums);
    diagnosis->screened = malloc((PICKS * LOWEST + PATHS + leaves) * sizeof *diagnosis->screened);
    if (state.is_counted && state.bins && state.ranges && state.ranked && state.classes &&
        state.sums && state.is_marked && diagnosis->screened) {
        find_counted(&state, diagnosis);
        status = count > 0 ? find(&state, diagnosis) : 0;
    }
    free(state.is_marked);
    free(state.is_counted);
    free(state.bins);
    free(state.ranges);
    free(state.ranked);
    free(state.classes);
    free(state.sums);
    return status;
}
