/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/explanation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/diagnose/likelihood.h"

/* Gains of so many runs are multiplied before their logarithm is taken. */
enum { LOGS_EACH = 4, LOOK_EACH = 4 };
/* No run says more than that for a part, or against it: that to the power of LOGS_EACH is a number.
 */
static const double certain = 1e70;

static const struct depths all_depths = {0, MODEL_DEPTHS - 1};
/* A depth that so much less likely than another by the runs with low samples is none. */
static const double hopeless = 30;

/* The log likelihood of a run. */
static double likelihood_of(const struct explanation *explanation, unsigned run, int rate)
{
    const double *loads = explanation->runs[run];
    double busy = model_rate(rate), hiccups = explanation->hiccup_share;

    return model_add(log1p(-hiccups) + model_add(log1p(-busy) + loads[MODEL_QUIET],
                                                 log(busy) + loads[MODEL_BUSY]),
                     log(hiccups) + explanation->hiccups[run]);
}

static struct passing passing_of(const struct explanation *explanation, unsigned number)
{
    struct passing passing = {.count = 0};

    for (int link = explanation->first[number]; link >= 0; link = explanation->links[link].next) {
        const struct observations *observations = explanation->observations;

        passing_add(observations, &observations->runs[number],
                    &explanation->parts[explanation->links[link].part], &passing);
    }
    return passing;
}

static void compute(struct explanation *explanation, unsigned number)
{
    const struct observations *observations = explanation->observations;
    const struct run *run = &observations->runs[number];
    struct passing passing = passing_of(explanation, number);
    double sums[MODEL_LOADS], *own = explanation->runs[number], slack;

    run_weigh(observations, run, &passing, NULL, all_depths, sums, NULL);
    for (int load = 0; load < MODEL_LOADS; load++)
        sums[load] = log(sums[load]);
    slack = -fmin(sums[MODEL_QUIET], sums[MODEL_BUSY]);
    for (unsigned i = run->begin; i < run->end; i++) {
        const struct observation *sample = &observations->items[i];

        slack += fmaxf(sample->table->most[sample->is_seen][sample->bin], 0);
        for (int load = 0; load < MODEL_LOADS; load++)
            sums[load] += sample->table->healthy[load][sample->is_seen][sample->bin];
    }
    memcpy(own, sums, sizeof sums);
    explanation->slack[number] = (float)slack;
}

bool explanation_is_hiccup(const struct explanation *explanation, unsigned run)
{
    return log(explanation->hiccup_share) + explanation->hiccups[run] + log(2) >
           likelihood_of(explanation, run, explanation->rate);
}

static unsigned long long mixed(unsigned long long key, unsigned value)
{
    key = (key ^ value) * 0x9e3779b97f4a7c15;
    return key ^ key >> 31;
}

/* Room for so many runs, and no slot in use. */
static int alike_clear(struct explanation *explanation, size_t count, size_t *mask)
{
    size_t size = 16;

    if (count > explanation->alike_size) {
        size_t wanted = 2 * count;

        free(explanation->alike);
        free(explanation->alike_of);
        free(explanation->alike_slots);
        explanation->alike = malloc(wanted * sizeof *explanation->alike);
        explanation->alike_of = malloc(wanted * sizeof *explanation->alike_of);
        explanation->alike_slots = malloc(4 * wanted * sizeof *explanation->alike_slots);
        explanation->alike_size =
            explanation->alike && explanation->alike_of && explanation->alike_slots ? wanted : 0;
        if (explanation->alike_size == 0)
            return -1;
    }
    while (size < 2 * count)
        size *= 2;
    if (explanation->alike_size > 0 && size > 4 * explanation->alike_size)
        size /= 2;
    memset(explanation->alike_slots, 0, size * sizeof *explanation->alike_slots);
    explanation->alike_count = 0;
    *mask = size - 1;
    return 0;
}

