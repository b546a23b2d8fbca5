/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/explanation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_OF_RUN = 12, LOOK_EACH = 16 };
/* Log odds of a part that is not weighed to the end. */
static const double hopeless = -20;
/* The least likelihood of a sample, over that of a healthy one: the model is not certain. */
static const double impossible = 1e-6;

static double with_rate(const double *log_likelihoods, int rate)
{
    double busy = model_rate(rate);

    return model_add(log1p(-busy) + log_likelihoods[MODEL_QUIET],
                     log(busy) + log_likelihoods[MODEL_BUSY]);
}

/* The parts of a run, the deepest first, and which samples pass each: a bit of each. */
struct passing {
    const struct part *parts[PARTS_OF_RUN];
    unsigned long long masks[PARTS_OF_RUN], all;
    int count;
};

static unsigned long long mask_of(const struct observations *observations, const struct part *part,
                                  const struct run *run)
{
    unsigned long long mask = 0;

    for (unsigned i = run->begin; i < run->end && i - run->begin < 64; i++)
        mask |= (unsigned long long)part_passes(observations, part, run, &observations->items[i])
                << (i - run->begin);
    return mask;
}

static void insert(struct passing *passing, const struct part *part, unsigned long long mask)
{
    int at = passing->count;

    if (at == PARTS_OF_RUN || mask == 0)
        return;
    passing->count++;
    passing->all |= mask;
    for (; at > 0 && passing->parts[at - 1]->depth < part->depth; at--) {
        passing->parts[at] = passing->parts[at - 1];
        passing->masks[at] = passing->masks[at - 1];
    }
    passing->parts[at] = part;
    passing->masks[at] = mask;
}

static struct passing passing_of(const struct explanation *explanation, unsigned number)
{
    struct passing passing = {.count = 0};

    for (int link = explanation->first[number]; link >= 0; link = explanation->links[link].next) {
        const struct part *part = &explanation->parts[explanation->links[link].part];

        insert(&passing, part,
               mask_of(explanation->observations, part, &explanation->observations->runs[number]));
    }
    return passing;
}

/* The likelihood of a run's samples over that of healthy ones, its parts being there for such
 * shares of the time, each sample by itself. */
static void weigh_samples(const struct observations *observations, const struct run *run,
                          const struct passing *passing, const float *duties, double *products)
{
    products[MODEL_QUIET] = products[MODEL_BUSY] = 1;
    for (unsigned long long rest = passing->all; rest; rest &= rest - 1) {
        int bit = __builtin_ctzll(rest);
        const struct observation *sample = &observations->items[run->begin + (unsigned)bit];
        double left = 1, mixed[MODEL_LOADS] = {0};

        for (int k = 0; k < passing->count; k++) {
            if (!(passing->masks[k] >> bit & 1))
                continue;
            for (int load = 0; load < MODEL_LOADS; load++)
                mixed[load] +=
                    left * duties[k] *
                    sample->table
                        ->ratio[load][sample->is_seen][sample->bin][passing->parts[k]->depth];
            left *= 1 - duties[k];
        }
        for (int load = 0; load < MODEL_LOADS; load++)
            products[load] *= mixed[load] + left + impossible;
    }
}

/* ... and what comes and goes, of one of them, may keep for the whole run. */
static void weigh_run(const struct observations *observations, const struct run *run,
                      const struct passing *passing, double *products)
{
    double kept = model_value(MODEL_TOGETHER_RUN), on[MODEL_LOADS], off[MODEL_LOADS];
    float duties[PARTS_OF_RUN] = {0}, duty;
    int lasting = -1;

    for (int i = 0; i < passing->count; i++) {
        duties[i] = model_duties[passing->parts[i]->duty];
        if (duties[i] < 1 && lasting < 0)
            lasting = i;
    }
    weigh_samples(observations, run, passing, duties, products);
    if (lasting < 0)
        return;
    duty = duties[lasting];
    duties[lasting] = 1;
    weigh_samples(observations, run, passing, duties, on);
    duties[lasting] = 0;
    weigh_samples(observations, run, passing, duties, off);
    for (int load = 0; load < MODEL_LOADS; load++)
        products[load] =
            (1 - kept) * products[load] + kept * (duty * on[load] + (1 - duty) * off[load]);
}

