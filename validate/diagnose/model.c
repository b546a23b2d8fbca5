/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/model.h"

#include <math.h>

const double model_rates[MODEL_RATES] = {0.003, 0.05, 0.2, 0.5, 0.9};
const double model_rate_priors[MODEL_RATES] = {0.5, 0.25, 0.15, 0.07, 0.03};
const float model_duties[MODEL_SHARINGS][MODEL_DUTIES] = {
    [MODEL_ALONE] = {1, 0.75F, 0.5F, 0.3F, 0.15F},
    [MODEL_SHARED] = {1, 0.75F, 0.5F, 0.3F, 0.15F},
    [MODEL_CABLES] = {1, 0.5F, 0.2F, 0.08F, 0.03F}};
/* A part that many nodes share is hardly ever at fault only at times. Of uplinks it may be one
 * cable. */
const double model_duty_priors[MODEL_SHARINGS][MODEL_DUTIES] = {
    [MODEL_ALONE] = {0.6, 0.1, 0.1, 0.1, 0.1},
    [MODEL_SHARED] = {0.96, 0.01, 0.01, 0.01, 0.01},
    [MODEL_CABLES] = {0.8, 0.05, 0.05, 0.05, 0.05}};
static const double nothing = 0.018; /* the rate of a dead link */
/* Bins of y: wide ones up to a limit, then fine ones. */
static const double bin_first = -4.0, bin_limit = -1.0, bin_wide = 0.04, bin_fine = 0.01;
enum { WIDE_BINS = 75 };

static const double scale_step = 1.25;
const double model_impossible = 1e-6;
/* The density ratio of a sample is limited to this. */
static const double certain = 1e6;

float model_depth(int depth)
{
    static _Thread_local float known[MODEL_DEPTHS];
    float *one = &known[depth];

    if (*one == 0)
        *one = (float)log(depth == MODEL_DEPTHS - 1
                              ? nothing
                              : MODEL_SHALLOWEST * pow(MODEL_DEEPEST / MODEL_SHALLOWEST,
                                                       depth / (double)(MODEL_DEPTHS - 2)));
    return *one;
}

int model_steps(double times)
{
    return (int)lround(log(times) / log(MODEL_SHALLOWEST / MODEL_DEEPEST) * (MODEL_DEPTHS - 2));
}