/* Finds those of the runs in scratch that are alike, to the part as well unless that is NULL. */
static int find_alike(struct explanation *explanation, const struct part *part, size_t count)
{
    const struct observations *observations = explanation->observations;
    const struct diagnose_network *network = observations->network;
    size_t mask;

    if (alike_clear(explanation, count + 16, &mask) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct run *run = &observations->runs[explanation->scratch[i]];
        unsigned sides = part ? part_sides(network, part, run) : 0;
        bool is_asked = explanation->asked[explanation->scratch[i]];
        unsigned long long key = mixed(mixed(1, run->kind), 4 * is_asked + sides);
        size_t at;

        for (int link = explanation->first[explanation->scratch[i]]; link >= 0;
             link = explanation->links[link].next) {
            int other = explanation->links[link].part;

            key = mixed(key,
                        4 * (unsigned)other + part_sides(network, &explanation->parts[other], run));
        }
        for (at = key & mask; explanation->alike_slots[at]; at = (at + 1) & mask)
            if (explanation->alike[explanation->alike_slots[at] - 1].key == key)
                break;
        if (!explanation->alike_slots[at]) {
            explanation->alike[explanation->alike_count++] =
                (struct explanation_alike){key, explanation->scratch[i], 0};
            explanation->alike_slots[at] = (unsigned)explanation->alike_count;
        }
        explanation->alike_of[i] = explanation->alike_slots[at] - 1;
        explanation->alike[explanation->alike_of[i]].count++;
    }
    return 0;
}

/* Adds so many times what the runs have, or takes it off. */
static void add_totals(struct explanation *explanation, const struct explanation_alike *alike,
                       int sign)
{
    for (int rate = 0; rate < MODEL_RATES; rate++)
        explanation->totals[rate] +=
            sign * (double)alike->count * likelihood_of(explanation, alike->run, rate);
}

/* Of the runs in scratch each has what the one that it is like has. */
static void share_values(struct explanation *explanation, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned run = explanation->scratch[i];
        unsigned from = explanation->alike[explanation->alike_of[i]].run;

        memcpy(explanation->runs[run], explanation->runs[from], sizeof *explanation->runs);
        explanation->slack[run] = explanation->slack[from];
    }
}

static void find_rate(struct explanation *explanation)
{
    for (int i = 0; i < MODEL_RATES; i++)
        if (explanation->totals[i] + model_log_rate_prior(i) >
            explanation->totals[explanation->rate] + model_log_rate_prior(explanation->rate))
            explanation->rate = i;
}

int explanation_make(const struct observations *observations, double hiccup_share,
                     struct explanation *explanation)
{
    const struct part all = {.type = DIAGNOSE_FABRIC, .place = -1, .peer = -1, .rail = -1};
    size_t runs = observations->run_count;
    long count;

    *explanation = (struct explanation){
        .observations = observations, .hiccup_share = hiccup_share, .link_free = -1};
    explanation->hiccups = malloc((runs + 1) * sizeof *explanation->hiccups);
    explanation->runs = malloc((runs + 1) * sizeof *explanation->runs);
    explanation->first = malloc((runs + 1) * sizeof *explanation->first);
    explanation->slack = malloc((runs + 1) * sizeof *explanation->slack);
    explanation->asked = calloc(runs + 1, sizeof *explanation->asked);
    if (!explanation->asked || !explanation->runs || !explanation->hiccups || !explanation->first ||
        !explanation->slack)
        return -1;
    for (unsigned i = 0; i < runs; i++)
        explanation->first[i] = -1;
    count = part_runs(observations, &all, &explanation->scratch, &explanation->scratch_size);
    if (count < 0 || find_alike(explanation, NULL, (size_t)count) != 0)
        return -1;
    for (size_t i = 0; i < explanation->alike_count; i++) {
        unsigned run = explanation->alike[i].run;

        explanation->hiccups[run] = run_hiccup(observations, &observations->runs[run]);
        compute(explanation, run);
        add_totals(explanation, &explanation->alike[i], 1);
    }
    for (size_t i = 0; i < runs; i++)
        explanation->hiccups[i] =
            explanation->hiccups[explanation->alike[explanation->alike_of[i]].run];
    share_values(explanation, runs);
    find_rate(explanation);
    return 0;
}

