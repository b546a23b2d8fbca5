/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_MODEL_H
#define MUSTER_DIAGNOSE_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/constants/model_constants.h"

/* The distribution of one sample: y = ln(rate / what it should be), and whether an end noticed that
 * it was not scheduled meanwhile. doc/attribution.md has the formulas.
 *
 * A sample is healthy, or passes a faulty part that leaves exp(depth) of the rate. In a pair run,
 * which is what one pair measures at one time, the machines are quiet or busy; busy ones preempt
 * most samples. Or the machines have a hiccup, which slows several samples of the run alike. So a
 * bad moment counts once, however many samples fell into it. */

enum { MODEL_QUIET, MODEL_BUSY, MODEL_LOADS };
enum { MODEL_DEPTHS = 48, MODEL_DUTIES = 5, MODEL_CELLS = MODEL_DEPTHS * MODEL_DUTIES };
/* Depths may be evaluated in groups. A group has the maximum of its depths: an upper bound. */
enum { MODEL_GROUPS = 8, MODEL_DEPTHS_OF_GROUP = MODEL_DEPTHS / MODEL_GROUPS };
enum { MODEL_BINS = 208 };

/* Shares of pair runs in which machines may be busy, and their priors. */
enum { MODEL_RATES = 5 };
extern const double model_rates[MODEL_RATES], model_rate_priors[MODEL_RATES];

float model_depth(int depth);  /* y of a faulty sample; 0: the shallowest */
int model_steps(double times); /* steps of depth from a rate to that rate over `times` */
/* Returns the depth that is `steps` shallower, below 0 if that is healthy. Dead stays dead. */
static inline int model_shallower(int depth, int steps)
{
    return depth == MODEL_DEPTHS - 1 ? depth : depth - steps;
}
/* How many share a part: one node or pair, many nodes, or many nodes over several cables. */
enum model_sharing { MODEL_ALONE, MODEL_SHARED, MODEL_CABLES, MODEL_SHARINGS };
/* The share of the time that a fault is present or, of cables, the share of the streams that are on
 * slow ones; and its prior. */
extern const float model_duties[MODEL_SHARINGS][MODEL_DUTIES];
extern const double model_duty_priors[MODEL_SHARINGS][MODEL_DUTIES];

/* Noise, which is the fault of no part: pair runs that have a hiccup, and dips. Dips are low
 * samples of healthy parts, some of them because two streams met on a cable. */
struct model_noise {
    double hiccups, dips;           /* shares of pair runs, of samples */
    double dip_density[MODEL_BINS]; /* of y */
};

/* Fits noise to what was counted. dips: [MODEL_BINS] number of dips in each bin of y; samples:
 * number of samples among which they are; hiccups: share of pair runs that had one. */
void model_fit_noise(const unsigned *dips, double samples, double hiccups,
                     struct model_noise *noise);

/* The density of a sample over that of a healthy one, for a fault that is always present and for
 * one that comes and goes: at each depth, then the maximum of each group of depths. */
enum { MODEL_ROW = MODEL_DEPTHS + MODEL_GROUPS };
struct model_row {
    float always[MODEL_ROW], at_times[MODEL_ROW];
};

/* Densities of samples, for one scale of the scatter of healthy ones. Indices: load, whether an end
 * noticed that it was not scheduled, bin of y. */
struct model_table {
    /* of a healthy sample, logarithm */
    float healthy[MODEL_LOADS][2][MODEL_BINS];
    struct model_row rows[MODEL_LOADS][2][MODEL_BINS];
    /* of a sample of one rail by itself, where the depth is that of all rails at once */
    struct model_row alone[MODEL_LOADS][2][MODEL_BINS];
    /* logarithm of the greatest ratio at any load and depth, at least 0 */
    float most[2][MODEL_BINS];
};

/* The least likelihood of a sample, over that of a healthy one: the model is not certain. */
extern const double model_impossible;

/* Sets each group to the maximum of its depths. */
void model_group(float ratios[MODEL_ROW]);

enum { MODEL_SCALES = 12 };
/* Returns the index of the smallest tabulated scale of at least `scale`, or of the last one. */
int model_scale(double scale);
/* Fills the table for the scale with that index. rails: number of rails of a node. */
void model_table(int scale, const struct model_noise *noise, size_t rails,
                 struct model_table *table);

/* Returns the bin of y. Bins are finer where most samples are. */
int model_bin(double y);
double model_bin_y(int bin); /* the middle of the bin */

/* Returns the density at y of Student's t with 3 degrees of freedom, scaled by `scale`. */
double model_density(double y, double scale);

/* ln(exp(a) + exp(b)) */
double model_add(double a, double b);

#endif