static void compute(struct explanation *explanation, unsigned number)
{
    const struct observations *observations = explanation->observations;
    const struct run *run = &observations->runs[number];
    struct passing passing = passing_of(explanation, number);
    double sums[MODEL_LOADS], *own = explanation->runs[number];

    weigh_run(observations, run, &passing, sums);
    for (int load = 0; load < MODEL_LOADS; load++)
        sums[load] = log(sums[load]);
    for (unsigned i = run->begin; i < run->end; i++) {
        const struct observation *sample = &observations->items[i];

        for (int load = 0; load < MODEL_LOADS; load++)
            sums[load] += sample->table->healthy[load][sample->is_seen][sample->bin];
    }
    memcpy(own, sums, sizeof sums);
}

static void find_rate(struct explanation *explanation)
{
    for (int i = 0; i < MODEL_RATES; i++)
        if (explanation->totals[i] + model_log_rate_prior(i) >
            explanation->totals[explanation->rate] + model_log_rate_prior(explanation->rate))
            explanation->rate = i;
}

int explanation_make(const struct observations *observations, struct explanation *explanation)
{
    size_t runs = observations->run_count;

    *explanation = (struct explanation){.observations = observations, .link_free = -1};
    explanation->runs = malloc((runs + 1) * sizeof *explanation->runs);
    explanation->first = malloc((runs + 1) * sizeof *explanation->first);
    if (!explanation->runs || !explanation->first)
        return -1;
    for (unsigned i = 0; i < runs; i++) {
        explanation->first[i] = -1;
        compute(explanation, i);
        for (int rate = 0; rate < MODEL_RATES; rate++)
            explanation->totals[rate] += with_rate(explanation->runs[i], rate);
    }
    find_rate(explanation);
    return 0;
}

void explanation_clear(struct explanation *explanation)
{
    free(explanation->parts);
    free(explanation->runs);
    free(explanation->first);
    free(explanation->links);
    free(explanation->scratch);
}

/* Depths that come into question: those of the low samples that pass the part. */
struct window {
    int first, last;
};

/* Moves the runs in which low samples pass the part to the front; *low becomes how many. */
static struct window window_of(const struct observations *observations, const struct part *part,
                               unsigned *runs, size_t count, size_t *low)
{
    int least = MODEL_BINS, most = 0;
    struct window window = {0, 0};

    *low = 0;
    for (size_t i = 0; i < count; i++) {
        const struct run *run = &observations->runs[runs[i]];
        bool is_low = false;

        for (unsigned k = run->begin; k < run->end; k++) {
            const struct observation *sample = &observations->items[k];

            if (!sample->is_low || !part_passes(observations, part, run, sample))
                continue;
            least = sample->bin < least ? sample->bin : least;
            most = sample->bin > most ? sample->bin : most;
            is_low = true;
        }
        if (is_low) {
            unsigned number = runs[i];

            runs[i] = runs[*low];
            runs[(*low)++] = number;
        }
    }
    while (window.first < MODEL_DEPTHS - 1 && model_bin(model_depth(window.first + 1)) > most)
        window.first++;
    window.last = window.first;
    while (window.last < MODEL_DEPTHS - 1 && model_bin(model_depth(window.last)) > least)
        window.last++;
    return window;
}

/* The likelihood of the run with the part over that without, by cell, without another part there.
 */
