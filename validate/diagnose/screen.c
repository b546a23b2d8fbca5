/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/screen.h"
#include "lib/constants/links_constants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples are held against their like: of a rail, alone or with the others, that as many share an
 * uplink with. */
enum { LOADS = 8 };
/* Parts that are looked for; pairs that are measured alone of each, the lowest ones and for
 * comparison the best ones; how many are enough of a node and of a leaf; paths. */
enum { PICKS = 8, LOWEST = 4, BEST = 2, ENOUGH = 3, ENOUGH_LARGE = 12, PATHS = 32 };
static const double generic = 10; /* samples that the generic distribution counts for */
static const double folds = 4;
static const double pick_least = 12;   /* log likelihood ratio of a part that is looked at */
static const double path_least = 4;    /* and of a path */
static const double path_scale = 0.02; /* of ln rate, about a path's depth */

struct class
{
    float score[MODEL_BINS];   /* of a sample: -ln of the share that is as low, 1 on average */
    float density[MODEL_BINS]; /* of y */
    bool is_low[MODEL_BINS];
};

struct sum {
    double score;
    unsigned count;
};

struct ranked {
    struct node_pair pair;
    double score;
};

struct state {
    const struct diagnose_network *network;
    const struct diagnose_sample *samples;
    size_t count, classes, rails, leaves;
    bool *is_told; /* [count] it shared an uplink, its ends were let run, and nothing explains it */
    struct part picks[PICKS];
    size_t pick_count;
    struct class *class;
    struct sum *of_rail;   /* [nodes x rails] */
    struct sum *of_leaves; /* [leaves x leaves], the lower one first */
    bool *is_worse;        /* [nodes] of the worse half, held against the better one */
    struct ranked *ranked;
    size_t ranked_count;
};

static size_t class_of(const struct diagnose_sample *sample)
{
    int load = 0;

    while ((1 << load) < sample->shared && load < LOADS - 1)
        load++;
    return (size_t)((sample->rail * 2 + sample->is_together) * LOADS + load);
}

static bool passes(const struct state *state, const struct part *part,
                   const struct diagnose_sample *sample)
{
    return part_carries(state->network, part, sample->from, sample->to, sample->rail);
}

/* What passes the parts is explained. */
static void explain(struct state *state, const struct part *parts, size_t count)
{
    for (size_t i = 0; i < state->count; i++)
        for (size_t k = 0; k < count && state->is_told[i]; k++)
            state->is_told[i] = !passes(state, &parts[k], &state->samples[i]);
}

/* From how many samples of the class there are in each bin. What is not low is all alike. */
static void fit_class(const unsigned *counts, struct class *class)
{
    double all = 0, below = 0, above = 0, mean = 0, least;
    int top = MODEL_BINS - 1;

    for (int bin = 0; bin < MODEL_BINS; bin++)
        all += counts[bin];
    for (; top > 0 && above + counts[top] <= (1 - SCREEN_UPPER_SHARE) * all; top--)
        above += counts[top];
    least = model_bin_y(top) + MODEL_LOW;
    for (int bin = 0; bin < MODEL_BINS; bin++) {
        bool is_low = model_bin_y(bin) < least;
        double width = is_low ? model_bin_y(bin + 1) - model_bin_y(bin) : -MODEL_LOW;
        double own = is_low ? counts[bin] + generic * SCREEN_DIP_SHARE * width / folds
                            : all + generic - below;
        double share = own / (all + generic);

        class->is_low[bin] = is_low;
        class->score[bin] = (float)-log((below + own / 2) / (all + generic));
        class->density[bin] = (float)(share / width);
        mean += share * class->score[bin];
        below += own;
        for (int rest = bin + 1; !is_low && rest < MODEL_BINS; rest++) {
            class->score[rest] = class->score[bin];
            class->density[rest] = class->density[bin];
            class->is_low[rest] = false;
        }
        if (!is_low)
            break;
    }
    for (int bin = 0; bin < MODEL_BINS; bin++)
        class->score[bin] /= (float)mean;
}

