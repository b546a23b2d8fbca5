/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/explanation.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/vectorised.h"

/* Products are kept between 1 / large and large. */
static const double large = 1e150;
static const double log_large = 346;    /* rounded up */
static const double exp_nothing = -746; /* exp() of this, or of less, is 0 */
/* Pairs between two checks of whether the remaining ones matter: PAIRS_AT_ONCE, plus one for each
 * PAIRS_MORE_OF of them that were weighed. */
enum { PAIRS_AT_ONCE = 4, PAIRS_MORE_OF = 8 };

struct explained_pair explanation_pair(const struct explanation *explanation, unsigned pair)
{
    const struct observations *observations = explanation->observations;
    const struct pair *ends = &observations->pairs[pair];
    struct explained_pair explained;
    int most = explanation->touched[pair] < PARTS_MOST ? explanation->touched[pair] : PARTS_MOST;

    explained.observations = observations;
    explained.pair = ends;
    explained.part_count = 0;
    for (size_t i = 0; explained.part_count < most && i < explanation->count; i++)
        if (part_touches(observations->network, &explanation->parts[i], ends->low, ends->high))
            explained.parts[explained.part_count++] = &explanation->parts[i];
    return explained;
}

/* Recomputes the first `count` pairs in scratch. more: 1 or -1, parts that touch them more or less;
 * 0: none. */
static void change(struct explanation *explanation, unsigned count, int more)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned pair = explanation->scratch[i];
        double *values = explanation->values[pair], *totals = explanation->totals;
        struct explained_pair explained;

        explanation->touched[pair] = (unsigned short)(explanation->touched[pair] + more);
        explained = explanation_pair(explanation, pair);
        for (int rate = 0; rate < MODEL_RATES; rate++)
            totals[rate] -= values[rate];
        pair_values(&explained, values);
        for (int rate = 0; rate < MODEL_RATES; rate++)
            totals[rate] += values[rate];
    }
    for (int i = 0; i < MODEL_RATES; i++)
        if (explanation->totals[i] + log(model_rate_priors[i]) >
            explanation->totals[explanation->rate] + log(model_rate_priors[explanation->rate]))
            explanation->rate = i;
}

int explanation_make(const struct observations *observations, struct explanation *explanation)
{
    size_t pairs = observations->pair_count;

    *explanation = (struct explanation){.observations = observations};
    explanation->values = calloc(pairs + 1, sizeof *explanation->values);
    explanation->scratch = malloc((pairs + 1) * sizeof *explanation->scratch);
    explanation->touched = calloc(pairs + 1, sizeof *explanation->touched);
    explanation->size = pairs + PARTS_MOST;
    explanation->parts = malloc(explanation->size * sizeof *explanation->parts);
    if (!explanation->values || !explanation->scratch || !explanation->touched ||
        !explanation->parts)
        return -1;
    for (unsigned i = 0; i < pairs; i++)
        explanation->scratch[i] = i;
    change(explanation, (unsigned)pairs, 0);
    return 0;
}

void explanation_clear(struct explanation *explanation)
{
    free(explanation->parts);
    free(explanation->values);
    free(explanation->scratch);
    free(explanation->touched);
    *explanation = (struct explanation){0};
}

/* The gain of each cell of a part. Its log is logs[cell] + log(products[cell]). */
struct gains {
    double products[MODEL_CELLS], logs[MODEL_CELLS];
    int depths; /* of each duty, or groups of depths */
    bool has_logs;
};

VECTORISED static void gains_multiply(struct gains *gains, const double *factors)
{
    int is_far = 0, cells = gains->depths * MODEL_DUTIES;

    for (int cell = 0; cell < cells; cell++) {
        gains->products[cell] *= factors[cell];
        is_far |= (gains->products[cell] > large) | (gains->products[cell] < 1 / large);
    }
    gains->has_logs |= is_far;
    for (int cell = 0; cell < cells && is_far; cell++) {
        gains->logs[cell] += log(gains->products[cell]);
        gains->products[cell] = 1;
    }
}

/* Returns the log of the mean gain of the cells, weighted by prior; of groups, an upper bound. Sets
 * *best to the likeliest cell. */