double model_add(double a, double b)
{
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

int model_bin(double y)
{
    int bin;

    if (y <= bin_first || isnan(y))
        return 0;
    bin = y < bin_limit ? (int)((y - bin_first) / bin_wide)
                        : WIDE_BINS + (int)((y - bin_limit) / bin_fine);
    return bin >= MODEL_BINS ? MODEL_BINS - 1 : bin;
}

double model_bin_y(int bin)
{
    return bin < WIDE_BINS ? bin_first + (bin + 0.5) * bin_wide
                           : bin_limit + (bin - WIDE_BINS + 0.5) * bin_fine;
}

/* Student's t with 3 degrees of freedom. */
double model_density(double y, double scale)
{
    double t = y / scale, base = 1 + t * t / 3;

    return 0.3675525969 / (base * base * scale);
}

/* The density in y of a rate that is uniform between `least` and MODEL_MOST of what it should
 * be. */
static double density_even(double y, double least)
{
    double most = MODEL_MOST, share = exp(y);

    return share > least && share < most ? share / (most - least) : 1e-3;
}

/* The density in y of a dip: half of the dips are uniform, half have a rate with density ~
 * rate^MODEL_DIP_POWER. */
static double density_dip(double y)
{
    double least = MODEL_DIP_LEAST, most = MODEL_MOST;
    double power = MODEL_DIP_POWER, share = exp(y);

    if (share <= least || share >= most)
        return 1e-3;
    return 0.5 * density_even(y, least) +
           0.5 * (power + 1) / most * pow(share / most, power) * share;
}

void model_fit_noise(const unsigned *dips, double samples, double hiccups,
                     struct model_noise *noise)
{
    double scale = MODEL_FAULTY_SCALE, low = 0;

    for (int bin = 0; bin < MODEL_BINS; bin++) {
        noise->dip_density[bin] = MODEL_DIPS_KNOWN * density_dip(model_bin_y(bin));
        low += dips[bin];
    }
    for (int from = 0; from < MODEL_BINS; from++)
        for (int bin = 0; dips[from] > 0 && bin < MODEL_BINS; bin++)
            noise->dip_density[bin] +=
                dips[from] * model_density(model_bin_y(bin) - model_bin_y(from), scale);
    for (int bin = 0; bin < MODEL_BINS; bin++)
        noise->dip_density[bin] /= MODEL_DIPS_KNOWN + low;
    noise->dips = fmin(fmax(low / fmax(samples, 1), MODEL_DIP_SHARE), MODEL_DIPS_MOST);
    noise->hiccups = fmin(fmax(hiccups, MODEL_HICCUPS_LEAST), MODEL_HICCUPS_MOST);
}

/* Sets the densities of a sample at y, by the load of the machines and by whether an end noticed
 * that it was not scheduled. Unless preempted it scatters by scale about depth, but for the given
 * share of dips, whose density at y is `dip`. */
static void find_densities(double y, double depth, double scale, double share, double dip,
                           double densities[MODEL_LOADS][2])
{
    double slowed = MODEL_SLOWED_SHARE;
    double seen = MODEL_SEEN_PREEMPTED, seen_others = MODEL_SEEN_OTHERS;
    double scheduled = (1 - share) * model_density(y - depth, scale) + share * dip;
    double waited = slowed * density_even(y - depth, MODEL_SLOWED_LEAST) + (1 - slowed) * scheduled;

    for (int load = 0; load < MODEL_LOADS; load++) {
        double preempted = load == MODEL_BUSY ? MODEL_PREEMPTED_BUSY : MODEL_PREEMPTED_QUIET;

        densities[load][0] =
            (1 - preempted) * (1 - seen_others) * scheduled + preempted * (1 - seen) * waited;
        densities[load][1] = (1 - preempted) * seen_others * scheduled + preempted * seen * waited;
    }
}

void model_group(float ratios[MODEL_ROW])
{
    for (int group = 0; group < MODEL_GROUPS; group++) {
        const float *own = &ratios[group * MODEL_DEPTHS_OF_GROUP];
        float most = own[0];

        for (int i = 1; i < MODEL_DEPTHS_OF_GROUP; i++)
            most = own[i] > most ? own[i] : most;
        ratios[MODEL_DEPTHS + group] = most;
    }
}

/* Sets at_times from always. A fault that comes and goes may change during a sample, which then has
 * any depth up to that of the fault, each as likely. */
static void complete_row(struct model_row *row)
{
    float changes = (float)MODEL_CHANGES, sum = 0;

    for (int depth = 0; depth < MODEL_DEPTHS; depth++) {
        float ratio = row->always[depth];

        sum += ratio;
        row->at_times[depth] = ratio + changes * (sum / (float)(depth + 1) - ratio);
    }
    model_group(row->always);
    model_group(row->at_times);
}

static void fill(struct model_table *table, double healthy_scale, const struct model_noise *noise,
                 int steps, int bin)
{
    double y = model_bin_y(bin), scale = fmax(MODEL_FAULTY_SCALE, healthy_scale);
    double healthy[MODEL_LOADS][2], faulty[MODEL_LOADS][2], most[2] = {0, 0};

    find_densities(y, 0, healthy_scale, noise->dips, noise->dip_density[bin], healthy);
    for (int depth = 0; depth < MODEL_DEPTHS; depth++) {
        double middle = model_depth(depth);
        double dip = noise->dip_density[model_bin(y - middle)];
        int alone = model_shallower(depth, steps);

        find_densities(y, middle, scale, noise->dips, dip, faulty);
        for (int load = 0; load < MODEL_LOADS; load++)
            for (int is_seen = 0; is_seen < 2; is_seen++) {
                double ratio = faulty[load][is_seen] / healthy[load][is_seen];
                float *row = table->rows[load][is_seen][bin].always;

                ratio = ratio < certain ? ratio : certain;
                row[depth] = (float)ratio;
                table->alone[load][is_seen][bin].always[depth] = alone < 0 ? 1 : row[alone];
                most[is_seen] = ratio > most[is_seen] ? ratio : most[is_seen];
            }
    }
    for (int is_seen = 0; is_seen < 2; is_seen++) {
        table->most[is_seen][bin] = fmaxf((float)log(most[is_seen]), 0);
        for (int load = 0; load < MODEL_LOADS; load++) {
            table->healthy[load][is_seen][bin] = (float)log(healthy[load][is_seen]);
            complete_row(&table->rows[load][is_seen][bin]);
            complete_row(&table->alone[load][is_seen][bin]);
        }
    }
}

int model_scale(double scale)
{
    double least = MODEL_HEALTHY_SCALE;
    int number = scale > least ? (int)ceil(log(scale / least) / log(scale_step)) : 0;

    return number < MODEL_SCALES ? number : MODEL_SCALES - 1;
}

void model_table(int scale, const struct model_noise *noise, size_t rails,
                 struct model_table *table)
{
    double healthy_scale = MODEL_HEALTHY_SCALE * pow(scale_step, scale);
    int steps = model_steps((double)rails);

    for (int bin = 0; bin < MODEL_BINS; bin++)
        fill(table, healthy_scale, noise, steps, bin);
}