/* Held against nodes of the better half, if there are such samples. */
static int fit_classes(struct state *state, bool is_of_better)
{
    unsigned(*counts)[MODEL_BINS] = calloc(state->classes, sizeof *counts);

    if (!counts)
        return -1;
    for (size_t i = 0; i < state->count; i++) {
        const struct diagnose_sample *sample = &state->samples[i];

        if (state->is_told[i] &&
            !(is_of_better && (state->is_worse[sample->from] || state->is_worse[sample->to])))
            counts[class_of(sample)][model_bin(sample_y(sample))]++;
    }
    for (size_t i = 0; i < state->classes; i++)
        fit_class(counts[i], &state->class[i]);
    free(counts);
    return 0;
}

static double score_of(const struct state *state, const struct diagnose_sample *sample)
{
    return state->class[class_of(sample)].score[model_bin(sample_y(sample))];
}

static void add(struct sum *sum, const struct sum *other)
{
    sum->score += other->score;
    sum->count += other->count;
}

static void add_scores(struct state *state)
{
    const int *leaf = state->network->leaves;

    memset(state->of_rail, 0, state->network->node_count * state->rails * sizeof *state->of_rail);
    memset(state->of_leaves, 0, state->leaves * state->leaves * sizeof *state->of_leaves);
    for (size_t i = 0; i < state->count; i++) {
        const struct diagnose_sample *sample = &state->samples[i];
        struct sum one = {.count = 1};
        size_t a, b;

        if (!state->is_told[i])
            continue;
        one.score = score_of(state, sample);
        a = (size_t)leaf[sample->from], b = (size_t)leaf[sample->to];
        add(&state->of_leaves[a < b ? a * state->leaves + b : b * state->leaves + a], &one);
        add(&state->of_rail[(size_t)sample->from * state->rails + (size_t)sample->rail], &one);
        add(&state->of_rail[(size_t)sample->to * state->rails + (size_t)sample->rail], &one);
    }
}

static struct sum sum_of_node(const struct state *state, size_t node)
{
    struct sum sum = {0, 0};

    for (size_t rail = 0; rail < state->rails; rail++)
        add(&sum, &state->of_rail[node * state->rails + rail]);
    return sum;
}

