/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/likelihood.h"

#include <math.h>
#include <string.h>

#include "lib/base/vectorised.h"

/* Inlined once for depths and once for groups of them: loops of a known length are vectorized. */
#define INLINE static inline __attribute__((always_inline))

/* If busy machines can add no more than this to the likelihood of a run, their cells are bounded
 * and not computed. */
static const double seldom = 1e-3;
/* The gain of a pair is limited to this, and to its inverse. */
static const double certain = 1e150;

static double bounded(double gain)
{
    return gain < 1 / certain ? 1 / certain : gain > certain ? certain : gain;
}

/* A part that samples of a run pass: which samples (a bit of each), and the share of the time that
 * it is at fault. */
struct passed {
    const struct part *part;
    unsigned long long mask;
    float duty;
};

struct passing {
    struct passed parts[PARTS_MOST]; /* the deepest first */
    unsigned long long all;
    int count;
};

/* Whether the part is one of several cables of an uplink: only some streams are on it. */
static bool is_cable(const struct part *part)
{
    return part->type == DIAGNOSE_UPLINK && part->duty > 0;
}

/* Returns a bit for each sample of the run that passes the part, up to 64. only_slow: only for
 * samples of slow streams. */
static unsigned long long run_mask(const struct explained_pair *explained, const struct part *part,
                                   const struct run *run, bool only_slow)
{
    const struct diagnose_network *network = explained->observations->network;
    const struct pair *pair = explained->pair;
    bool up = part_carries(network, part, pair->low, pair->high, part->rail);
    bool down = part_carries(network, part, pair->high, pair->low, part->rail);
    unsigned long long mask = 0;

    for (unsigned i = run->begin; i < run->end && i - run->begin < 64; i++) {
        const struct observation *sample = &explained->observations->items[i];
        bool is_passing = (part->rail < 0 || part->rail == sample->rail) &&
                          (sample->is_up ? up : down) && (sample->is_slow || !only_slow);

        mask |= (unsigned long long)is_passing << (i - run->begin);
    }
    return mask;
}

/* Returns how likely it is that, of the streams of the pair that pass the uplinks, exactly the slow
 * ones are on a slow cable. duty: index of the share of all streams that are on it. */
static double chance_of(const struct explained_pair *explained, const struct part *part, int duty)
{
    const struct observations *observations = explained->observations;
    unsigned long long streams[2] = {0, 0}; /* a bit of each: healthy streams, slow ones */

    for (unsigned i = explained->pair->begin; i < explained->pair->end; i++) {
        const struct observation *sample = &observations->items[i];

        if (part_passes(observations->network, part, explained->pair, sample))
            streams[sample->is_slow] |= 1ULL << (2U * sample->rail + sample->is_up) % 64;
    }
    return pow(model_duties[MODEL_CABLES][duty], __builtin_popcountll(streams[1])) *
           pow(1 - model_duties[MODEL_CABLES][duty], __builtin_popcountll(streams[0]));
}

static struct passing passing_of(const struct explained_pair *explained, const struct run *run)
{
    struct passing passing;

    passing.all = 0;
    passing.count = 0;
    for (int i = 0; i < explained->part_count; i++) {
        const struct part *part = explained->parts[i];
        unsigned long long mask = run_mask(explained, part, run, is_cable(part));
        int at;

        if (mask == 0)
            continue;
        for (at = passing.count++; at > 0 && passing.parts[at - 1].part->depth < part->depth; at--)
            passing.parts[at] = passing.parts[at - 1];
        passing.parts[at] = (struct passed){part, mask, is_cable(part) ? 1 : part_duty(part)};
        passing.all |= mask;
    }
    return passing;
}

/* The likelihoods of a sample, over that of a healthy one, if a part is at fault at each depth. */
struct ratios {
    const struct model_row *row;
    struct model_row own; /* what row points to, unless the table has it */
};

static void find_ratios(const struct observation *sample, int load, const struct part *part,
                        struct ratios *ratios)
{
    const struct model_table *table = sample->table;
    bool is_uplink = part->type == DIAGNOSE_UPLINK;
    int bin = is_uplink ? sample->own_share_bin : sample->bin;
    const float *healthy = table->healthy[load][sample->is_seen];
    float unit = bin == sample->bin ? 1 : expf(healthy[bin] - healthy[sample->bin]);
    /* a fault that is always present does not let a sample change; busy machines do, and rails that
     * meet on a cable */
    bool is_unexplained = sample->is_changed && load == MODEL_QUIET && bin == sample->bin;
    float steady = is_unexplained ? (float)MODEL_CHANGES_ALWAYS : 1;

    ratios->row = part_is_attenuated(part, sample) ? &table->alone[load][sample->is_seen][bin]
                                                   : &table->rows[load][sample->is_seen][bin];
    if (!is_uplink && steady == 1)
        return;
    ratios->own = *ratios->row;
    if (is_uplink) /* streams keep their cable */
        memcpy(ratios->own.at_times, ratios->own.always, sizeof ratios->own.at_times);
    for (int i = 0; i < MODEL_ROW; i++) {
        ratios->own.always[i] *= unit * steady;
        ratios->own.at_times[i] *= unit;
    }
    ratios->row = &ratios->own;
}