void explanation_clear(struct explanation *explanation)
{
    free(explanation->parts);
    free(explanation->runs);
    free(explanation->slack);
    free(explanation->hiccups);
    free(explanation->first);
    free(explanation->links);
    free(explanation->scratch);
    free(explanation->alike);
    free(explanation->alike_of);
    free(explanation->alike_slots);
    free(explanation->asked);
}

void explanation_ask(struct explanation *explanation, const unsigned *runs, size_t count)
{
    memset(explanation->asked, 0, explanation->observations->run_count);
    for (size_t i = 0; i < count && runs; i++)
        explanation->asked[runs[i]] = true;
    explanation->is_asked = runs != NULL;
}

/* Adds what each cell of the part does to the run, given how often machines are busy. */
static void add_gains(const struct explanation *explanation, unsigned number,
                      const struct part *part, struct depths depths, double *totals)
{
    const struct observations *observations = explanation->observations;
    struct passing others = passing_of(explanation, number);
    double busy = model_rate(explanation->rate), hiccups = explanation->hiccup_share;
    double all = likelihood_of(explanation, number, explanation->rate), without[MODEL_LOADS];
    double cells[MODEL_LOADS][MODEL_CELLS], quiet, loaded, hiccup;

    run_weigh(observations, &observations->runs[number], &others, part, depths, without, cells);
    quiet = (1 - hiccups) * (1 - busy) * exp(explanation->runs[number][MODEL_QUIET] - all) /
            without[MODEL_QUIET];
    loaded = (1 - hiccups) * busy * exp(explanation->runs[number][MODEL_BUSY] - all) /
             without[MODEL_BUSY];
    hiccup = hiccups * exp(explanation->hiccups[number] - all);
    for (int duty = 0; duty < MODEL_DUTIES; duty++)
        for (int depth = depths.first; depth <= depths.last; depth++) {
            int cell = duty * MODEL_DEPTHS + depth;
            double gain =
                quiet * cells[MODEL_QUIET][cell] + loaded * cells[MODEL_BUSY][cell] + hiccup;

            gain = gain > 1 / certain ? gain : 1 / certain;
            totals[cell] *= gain < certain ? gain : certain;
        }
}

/* Leaves out depths at either end that are hopeless at each duty. */
static void narrow(double *totals, struct depths *depths)
{
    double most[MODEL_DUTIES];

    for (int duty = 0; duty < MODEL_DUTIES; duty++) {
        most[duty] = -INFINITY;
        for (int depth = depths->first; depth <= depths->last; depth++)
            most[duty] = fmax(most[duty], totals[duty * MODEL_DEPTHS + depth]);
    }
    for (int end = 0; end < 2; end++)
        while (depths->first < depths->last) {
            int depth = end ? depths->last : depths->first;
            bool is_hopeless = true;

            for (int duty = 0; duty < MODEL_DUTIES; duty++)
                is_hopeless &= totals[duty * MODEL_DEPTHS + depth] < most[duty] - hopeless;
            if (!is_hopeless)
                break;
            for (int duty = 0; duty < MODEL_DUTIES; duty++)
                totals[duty * MODEL_DEPTHS + depth] = -INFINITY;
            *(end ? &depths->last : &depths->first) += end ? -1 : 1;
        }
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
        sum += exp(values[cell] - most);
    return most + log(sum);
}

/* What is alike of a part's runs: first what is often, then what has low samples that pass it,
 * those that are asked for before others. */
struct order {
    size_t low, others; /* where these begin */
};

static struct order sort_alike(struct explanation *explanation, const struct part *part)
{
    const struct observations *observations = explanation->observations;
    struct order order = {0, 0};