static void factors_alone(const struct explanation *explanation, const struct run *run,
                          const struct part *part, const struct window *window,
                          float (*factors)[MODEL_CELLS])
{
    const struct observations *observations = explanation->observations;
    float kept = (float)model_value(MODEL_TOGETHER_RUN);

    memset(factors, 0, MODEL_LOADS * sizeof *factors);
    for (unsigned long long rest = mask_of(observations, part, run); rest; rest &= rest - 1) {
        const struct observation *sample =
            &observations->items[run->begin + (unsigned)__builtin_ctzll(rest)];

        for (int load = 0; load < MODEL_LOADS; load++) {
            const float *row = sample->table->gain[load][sample->is_seen][sample->bin];

            for (int cell = window->first * MODEL_DUTIES; cell < (window->last + 1) * MODEL_DUTIES;
                 cell++)
                factors[load][cell] += row[cell];
        }
    }
    for (int load = 0; load < MODEL_LOADS; load++)
        for (int depth = window->first; depth <= window->last; depth++) {
            float *row = &factors[load][depth * MODEL_DUTIES];

            for (int duty = 0; duty < MODEL_DUTIES; duty++)
                row[duty] = expf(fminf(row[duty], 80));
            for (int duty = 1; duty < MODEL_DUTIES; duty++) {
                float share = model_duties[duty];

                row[duty] = (1 - kept) * row[duty] + kept * (share * row[0] + 1 - share);
            }
        }
}

/* What a sample's likelihood, over that of a healthy one, is with the part at each depth. Returns
 * what it is without. */
static double alternatives(const struct passing *others, const float *duties,
                           const struct observation *sample, int bit, int load,
                           const struct window *window, double *with)
{
    const float *ratio = sample->table->ratio[load][sample->is_seen][sample->bin];
    double left = 1, mixed = 0;
    int depth = window->last;

    for (int k = 0; k < others->count; k++) {
        if (!(others->masks[k] >> bit & 1))
            continue;
        for (; depth >= others->parts[k]->depth && depth >= window->first; depth--)
            with[depth] = mixed + left * ratio[depth];
        mixed += left * duties[k] * ratio[others->parts[k]->depth];
        left *= 1 - duties[k];
    }
    for (; depth >= window->first; depth--)
        with[depth] = mixed + left * ratio[depth];
    return mixed + left;
}

/* Adds the weighted likelihood of a run whose other parts are there for such shares of the time.
 * Returns what it is without the part. */
static double add_variant(const struct explanation *explanation, const struct run *run,
                          const struct passing *others, const float *duties,
                          unsigned long long mask, int load, double weight,
                          const struct window *window, double *factors)
{
    int first = window->first * MODEL_DUTIES, end = (window->last + 1) * MODEL_DUTIES;
    double products[MODEL_CELLS], with[MODEL_DEPTHS], without = 1;

    for (int cell = first; cell < end; cell++)
        products[cell] = weight;
    for (unsigned long long rest = mask | others->all; rest; rest &= rest - 1) {
        int bit = __builtin_ctzll(rest);
        const struct observation *sample =
            &explanation->observations->items[run->begin + (unsigned)bit];
        double own = alternatives(others, duties, sample, bit, load, window, with);

        without *= own + impossible;
        for (int cell = first; cell < end; cell++)
            products[cell] *= own + impossible +
                              (mask >> bit & 1 ? model_duties[cell % MODEL_DUTIES] *
                                                     (with[cell / MODEL_DUTIES] - own)
                                               : 0);
    }
    for (int cell = first; cell < end; cell++)
        factors[cell] += products[cell];
    return weight * without;
}