/* Returns the likelihood of a sample, over that of a healthy one, given the parts that it passes,
 * each at fault for its share of the time (duty). The deepest of those at fault sets the rate.
 * part: another part, or NULL. Sets `with` to the likelihoods if that is at fault as well, at each
 * depth. */
VECTORISED static double mix(const struct passing *others, const struct observation *sample,
                             int bit, int load, const struct part *part, struct ratios *with)
{
    struct ratios own;
    double left = 1, mixed = 0;
    int deepest = MODEL_DEPTHS - 1;

    if (part)
        find_ratios(sample, load, part, with);
    if (!(others->all >> bit & 1))
        return 1;
    for (int k = 0; k <= others->count; k++) {
        const struct passed *other = k < others->count ? &others->parts[k] : NULL;
        int at = other ? other->part->depth : 0;

        if (other && !(other->mask >> bit & 1))
            continue;
        for (int depth = part ? at : MODEL_DEPTHS; depth <= deepest; depth++) {
            with->own.always[depth] = (float)(mixed + left * with->row->always[depth]);
            with->own.at_times[depth] = (float)(mixed + left * with->row->at_times[depth]);
        }
        deepest = at - 1;
        if (!other)
            break;
        find_ratios(sample, load, other->part, &own);
        mixed +=
            left * other->duty * (other->part->duty > 0 ? own.row->at_times : own.row->always)[at];
        left *= 1 - other->duty;
    }
    if (part) {
        with->row = &with->own;
        model_group(with->own.always);
        model_group(with->own.at_times);
    }
    return mixed + left;
}

/* The likelihood of a run, over that of a healthy one, on quiet and on busy machines: without the
 * other part, and with each cell of it. */
struct weighed_run {
    double without[MODEL_LOADS], cells[MODEL_LOADS][MODEL_CELLS];
};

/* Another part: its samples, and how many depths (or groups) and duties are evaluated. */
struct looked_at {
    const struct part *part;
    unsigned long long mask; /* 0: no sample passes it */
    int depths, duties;
    double most; /* bound of all cells on busy machines, which are not computed; 0: they are */
};

static int cells_of(const struct looked_at *other)
{
    return other->depths * MODEL_DUTIES;
}

/* As many likelihoods of samples, each 1e6 at most (model.c), can be multiplied as floats. */
enum { FLOATS_MOST = 6 };

INLINE void flush_products(float *products, double *cells, int count)
{
    for (int i = 0; i < count; i++) {
        cells[i] *= products[i];
        products[i] = 1;
    }
}

/* Adds to sum weight times the likelihoods of the run at that load. */
INLINE void add_variant(const struct observations *observations, const struct run *run,
                        const struct passing *others, const struct looked_at *other, int load,
                        double weight, struct weighed_run *sum)
{
    double all = weight, rest = weight, cells[MODEL_CELLS];
    float products[MODEL_CELLS];
    struct ratios with;
    int passing = 0, count = cells_of(other), depths = other->depths;
    int first = depths == MODEL_GROUPS ? MODEL_DEPTHS : 0; /* of a row */

    for (int i = 0; i < count; i++)
        cells[i] = products[i] = 1;
    for (unsigned long long left = other->mask | others->all; left; left &= left - 1) {
        int bit = __builtin_ctzll(left);
        bool is_passing = other->mask >> bit & 1;
        const struct observation *sample = &observations->items[run->begin + (unsigned)bit];
        double own = mix(others, sample, bit, load, is_passing ? other->part : NULL, &with) +
                     model_impossible;

        all *= own;
        rest *= is_passing ? 1 : own;
        for (int duty = 0; duty < other->duties && is_passing; duty++) {
            const float *row = (duty > 0 ? with.row->at_times : with.row->always) + first;
            float there = model_duties[MODEL_ALONE][duty], *product = &products[duty * depths];
            float gone = (float)((1 - there) * own + there * model_impossible);

            for (int depth = 0; depth < depths; depth++)
                product[depth] *= gone + there * row[depth];
        }
        passing += is_passing;
        if (is_passing && passing % FLOATS_MOST == 0)
            flush_products(products, cells, count);
    }
    sum->without[load] += all;
    flush_products(products, cells, count);
    for (int i = 0; i < count; i++)
        sum->cells[load][i] += rest * cells[i];
}

