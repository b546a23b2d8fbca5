/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/localization/likelihood.h"

#include <math.h>
#include <stdlib.h>

#include "lib/constants/judge_constants.h"

static const float duties[] = {1, 0.75F, 0.5F, 0.3F, 0.15F}; /* share of the time */

enum {
    RATES = sizeof LIKELIHOOD_BUSY_RATES / sizeof *LIKELIHOOD_BUSY_RATES,
    DUTIES = sizeof duties / sizeof *duties,
    DEPTHS = 4 /* candidates for a depth: quantiles of the low samples */
};

float likelihood_low(void)
{
    return (float)LIKELIHOOD_LOW_LIMIT;
}

double likelihood_margin(void)
{
    return LIKELIHOOD_MARGIN;
}

void likelihood_set_preempted(struct likelihood_sample *sample, bool is_stalled)
{
    double of_preempted =
        is_stalled ? LIKELIHOOD_STALLED_PREEMPTED : 1 - LIKELIHOOD_STALLED_PREEMPTED;
    double of_others = is_stalled ? LIKELIHOOD_STALLED_OTHERS : 1 - LIKELIHOOD_STALLED_OTHERS;
    double probs[2];

    for (int k = 0; k < 2; k++)
        probs[k] =
            LIKELIHOOD_PREEMPTED[k] * of_preempted /
            (LIKELIHOOD_PREEMPTED[k] * of_preempted + (1 - LIKELIHOOD_PREEMPTED[k]) * of_others);
    sample->preempted_quiet_prob = (float)probs[0];
    sample->preempted_prob = (float)probs[1];
}

static int block_of(const struct likelihood_data *data, int node)
{
    return data->blocks ? data->blocks[node] : 0;
}

bool likelihood_touches(const struct likelihood_data *data, const struct likelihood_part *part,
                        const struct likelihood_sample *sample)
{
    int from, to;
    bool is_end;

    if (part->rail >= 0 && part->rail != sample->rail)
        return false;
    switch (part->pattern) {
    case PATTERN_NODE:
        return (sample->from == part->node && (part->directions & DIRECTION_SENDS)) ||
               (sample->to == part->node && (part->directions & DIRECTION_RECEIVES));
    case PATTERN_PATH:
        return (sample->from == part->node && sample->to == part->peer &&
                (part->directions & DIRECTION_SENDS)) ||
               (sample->to == part->node && sample->from == part->peer &&
                (part->directions & DIRECTION_RECEIVES));
    case PATTERN_LEAF:
    case PATTERN_UPLINK:
        from = block_of(data, sample->from);
        to = block_of(data, sample->to);
        is_end = (from == part->block && (part->directions & DIRECTION_SENDS)) ||
                 (to == part->block && (part->directions & DIRECTION_RECEIVES));
        return is_end && (part->pattern == PATTERN_LEAF ||
                          (from != to && (part->peer_block < 0 || from == part->peer_block ||
                                          to == part->peer_block)));
    default:
        return true;
    }
}

static double log_prior(const struct likelihood_data *data, const struct likelihood_part *part)
{
    bool is_one_way = part->directions != DIRECTION_BOTH;
    bool is_large = part->pattern != PATTERN_NODE && part->pattern != PATTERN_PATH;
    double prior = LIKELIHOOD_LARGE_PRIOR, of_duty = LIKELIHOOD_DUTY_PRIORS[0];

    if (part->pattern == PATTERN_NODE)
        prior = part->rail < 0 ? LIKELIHOOD_NODE_PRIOR
                : is_one_way   ? LIKELIHOOD_ONE_WAY_PRIOR
                               : LIKELIHOOD_LARGE_PRIOR;
    else if (part->pattern == PATTERN_PATH)
        prior = (part->rail < 0 ? LIKELIHOOD_PATH_RAILS_PRIOR
                 : is_one_way   ? LIKELIHOOD_PATH_ONE_WAY_PRIOR
                                : LIKELIHOOD_PATH_PRIOR) /
                fmax((double)data->node_count - 1, 1);
    for (int i = 0; i < DUTIES; i++)
        if (part->duty == duties[i])
            of_duty = (is_large ? LIKELIHOOD_LARGE_DUTY_PRIORS : LIKELIHOOD_DUTY_PRIORS)[i];
    return log(prior) + log(of_duty) - log(LIKELIHOOD_DEPTHS);
}

/* The density of Student's t with 3 degrees of freedom. */
static double density_t(double y, double scale)
{
    double t = y / scale, base = 1 + t * t / 3;

    return 0.3675525969 / (base * base * scale);
}

/* Of samples that should be at middle. */
static double density_about(double y, double middle, double scale)
{
    double outlier = y >= LIKELIHOOD_OUTLIER_LOW && y <= LIKELIHOOD_OUTLIER_HIGH
                         ? 1 / (LIKELIHOOD_OUTLIER_HIGH - LIKELIHOOD_OUTLIER_LOW)
                         : 0;

    return (1 - LIKELIHOOD_OUTLIER_SHARE) * density_t(y - middle, scale) +
           LIKELIHOOD_OUTLIER_SHARE * outlier;
}

/* Of preempted samples: an even share of the speed is exp(y) in y. */
static double density_preempted(double y, double middle, double as_before)
{
    double share = exp(y - middle);
    double slowed = share >= LIKELIHOOD_SLOWED_LEAST && share <= LIKELIHOOD_SLOWED_MOST
                        ? share / (LIKELIHOOD_SLOWED_MOST - LIKELIHOOD_SLOWED_LEAST)
                        : 0;

    return LIKELIHOOD_SLOWED_SHARE * slowed + (1 - LIKELIHOOD_SLOWED_SHARE) * as_before;
}