/* ... beside other parts. */
static void factors_beside(const struct explanation *explanation, unsigned number,
                           const struct part *part, const struct window *window,
                           float (*factors)[MODEL_CELLS])
{
    const struct observations *observations = explanation->observations;
    const struct run *run = &observations->runs[number];
    struct passing others = passing_of(explanation, number);
    unsigned long long mask = mask_of(observations, part, run);
    double kept = model_value(MODEL_TOGETHER_RUN);
    float duties[PARTS_OF_RUN] = {0};
    int lasting = -1;

    for (int i = 0; i < others.count; i++) {
        duties[i] = model_duties[others.parts[i]->duty];
        if (duties[i] < 1 && lasting < 0)
            lasting = i;
    }
    for (int load = 0; load < MODEL_LOADS; load++) {
        double sums[MODEL_CELLS] = {0}, before;
        float duty = lasting >= 0 ? duties[lasting] : 1;

        before = add_variant(explanation, run, &others, duties, mask, load,
                             lasting >= 0 ? 1 - kept : 1, window, sums);
        if (lasting >= 0) {
            duties[lasting] = 1;
            before += add_variant(explanation, run, &others, duties, mask, load, kept * duty,
                                  window, sums);
            duties[lasting] = 0;
            before += add_variant(explanation, run, &others, duties, mask, load, kept * (1 - duty),
                                  window, sums);
            duties[lasting] = duty;
        }
        for (int cell = window->first * MODEL_DUTIES; cell < (window->last + 1) * MODEL_DUTIES;
             cell++) {
            double share = model_duties[cell % MODEL_DUTIES];

            factors[load][cell] = (float)(sums[cell] / before);
            if (lasting < 0 && cell % MODEL_DUTIES > 0)
                factors[load][cell] =
                    (float)((1 - kept) * factors[load][cell] +
                            kept * (share * factors[load][cell - cell % MODEL_DUTIES] + 1 - share));
        }
    }
}

/* Adds what each cell of the part does to the run, given how often machines are busy. */
static void add_gains(struct explanation *explanation, unsigned number, const struct part *part,
                      const struct window *window, double *totals)
{
    const double *own = explanation->runs[number];
    double busy = model_rate(explanation->rate);
    double odds = exp(own[MODEL_BUSY] - own[MODEL_QUIET]) * busy / (1 - busy);
    float quiet = (float)(1 / (1 + odds)), loaded = 1 - quiet;
    float factors[MODEL_LOADS][MODEL_CELLS];

    if (explanation->first[number] < 0)
        factors_alone(explanation, &explanation->observations->runs[number], part, window, factors);
    else
        factors_beside(explanation, number, part, window, factors);
    for (int cell = window->first * MODEL_DUTIES; cell < (window->last + 1) * MODEL_DUTIES; cell++)
        totals[cell] +=
            logf(quiet * factors[MODEL_QUIET][cell] + loaded * factors[MODEL_BUSY][cell] + 1e-37F);
}

/* The log odds that the cells come to, and the likeliest one. */
static double sum_cells(const double *totals, const struct window *window, bool is_large, int *best)
{
    double sum = -INFINITY, most = -INFINITY;

    for (int cell = window->first * MODEL_DUTIES; cell < (window->last + 1) * MODEL_DUTIES;
         cell++) {
        double one =
            totals[cell] + model_log_prior(cell / MODEL_DUTIES, cell % MODEL_DUTIES, is_large);

        sum = isinf(sum) ? one : model_add(sum, one);
        if (one > most) {
            most = one;
            *best = cell;
        }
    }
    return sum;
}

double explanation_weigh(struct explanation *explanation, struct part *part)
{
    double totals[MODEL_CELLS] = {0}, sum = 0;
    const struct observations *observations = explanation->observations;
    double prior = part_log_prior(observations->network, part);
    bool is_large = part_is_large(part);
    long count = part_runs(observations, part, &explanation->scratch, &explanation->scratch_size);
    struct window window;
    int best = 0;
    size_t low;

    if (count < 0)
        return NAN;
    window = window_of(observations, part, explanation->scratch, (size_t)count, &low);
    for (size_t i = 0; i < (size_t)count; i++) {
        add_gains(explanation, explanation->scratch[i], part, &window, totals);
        /* the others have nothing that speaks for it */
        if (i + 1 >= low && (i + 1 - low) % LOOK_EACH == 0) {
            sum = sum_cells(totals, &window, is_large, &best);
            if (prior + sum < hopeless)
                break;
        }
    }
    sum = sum_cells(totals, &window, is_large, &best);
    part->depth = best / MODEL_DUTIES;
    part->duty = best % MODEL_DUTIES;
    part->prior = prior + sum - totals[best];
    return prior + sum;
}