static double gains_sum(const struct gains *gains, enum model_sharing sharing, int *best)
{
    double sum = 0, most = -INFINITY, greatest = 0;
    int cells = gains->depths * MODEL_DUTIES;

    for (int cell = 0; cell < cells && gains->has_logs; cell++)
        if (gains->logs[cell] + log_large > most)
            most = fmax(most, gains->logs[cell] + log(gains->products[cell]));
    for (int duty = 0, cell = 0; duty < MODEL_DUTIES; duty++) {
        double prior = model_duty_priors[sharing][duty] / gains->depths;

        for (int end = cell + gains->depths; cell < end; cell++) {
            double value = prior * gains->products[cell];

            if (gains->has_logs && gains->logs[cell] - most < exp_nothing)
                continue;
            if (gains->has_logs)
                value *= exp(gains->logs[cell] - most);
            if (value > greatest) {
                greatest = value;
                *best = cell;
            }
            sum += value;
        }
    }
    return log(sum) + (gains->has_logs ? most : 0);
}

/* Moves the pairs that may speak for a part to the front of scratch: low ones, and those that other
 * parts touch. Returns the number of these. */
static unsigned put_informative_first(struct explanation *explanation, unsigned count)
{
    unsigned *pairs = explanation->scratch, informative = 0;

    for (unsigned i = 0; i < count; i++) {
        unsigned pair = pairs[i];

        if (!explanation->observations->pairs[pair].is_low && explanation->touched[pair] == 0)
            continue;
        pairs[i] = pairs[informative];
        pairs[informative++] = pair;
    }
    return informative;
}

double explanation_weigh(struct explanation *explanation, struct part *part, int depths,
                         double least)
{
    const struct observations *observations = explanation->observations;
    struct gains gains = {.depths = depths};
    double factors[MODEL_CELLS], sum;
    double prior = part_log_prior(observations->network, part), rest = 0;
    unsigned count = part_pairs(observations, part, explanation->scratch);
    unsigned informative = put_informative_first(explanation, count), check = informative;
    int best = 0;

    for (int cell = 0; cell < depths * MODEL_DUTIES; cell++)
        gains.products[cell] = 1;
    for (unsigned i = informative; i < count; i++)
        rest += observations->pairs[explanation->scratch[i]].most;
    for (unsigned i = 0; i < count; i++) {
        unsigned pair = explanation->scratch[i];
        const struct pair *next = &observations->pairs[explanation->scratch[i + (i + 1 < count)]];
        struct explained_pair explained = explanation_pair(explanation, pair);

        /* fetching the next pair takes as long as computing this one */
        __builtin_prefetch(&observations->items[next->begin]);
        __builtin_prefetch(&observations->runs[next->first_run]);
        if (i == check) {
            check += PAIRS_AT_ONCE + (i - informative) / PAIRS_MORE_OF;
            sum = prior + gains_sum(&gains, part_sharing(part), &best) + rest;
            if (sum <= least)
                return sum;
        }
        rest -= i >= informative ? explained.pair->most : 0;
        pair_gains(&explained, model_rates[explanation->rate], part, depths, factors);
        gains_multiply(&gains, factors);
    }
    sum = gains_sum(&gains, part_sharing(part), &best);
    if (depths == MODEL_DEPTHS) {
        part->depth = best % MODEL_DEPTHS;
        part->duty = best / MODEL_DEPTHS;
        part->prior = prior + sum - gains.logs[best] - log(gains.products[best]);
    }
    return prior + sum;
}

bool explanation_add(struct explanation *explanation, const struct part *part)
{
    unsigned count = part_pairs(explanation->observations, part, explanation->scratch);

    if (explanation->count == explanation->size)
        return false;
    explanation->parts[explanation->count++] = *part;
    change(explanation, count, 1);
    explanation->prior += part->prior;
    return true;
}

void explanation_remove(struct explanation *explanation, size_t index)
{
    struct part part = explanation->parts[index];
    unsigned count = part_pairs(explanation->observations, &part, explanation->scratch);

    explanation->parts[index] = explanation->parts[--explanation->count];
    change(explanation, count, -1);
    explanation->prior -= part.prior;
}

double explanation_score(const struct explanation *explanation)
{
    double sum = explanation->totals[0] + log(model_rate_priors[0]);

    for (int rate = 1; rate < MODEL_RATES; rate++)
        sum = model_add(sum, explanation->totals[rate] + log(model_rate_priors[rate]));
    return sum + explanation->prior;
}