/* Of a sample in a quiet and in a busy pair run. part: the deepest that it passes, or NULL. */
static void densities(const struct likelihood_sample *sample, const struct likelihood_part *part,
                      double *quiet, double *busy)
{
    double y = sample->y, duty = part ? part->duty : 0;
    double healthy = density_about(y, 0, LIKELIHOOD_HEALTHY_SCALE);
    double faulty = part ? density_about(y, part->depth, LIKELIHOOD_FAULTY_SCALE) : 0;
    double scheduled = (1 - duty) * healthy + duty * faulty;
    double slowed = (1 - duty) * density_preempted(y, 0, healthy) +
                    (part ? duty * density_preempted(y, part->depth, faulty) : 0);

    *quiet = (1 - sample->preempted_quiet_prob) * scheduled + sample->preempted_quiet_prob * slowed;
    *busy = (1 - sample->preempted_prob) * scheduled + sample->preempted_prob * slowed;
}

static const struct likelihood_part *deepest(const struct likelihood_data *data,
                                             const struct likelihood_part *parts, size_t count,
                                             const struct likelihood_sample *sample)
{
    const struct likelihood_part *found = NULL;

    for (size_t i = 0; i < count; i++)
        if ((!found || parts[i].depth < found->depth) &&
            likelihood_touches(data, &parts[i], sample))
            found = &parts[i];
    return found;
}

double likelihood_score(const struct likelihood_data *data, const struct likelihood_part *parts,
                        size_t count)
{
    double sums[RATES] = {0}, most = -INFINITY, sum = 0, score = 0;

    for (size_t i = 0, next; i < data->count; i = next) {
        double quiet = 0, busy = 0;

        for (next = i;
             next < data->count && data->samples[next].pair_run == data->samples[i].pair_run;
             next++) {
            const struct likelihood_sample *sample = &data->samples[next];
            double of_quiet, of_busy;

            densities(sample, deepest(data, parts, count, sample), &of_quiet, &of_busy);
            quiet += log(of_quiet + 1e-12);
            busy += log(of_busy + 1e-12);
        }
        for (int k = 0; k < RATES; k++) {
            double a = log(1 - LIKELIHOOD_BUSY_RATES[k]) + quiet,
                   b = log(LIKELIHOOD_BUSY_RATES[k]) + busy;

            sums[k] += fmax(a, b) + log1p(exp(-fabs(a - b)));
        }
    }
    for (int k = 0; k < RATES; k++)
        most = fmax(most, sums[k] + log(LIKELIHOOD_BUSY_PRIORS[k]));
    for (int k = 0; k < RATES; k++)
        sum += exp(sums[k] + log(LIKELIHOOD_BUSY_PRIORS[k]) - most);
    for (size_t i = 0; i < count; i++)
        score += log_prior(data, &parts[i]);
    return score + most + log(sum);
}

static int by_value(const void *left, const void *right)
{
    float a = *(const float *)left, b = *(const float *)right;

    return (a > b) - (a < b);
}

/* Quantiles of the low samples of the part, and how many of its samples are low. Returns how many
 * depths. */
static int depth_candidates(const struct likelihood_data *data, const struct likelihood_part *part,
                            float *depths, double *low_share)
{
    static const double quantiles[DEPTHS] = {0.25, 0.5, 0.75, 0.9};
    float *low = malloc((data->count + 1) * sizeof *low);
    size_t count = 0, all = 0;
    int made = 0;

    for (size_t i = 0; i < data->count && low; i++)
        if (likelihood_touches(data, part, &data->samples[i])) {
            all++;
            if (data->samples[i].y < LIKELIHOOD_LOW_LIMIT)
                low[count++] = data->samples[i].y;
        }
    if (count > 0) {
        qsort(low, count, sizeof *low, by_value);
        for (; made < DEPTHS; made++)
            depths[made] = low[(size_t)(quantiles[made] * (double)(count - 1) + 0.5)];
    }
    *low_share = all > 0 ? (double)count / (double)all : 0;
    free(low);
    return made;
}

double likelihood_fit(const struct likelihood_data *data, struct likelihood_part *parts,
                      size_t count, size_t index)
{
    struct likelihood_part *part = &parts[index], best;
    float depths[DEPTHS];
    double low_share, most = -INFINITY;
    int depth_total = depth_candidates(data, part, depths, &low_share);

    part->depth = (float)LIKELIHOOD_LOW_LIMIT;
    part->duty = 1;
    best = *part;
    for (int d = 0; d < depth_total; d++) {
        if (d > 0 && depths[d] - depths[d - 1] < LIKELIHOOD_FAULTY_SCALE / 2)
            continue; /* as good as the last one */
        for (int k = 0; k < DUTIES; k++) {
            double score;

            /* low samples that others explain make the share too high, never too low */
            if (duties[k] < 0.5F * (float)low_share)
                continue;
            part->depth = depths[d];
            part->duty = duties[k];
            score = likelihood_score(data, parts, count);
            if (score > most) {
                most = score;
                best = *part;
            }
        }
    }
    *part = best;
    return depth_total > 0 ? most : likelihood_score(data, parts, count);
}
