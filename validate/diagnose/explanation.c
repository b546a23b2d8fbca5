/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/explanation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/diagnose/likelihood.h"

/* A cell that is so much less likely than another adds nothing. */
static const double hopeless = 30;

static struct parts parts_of(const struct explanation *explanation, unsigned pair)
{
    struct parts parts = {.count = 0};

    for (size_t i = 0; i < explanation->count && parts.count < PARTS_MOST; i++)
        if (part_touches(explanation->observations, &explanation->parts[i], pair))
            parts.items[parts.count++] = &explanation->parts[i];
    return parts;
}

static void compute(struct explanation *explanation, unsigned pair)
{
    struct parts parts = parts_of(explanation, pair);

    pair_values(explanation->observations, &explanation->observations->pairs[pair], &parts,
                explanation->hiccup_share, explanation->values[pair]);
}

bool explanation_is_hiccup(const struct explanation *explanation, unsigned pair,
                           const struct run *run)
{
    struct parts parts;

    if (run->hiccup == 0)
        return false;
    parts = parts_of(explanation, pair);
    return run_is_hiccup(explanation->observations, &explanation->observations->pairs[pair], run,
                         &parts, explanation->hiccup_share, model_rate(explanation->rate));
}

static void find_rate(struct explanation *explanation)
{
    for (int i = 0; i < MODEL_RATES; i++)
        if (explanation->totals[i] + model_log_rate_prior(i) >
            explanation->totals[explanation->rate] + model_log_rate_prior(explanation->rate))
            explanation->rate = i;
}

/* The pairs in scratch as they are now. */
static void change(struct explanation *explanation, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        double *values = explanation->values[explanation->scratch[i]];

        for (int rate = 0; rate < MODEL_RATES; rate++)
            explanation->totals[rate] -= values[rate];
        compute(explanation, explanation->scratch[i]);
        for (int rate = 0; rate < MODEL_RATES; rate++)
            explanation->totals[rate] += values[rate];
    }
    find_rate(explanation);
}

int explanation_make(const struct observations *observations, double hiccup_share,
                     struct explanation *explanation)
{
    size_t pairs = observations->pair_count;

    *explanation = (struct explanation){.observations = observations, .hiccup_share = hiccup_share};
    explanation->values = malloc((pairs + 1) * sizeof *explanation->values);
    explanation->scratch = malloc((pairs + 1) * sizeof *explanation->scratch);
    explanation->size = pairs + PARTS_MOST;
    explanation->parts = malloc(explanation->size * sizeof *explanation->parts);
    if (!explanation->values || !explanation->scratch || !explanation->parts)
        return -1;
    for (unsigned i = 0; i < pairs; i++) {
        compute(explanation, i);
        for (int rate = 0; rate < MODEL_RATES; rate++)
            explanation->totals[rate] += explanation->values[i][rate];
    }
    find_rate(explanation);
    return 0;
}

void explanation_clear(struct explanation *explanation)
{
    free(explanation->parts);
    free(explanation->values);
    free(explanation->scratch);
}

/* The log odds that the cells come to, and the likeliest one. */
static double sum_cells(const double *totals, bool is_large, int *best)
{
    double sum = 0, most = -INFINITY, values[MODEL_CELLS];

    for (int cell = 0; cell < MODEL_CELLS; cell++) {
        values[cell] = totals[cell] + model_log_prior(cell / MODEL_DEPTHS, is_large);
        if (values[cell] > most) {
            most = values[cell];
            *best = cell;
        }
    }
    for (int cell = 0; cell < MODEL_CELLS; cell++)
        if (values[cell] > most - hopeless)
            sum += exp(values[cell] - most);
    return most + log(sum);
}

double explanation_weigh(struct explanation *explanation, struct part *part)
{
    const struct observations *observations = explanation->observations;
    double totals[MODEL_CELLS] = {0}, gains[MODEL_CELLS], sum;
    double prior = part_log_prior(observations->network, part);
    unsigned count = part_pairs(observations, part, explanation->scratch);
    int best = 0;

    for (unsigned i = 0; i < count; i++) {
        unsigned pair = explanation->scratch[i];
        struct parts parts = parts_of(explanation, pair);

        pair_gains(observations, &observations->pairs[pair], &parts, explanation->hiccup_share,
                   model_rate(explanation->rate), part, gains);
        for (int cell = 0; cell < MODEL_CELLS; cell++)
            totals[cell] += log(gains[cell]);
    }
    sum = sum_cells(totals, part_is_large(part), &best);
    part->depth = best % MODEL_DEPTHS;
    part->duty = best / MODEL_DEPTHS;
    part->prior = prior + sum - totals[best];
    return prior + sum;
}

bool explanation_put(struct explanation *explanation, const struct part *part)
{
    unsigned count = part_pairs(explanation->observations, part, explanation->scratch);

    if (explanation->count == explanation->size)
        return false;
    explanation->parts[explanation->count++] = *part;
    change(explanation, count);
    explanation->prior += part->prior;
    return true;
}

void explanation_take(struct explanation *explanation, size_t place)
{
    struct part part = explanation->parts[place];
    unsigned count = part_pairs(explanation->observations, &part, explanation->scratch);

    explanation->parts[place] = explanation->parts[--explanation->count];
    change(explanation, count);
    explanation->prior -= part.prior;
}

double explanation_score(const struct explanation *explanation)
{
    double sum = explanation->totals[0] + model_log_rate_prior(0);

    for (int rate = 1; rate < MODEL_RATES; rate++)
        sum = model_add(sum, explanation->totals[rate] + model_log_rate_prior(rate));
    return sum + explanation->prior;
}