    for (size_t i = 0; i < explanation->alike_count; i++) {
        struct explanation_alike one = explanation->alike[i];
        bool is_low = part_is_low(observations, part, &observations->runs[one.run]);

        if (!is_low && one.count == 1)
            continue;
        explanation->alike[i] = explanation->alike[order.others];
        explanation->alike[order.others] = one;
        if (!is_low) {
            explanation->alike[order.others] = explanation->alike[order.low];
            explanation->alike[order.low++] = one;
        }
        order.others++;
    }
    for (size_t i = order.low, front = i; i < order.others; i++) {
        struct explanation_alike one = explanation->alike[i];

        if (!explanation->asked[one.run])
            continue;
        explanation->alike[i] = explanation->alike[front];
        explanation->alike[front++] = one;
    }
    return order;
}

static double slack_of(const struct explanation *explanation, const struct explanation_alike *alike)
{
    return alike->count * (double)fmaxf(explanation->slack[alike->run], 0);
}

/* Adds to each cell what the runs, which no part passes yet, gain at most: were the samples there
 * and not there together, sound ones say nothing against it. */
static void add_bounds(const struct explanation *explanation, const struct part *part,
                       const struct explanation_alike *alike, double *bounds)
{
    const struct observations *observations = explanation->observations;
    const struct run *run = &observations->runs[alike->run];
    unsigned long long mask = passing_mask(observations, part, run);
    float sums[MODEL_DEPTHS] = {0};

    for (; mask; mask &= mask - 1) {
        const struct observation *sample =
            &observations->items[run->begin + (unsigned)__builtin_ctzll(mask)];
        const float *row = sample->table->most_at[sample->is_seen][sample->bin];
        int all = part_share(observations->network, part, sample).all;

        for (int depth = 0; depth < MODEL_DEPTHS; depth++) {
            int at = part_deeper(depth, all);

            if (part->type == DIAGNOSE_UPLINK) /* it may be shared in any way */
                sums[depth] += fmaxf(sample->table->most[sample->is_seen][sample->bin], 0);
            else if (at >= 0)
                sums[depth] += fmaxf(row[at], 0);
        }
    }
    for (int duty = 0; duty < MODEL_DUTIES; duty++)
        for (int depth = 0; depth < MODEL_DEPTHS; depth++)
            bounds[duty * MODEL_DEPTHS + depth] +=
                alike->count * model_log_mixture(duty, sums[depth]);
}

/* The part as it shares, of runs in that order, that gain no more than bounds by cell, or bound in
 * all, where they are low. */
static double weigh_sharing(struct explanation *explanation, struct part *part, struct order order,
                            const double *bounds, double bound, double least)
{
    const struct observations *observations = explanation->observations;
    double totals[MODEL_CELLS] = {0}, products[MODEL_CELLS], sum;
    double prior = part_log_prior(observations->network, part);
    bool is_large = part_is_large(part);
    struct depths depths = all_depths;
    size_t count = explanation->alike_count;
    int best = 0, looks = 0;

    for (size_t i = 0; i < count; looks++) {
        size_t begin = i, most = explanation->alike[i].count > 1 ? 1 : LOGS_EACH;
        double times = explanation->alike[i].count;

        if (i == order.low) { /* what is often has been seen */
            for (int cell = 0; cell < MODEL_CELLS; cell++)
                products[cell] = totals[cell] + bounds[cell];
            sum = prior + sum_cells(products, is_large, &best);
            if (sum < least)
                return sum;
        }
        for (int cell = 0; cell < MODEL_CELLS; cell++)
            products[cell] = 1;
        for (; i < count && i - begin < most && (i == begin || explanation->alike[i].count == 1);
             i++) {
            add_gains(explanation, explanation->alike[i].run, part, depths, products);
            if (i >= order.low && i < order.others &&
                (!explanation->is_asked || explanation->asked[explanation->alike[i].run]))
                bound -= slack_of(explanation, &explanation->alike[i]);
        }
        for (int duty = 0; duty < MODEL_DUTIES; duty++)
            for (int depth = depths.first; depth <= depths.last; depth++) {
                int cell = duty * MODEL_DEPTHS + depth;

                totals[cell] += times * log(products[cell]);
            }
        if (begin >= order.low && begin < order.others)
            narrow(totals, &depths);
        if (looks % LOOK_EACH == 0 &&
            prior + sum_cells(totals, is_large, &best) + fmax(bound, 0) < least)
            break;
    }
    sum = sum_cells(totals, is_large, &best);
    part->depth = best % MODEL_DEPTHS;
    part->duty = best / MODEL_DEPTHS;
    part->prior = prior + sum - totals[best];
    return prior + sum;
}