static double mean_of(const struct sum *sum)
{
    return sum->count > 0 ? sum->score / sum->count : 0;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static int find_worse(struct state *state)
{
    size_t nodes = state->network->node_count;
    double *means = malloc((nodes + 1) * sizeof *means), middle;

    if (!means)
        return -1;
    for (size_t node = 0; node < nodes; node++) {
        struct sum sum = sum_of_node(state, node);

        means[node] = mean_of(&sum);
    }
    qsort(means, nodes, sizeof *means, by_value);
    middle = means[nodes / 2];
    for (size_t node = 0; node < nodes; node++) {
        struct sum sum = sum_of_node(state, node);

        state->is_worse[node] = mean_of(&sum) > middle;
    }
    free(means);
    return 0;
}

/* Scores are exponential with mean 1, or, through a part at fault, with a greater one. */
static double gain_of(const struct sum *sum)
{
    double mean = mean_of(sum);

    return mean > 1 ? sum->count * (mean - 1 - log(mean)) : 0;
}

static bool is_picked(const struct state *state, const struct part *part)
{
    for (size_t i = 0; i < state->pick_count; i++)
        if (part_is_same(&state->picks[i], part))
            return true;
    return false;
}

static void weigh(const struct state *state, const struct part *part, const struct sum *sum,
                  struct part *best, double *most)
{
    double gain = gain_of(sum);

    if (gain > *most && !is_picked(state, part)) {
        *most = gain;
        *best = *part;
    }
}

/* The part with the lowest samples that was not picked. Returns whether there is one. */
static bool find_lowest(const struct state *state, struct part *best)
{
    double most = pick_least;
    struct part part;

    for (size_t node = 0; node < state->network->node_count; node++) {
        struct sum all = sum_of_node(state, node);

        part = (struct part){.type = DIAGNOSE_NODE, .place = (int)node, .peer = -1, .rail = -1};
        part.ways = DIAGNOSE_BOTH;
        weigh(state, &part, &all, best, &most);
        part.type = DIAGNOSE_RAIL;
        for (part.rail = 0; part.rail < (int)state->rails; part.rail++)
            weigh(state, &part, &state->of_rail[node * state->rails + (size_t)part.rail], best,
                  &most);
    }
    part = (struct part){.type = DIAGNOSE_UPLINK, .rail = -1, .ways = DIAGNOSE_BOTH};
    for (size_t a = 0; a < state->leaves; a++) {
        struct sum all = {0, 0};

        part.place = (int)a;
        for (size_t b = 0; b < state->leaves; b++) {
            const struct sum *one =
                &state->of_leaves[a < b ? a * state->leaves + b : b * state->leaves + a];

            part.peer = (int)b;
            if (a < b && state->leaves > 2)
                weigh(state, &part, one, best, &most);
            add(&all, one);
        }
        part.peer = -1;
        if (state->leaves > 2 || a == 0)
            weigh(state, &part, &all, best, &most);
    }
    return most > pick_least;
}

/* The end of the samples of the pair that begins there. */
static size_t end_of_pair(const struct state *state, size_t begin)
{
    const struct diagnose_sample *first = &state->samples[begin];
    size_t end = begin + 1;

    while (end < state->count && sample_is_same_pair(&state->samples[end], first))
        end++;
    return end;
}

static bool is_alone(const struct state *state, size_t begin, size_t end)
{
    for (; begin < end; begin++)
        if (!sample_is_shared(state->network, &state->samples[begin]))
            return true;
    return false;
}

static int by_score(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    return (a->score < b->score) - (a->score > b->score);
}

/* Ranks the pair whose samples begin there. */
static void rank(struct state *state, size_t begin, double score)
{
    const struct diagnose_sample *first = &state->samples[begin];

    state->ranked[state->ranked_count++] =
        (struct ranked){node_pair_of(first->from, first->to), score};
}

/* The pairs of a part that were not measured alone, by their lowest sample. Returns how many were.
 */
static size_t rank_pairs(struct state *state, const struct part *part)
{
    size_t alone = 0;

    state->ranked_count = 0;
    for (size_t begin = 0, end; begin < state->count; begin = end) {
        double most = 0;

        end = end_of_pair(state, begin);
        for (size_t i = begin; i < end; i++)
            if (passes(state, part, &state->samples[i]))
                most = fmax(most, score_of(state, &state->samples[i]));
        if (most > 0 && is_alone(state, begin, end))
            alone++;
        else if (most > 0)
            rank(state, begin, most);
    }
    qsort(state->ranked, state->ranked_count, sizeof *state->ranked, by_score);
    return alone;
}

/* ln of how much likelier the samples that go these ways on the rail are of one depth each than of
 * their classes. */
static double path_gain(const struct state *state, size_t begin, size_t end, int rail, int ways)
{
    double sum = 0;

    for (size_t k = begin; k < end; k++) {
        const struct diagnose_sample *deep = &state->samples[k];
        double product = 1.0 / MODEL_DEPTHS;

        if (deep->rail != rail || !state->class[class_of(deep)].is_low[model_bin(sample_y(deep))])
            continue;
        for (size_t i = begin; i < end; i++) {
            const struct diagnose_sample *one = &state->samples[i];
            int way = one->from < one->to ? DIAGNOSE_SENDS : DIAGNOSE_RECEIVES;

            if (one->rail != rail || !(way & ways) || !state->is_told[i])
                continue;
            product *= model_density(sample_y(one) - sample_y(deep), path_scale) /
                       state->class[class_of(one)].density[model_bin(sample_y(one))];
        }
        sum += product;
    }
    return log(sum);
}

/* Paths that nothing else explains. */
static void rank_paths(struct state *state)
{
    state->ranked_count = 0;
    for (size_t begin = 0, end; begin < state->count; begin = end) {
        double most = -INFINITY;

        end = end_of_pair(state, begin);
        for (int rail = 0; rail < (int)state->rails && !is_alone(state, begin, end); rail++)
            for (int ways = DIAGNOSE_SENDS; ways <= DIAGNOSE_BOTH; ways++)
                most = fmax(most, path_gain(state, begin, end, rail, ways));
        if (most > path_least)
            rank(state, begin, most);
    }
    qsort(state->ranked, state->ranked_count, sizeof *state->ranked, by_score);
}

static bool is_end(const struct screen *screen, size_t first, int node)
{
    for (size_t i = first; i < screen->pair_count; i++)
        if (screen->pairs[i].low == node || screen->pairs[i].high == node)
            return true;
    return false;
}

/* Adds up to so many pairs of those that are ranked, from the first or from the last, of different
 * nodes but for the part's own. */
static void add_pairs(const struct state *state, const struct part *part, int most, bool is_back,
                      size_t first, struct screen *screen)
{
    int own = part->type == DIAGNOSE_RAIL || part->type == DIAGNOSE_NODE ? part->place : -1;

    for (size_t i = 0; i < state->ranked_count && most > 0; i++) {
        struct node_pair pair = state->ranked[is_back ? state->ranked_count - 1 - i : i].pair;

        if ((pair.low != own && is_end(screen, first, pair.low)) ||
            (pair.high != own && is_end(screen, first, pair.high)))
            continue;
        screen->pairs[screen->pair_count++] = pair;
        most--;
    }
}

/* Picks the part with the lowest samples and asks for pairs of it. Returns whether there is one. */
static bool pick(struct state *state, struct screen *screen)
{
    struct part *part = &state->picks[state->pick_count];
    size_t first = screen->pair_count, alone;

    add_scores(state);
    if (state->pick_count == PICKS || !find_lowest(state, part))
        return false;
    alone = rank_pairs(state, part);
    state->pick_count++;
    /* cleared by what was measured alone, it explains nothing */
    if (state->ranked_count == 0 || alone >= (part_is_large(part) ? ENOUGH_LARGE : ENOUGH))
        return true;
    explain(state, part, 1);
    add_pairs(state, part, LOWEST, false, first, screen);
    if (part_is_large(part))
        add_pairs(state, part, BEST, true, first, screen);
    return true;
}

static int find(struct state *state, struct screen *screen)
{
    if (fit_classes(state, false) != 0)
        return -1;
    add_scores(state);
    if (find_worse(state) != 0 || fit_classes(state, true) != 0)
        return -1;
    while (pick(state, screen))
        ;
    rank_paths(state);
    for (size_t i = 0; i < state->ranked_count && i < PATHS; i++)
        screen->pairs[screen->pair_count++] = state->ranked[i].pair;
    return 0;
}

int screen_make(const struct diagnose_network *network, const struct diagnose_sample *samples,
                size_t count, const struct part *known, size_t known_count, struct screen *screen)
{
    struct state state = {.network = network,
                          .samples = samples,
                          .count = count,
                          .rails = network->rail_count,
                          .leaves = network->leaf_count,
                          .classes = network->rail_count * 2 * LOADS,
                          .is_told = malloc((count + 1) * sizeof *state.is_told)};
    size_t nodes = network->node_count, pairs = 0, shared = 0;
    int status = -1;

    *screen = (struct screen){0};
    for (size_t i = 0; i < count; i = end_of_pair(&state, i))
        pairs++;
    for (size_t i = 0; i < count && state.is_told; i++) {
        bool is_shared = sample_is_shared(network, &samples[i]);

        state.is_told[i] = is_shared && samples[i].stalled <= MODEL_SEEN;
        shared += is_shared;
    }
    if (state.is_told && shared == 0) {
        free(state.is_told);
        return 0;
    }
    state.class = calloc(state.classes, sizeof *state.class);
    state.of_rail = calloc(nodes * state.rails, sizeof *state.of_rail);
    state.of_leaves = calloc(state.leaves * state.leaves, sizeof *state.of_leaves);
    state.is_worse = calloc(nodes, sizeof *state.is_worse);
    state.ranked = malloc((pairs + 1) * sizeof *state.ranked);
    screen->pairs = malloc((PICKS * (LOWEST + BEST) + PATHS) * sizeof *screen->pairs);
    if (state.is_told && state.class && state.of_rail && state.of_leaves && state.is_worse &&
        state.ranked && screen->pairs) {
        explain(&state, known, known_count);
        status = find(&state, screen);
    }
    free(state.is_told);
    free(state.class);
    free(state.of_rail);
    free(state.of_leaves);
    free(state.is_worse);
    free(state.ranked);
    return status;
}

void screen_clear(struct screen *screen)
{
    free(screen->pairs);
    *screen = (struct screen){0};
}