static void recompute(struct explanation *explanation, unsigned run)
{
    for (int rate = 0; rate < MODEL_RATES; rate++)
        explanation->totals[rate] -= with_rate(explanation->runs[run], rate);
    compute(explanation, run);
    for (int rate = 0; rate < MODEL_RATES; rate++)
        explanation->totals[rate] += with_rate(explanation->runs[run], rate);
}

static int new_link(struct explanation *explanation)
{
    int link = explanation->link_free;

    if (link >= 0) {
        explanation->link_free = explanation->links[link].next;
        return link;
    }
    if (explanation->link_count == explanation->link_size) {
        int size = 2 * explanation->link_size + 256;
        struct explanation_link *grown =
            realloc(explanation->links, (size_t)size * sizeof *explanation->links);

        if (!grown)
            return -1;
        explanation->links = grown;
        explanation->link_size = size;
    }
    return explanation->link_count++;
}

int explanation_put(struct explanation *explanation, const struct part *part)
{
    long count = part_runs(explanation->observations, part, &explanation->scratch,
                           &explanation->scratch_size);

    if (explanation->count == explanation->size) {
        size_t size = 2 * explanation->size + 16;
        struct part *grown = realloc(explanation->parts, size * sizeof *grown);

        if (!grown)
            return -1;
        explanation->parts = grown;
        explanation->size = size;
    }
    if (count < 0)
        return -1;
    explanation->parts[explanation->count++] = *part;
    for (long i = 0; i < count; i++) {
        unsigned run = explanation->scratch[i];
        int link = new_link(explanation);

        if (link < 0)
            return -1;
        explanation->links[link] =
            (struct explanation_link){(int)explanation->count - 1, explanation->first[run]};
        explanation->first[run] = link;
        recompute(explanation, run);
    }
    explanation->prior += part->prior;
    find_rate(explanation);
    return 0;
}

static void unlink_part(struct explanation *explanation, unsigned run, int part)
{
    for (int *at = &explanation->first[run]; *at >= 0; at = &explanation->links[*at].next) {
        int link = *at;

        if (explanation->links[link].part != part)
            continue;
        *at = explanation->links[link].next;
        explanation->links[link].next = explanation->link_free;
        explanation->link_free = link;
        return;
    }
}

int explanation_take(struct explanation *explanation, size_t place)
{
    struct part part = explanation->parts[place];
    long count = part_runs(explanation->observations, &part, &explanation->scratch,
                           &explanation->scratch_size);
    size_t last = explanation->count - 1;

    if (count < 0)
        return -1;
    for (long i = 0; i < count; i++)
        unlink_part(explanation, explanation->scratch[i], (int)place);
    for (long i = 0; i < count; i++)
        recompute(explanation, explanation->scratch[i]);
    if (place != last) { /* the last one takes its place */
        long moved = part_runs(explanation->observations, &explanation->parts[last],
                               &explanation->scratch, &explanation->scratch_size);

        if (moved < 0)
            return -1;
        for (long i = 0; i < moved; i++)
            for (int link = explanation->first[explanation->scratch[i]]; link >= 0;
                 link = explanation->links[link].next)
                if (explanation->links[link].part == (int)last)
                    explanation->links[link].part = (int)place;
        explanation->parts[place] = explanation->parts[last];
    }
    explanation->count--;
    explanation->prior -= part.prior;
    find_rate(explanation);
    return 0;
}

double explanation_score(const struct explanation *explanation)
{
    double sum = explanation->totals[0] + model_log_rate_prior(0);

    for (int rate = 1; rate < MODEL_RATES; rate++)
        sum = model_add(sum, explanation->totals[rate] + model_log_rate_prior(rate));
    return sum + explanation->prior;
}