double explanation_weigh(struct explanation *explanation, struct part *part, double least)
{
    const struct observations *observations = explanation->observations;
    double bound = 0, best = -INFINITY, sum = -INFINITY, linked = 0, bounds[MODEL_CELLS] = {0};
    double prior = part_log_prior(observations->network, part);
    long count = part_runs(observations, part, &explanation->scratch, &explanation->scratch_size);
    struct part likeliest = *part;
    struct order order;

    if (count < 0 || find_alike(explanation, part, (size_t)count) != 0)
        return NAN;
    order = sort_alike(explanation, part);
    for (size_t i = order.low; i < order.others; i++) {
        const struct explanation_alike *alike = &explanation->alike[i];

        if (explanation->is_asked && !explanation->asked[alike->run])
            continue;
        bound += slack_of(explanation, alike);
        if (explanation->first[alike->run] >= 0)
            linked += slack_of(explanation, alike);
        else if (least > -INFINITY)
            add_bounds(explanation, part, alike, bounds);
    }
    if (prior + bound < least)
        return prior + bound;
    for (int cell = 0; cell < MODEL_CELLS; cell++)
        bounds[cell] += linked;
    if (part->type != DIAGNOSE_UPLINK)
        return weigh_sharing(explanation, part, order, bounds, bound, least);
    for (int sharing = 0; sharing < PART_SHARINGS; sharing++) {
        double value;

        part->sharing = (enum part_sharing)sharing;
        value = weigh_sharing(explanation, part, order, bounds, bound, least) - log(PART_SHARINGS);
        if (value > best) {
            best = value;
            likeliest = *part;
        }
        sum = sharing == 0 ? value : model_add(sum, value);
    }
    *part = likeliest;
    part->prior += sum - best - log(PART_SHARINGS);
    return sum;
}

static void add_all(struct explanation *explanation, int sign)
{
    for (size_t i = 0; i < explanation->alike_count; i++)
        add_totals(explanation, &explanation->alike[i], sign);
}

/* The runs in scratch, and what is alike of them, as they are now. */
static void compute_all(struct explanation *explanation, size_t count)
{
    for (size_t i = 0; i < explanation->alike_count; i++)
        compute(explanation, explanation->alike[i].run);
    share_values(explanation, count);
    add_all(explanation, 1);
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
    if (count < 0 || find_alike(explanation, part, (size_t)count) != 0)
        return -1;
    explanation->parts[explanation->count++] = *part;
    add_all(explanation, -1);
    for (long i = 0; i < count; i++) {
        unsigned run = explanation->scratch[i];
        int link = new_link(explanation);

        if (link < 0)
            return -1;
        explanation->links[link] =
            (struct explanation_link){(int)explanation->count - 1, explanation->first[run]};
        explanation->first[run] = link;
    }
    compute_all(explanation, (size_t)count);
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

    if (count < 0 || find_alike(explanation, NULL, (size_t)count) != 0)
        return -1;
    add_all(explanation, -1);
    for (long i = 0; i < count; i++)
        unlink_part(explanation, explanation->scratch[i], (int)place);
    compute_all(explanation, (size_t)count);
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