INLINE void run_weigh(const struct explained_pair *explained, const struct run *run,
                      const struct looked_at *other, struct weighed_run *sum)
{
    struct passing others = passing_of(explained, run);
    double kept = MODEL_TOGETHER_RUN;
    struct passed *lasting = NULL; /* the deepest part that comes and goes */
    float lasting_duty;

    for (int i = 0; i < others.count && !lasting; i++)
        lasting = others.parts[i].duty < 1 ? &others.parts[i] : NULL;
    lasting_duty = lasting ? lasting->duty : 1;

    for (int load = 0; load < MODEL_LOADS; load++) {
        double *own = sum->cells[load], most = load == MODEL_BUSY ? other->most : 0;

        sum->without[load] = most > 0;
        for (int cell = 0; cell < cells_of(other); cell++)
            own[cell] = most;
        if (most > 0)
            return;
        add_variant(explained->observations, run, &others, other, load, lasting ? 1 - kept : 1,
                    sum);
        for (int is_on = 0; is_on < 2 && lasting; is_on++) {
            lasting->duty = (float)is_on;
            add_variant(explained->observations, run, &others, other, load,
                        kept * (is_on ? lasting_duty : 1 - lasting_duty), sum);
            lasting->duty = lasting_duty;
        }
        for (int duty = 1; !lasting && duty < other->duties; duty++) {
            double share = kept * model_duties[MODEL_ALONE][duty],
                   *cell = &own[duty * other->depths];
            double rest = (kept - share) * sum->without[load];

            for (int depth = 0; depth < other->depths; depth++)
                cell[depth] = (1 - kept) * cell[depth] + share * own[depth] + rest;
        }
    }
}

/* Returns the likelihood of the run: quiet machines, busy ones (share busy), or a hiccup. */
static double likelihood_of(const struct run *run, double busy, const struct weighed_run *weighed)
{
    return (1 - busy) * weighed->without[MODEL_QUIET] +
           busy * run->busy * weighed->without[MODEL_BUSY] + run->hiccup;
}

static const struct looked_at nothing = {.mask = 0};

void pair_values(const struct explained_pair *explained, double values[MODEL_RATES])
{
    double cables = 0;

    for (int i = 0; i < explained->part_count; i++)
        if (is_cable(explained->parts[i]))
            cables += log(chance_of(explained, explained->parts[i], explained->parts[i]->duty));
    for (int rate = 0; rate < MODEL_RATES; rate++)
        values[rate] = cables;
    for (unsigned i = 0; i < explained->pair->run_count; i++) {
        const struct run *run = &explained->observations->runs[explained->pair->first_run + i];
        struct weighed_run weighed;

        run_weigh(explained, run, &nothing, &weighed);
        for (int rate = 0; rate < MODEL_RATES; rate++)
            values[rate] += log(likelihood_of(run, model_rates[rate], &weighed));
    }
}

bool run_is_hiccup(const struct explained_pair *explained, const struct run *run, double busy)
{
    struct weighed_run weighed;

    run_weigh(explained, run, &nothing, &weighed);
    return 2 * run->hiccup > likelihood_of(run, busy, &weighed);
}

/* Multiplies the gain of each cell by the likelihood of the run with it over that without. */
INLINE void multiply(const struct explained_pair *explained, const struct run *run,
                     const struct looked_at *other, double busy, double *gains)
{
    struct weighed_run weighed;
    double share, quiet_share, busy_share, rest;

    run_weigh(explained, run, other, &weighed);
    share = 1 / likelihood_of(run, busy, &weighed);
    quiet_share = share * (1 - busy);
    busy_share = share * busy * run->busy;
    rest = share * run->hiccup;
    for (int cell = 0; cell < cells_of(other); cell++)
        gains[cell] = bounded(gains[cell] * (quiet_share * weighed.cells[0][cell] +
                                             busy_share * weighed.cells[1][cell] + rest));
}

INLINE void gains_by(const struct explained_pair *explained, double busy, const struct part *part,
                     int depths, double gains[MODEL_CELLS])
{
    const struct pair *pair = explained->pair;
    bool is_uplink = part->type == DIAGNOSE_UPLINK;
    double on_cable[MODEL_CELLS];

    for (int cell = 0; cell < depths * MODEL_DUTIES; cell++)
        gains[cell] = on_cable[cell] = 1;
    for (unsigned i = 0; i < pair->run_count; i++) {
        const struct run *run = &explained->observations->runs[pair->first_run + i];
        struct looked_at other = {part, run_mask(explained, part, run, false), depths,
                                  is_uplink ? 1 : MODEL_DUTIES, 0};
        double most = busy * run->busy * pair->gain;

        if (!other.mask)
            continue;
        if (depths == MODEL_GROUPS && explained->part_count == 0 && !is_uplink && most < seldom)
            other.most = pair->gain;
        multiply(explained, run, &other, busy, gains);
        other.mask = is_uplink ? run_mask(explained, part, run, true) : 0;
        if (other.mask)
            multiply(explained, run, &other, busy, on_cable);
    }
    for (int duty = 1; duty < MODEL_DUTIES && is_uplink; duty++) {
        double chance = chance_of(explained, part, duty);

        for (int depth = 0; depth < depths; depth++)
            gains[duty * depths + depth] = bounded(chance * on_cable[depth]);
    }
}

VECTORISED void pair_gains(const struct explained_pair *explained, double busy,
                           const struct part *part, int depths, double gains[MODEL_CELLS])
{
    if (depths == MODEL_GROUPS)
        gains_by(explained, busy, part, MODEL_GROUPS, gains);
    else
        gains_by(explained, busy, part, MODEL_DEPTHS, gains);
}
