/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_MODEL_H
#define MUSTER_DIAGNOSE_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/constants/model_constants.h"

/* What one sample is likely to be: y = ln(rate / what it should be), and whether an end was seen
 * not to be scheduled meanwhile. doc/attribution.md has the formulas.
 *
 * A sample is of a healthy way, or of one that has exp(depth) of its speed. In a pair run, which is
 * what one pair measures at one time, the machines are quiet or busy; busy ones preempt most
 * samples. Or the machines have a hiccup, which slows several samples of the run alike. So a bad
 * moment counts once, however many samples fell into it. */

enum { MODEL_QUIET, MODEL_BUSY, MODEL_LOADS };
enum { MODEL_DEPTHS = 48, MODEL_DUTIES = 5, MODEL_CELLS = MODEL_DEPTHS * MODEL_DUTIES };
/* Depths may be looked at by groups, each of which has the most of its own: a bound. */
enum { MODEL_GROUPS = 8, MODEL_DEPTHS_OF_GROUP = MODEL_DEPTHS / MODEL_GROUPS };
enum { MODEL_BINS = 208 };

/* Shares of pair runs in which machines may be busy, and their priors. */
enum { MODEL_RATES = 5 };
extern const double model_rates[MODEL_RATES], model_rate_priors[MODEL_RATES];

float model_depth(int depth);  /* y of a faulty way, from the shallowest */
int model_steps(double times); /* of depth from a rate to that over `times` */
/* Whose a part is: one node's or pair's, many nodes', or theirs by several cables. */
enum model_sharing { MODEL_ALONE, MODEL_SHARED, MODEL_CABLES, MODEL_SHARINGS };
/* The share of the time that a fault is there, or of the streams that are on bad cables; and its
 * prior. */
extern const float model_duties[MODEL_SHARINGS][MODEL_DUTIES];
extern const double model_duty_priors[MODEL_SHARINGS][MODEL_DUTIES];

/* What is nobody's fault: pair runs that have a hiccup, and dips, which are healthy samples that
 * are low, or two that met on a cable. */
struct model_noise {
    double hiccups, dips;           /* shares */
    double dip_density[MODEL_BINS]; /* of y */
};

/* dips: how many there were in each bin of y, of so many samples; most: their share is no greater.
 * hiccups: share of the pair runs that had one. */
void model_fit_noise(const unsigned *dips, double samples, double most, double hiccups,
                     struct model_noise *noise);

/* Densities of samples whose healthy ones scatter by that scale. */
struct model_table {
    /* of a healthy way, logarithm */
    float healthy[MODEL_LOADS][2][MODEL_BINS];
    /* density over that of a healthy way, of what is always there and of what comes and goes */
    float ratio[MODEL_LOADS][2][MODEL_BINS][MODEL_DEPTHS];
    float at_times[MODEL_LOADS][2][MODEL_BINS][MODEL_DEPTHS];
    /* the most of each group of depths */
    float ratio_most[MODEL_LOADS][2][MODEL_BINS][MODEL_GROUPS];
    float at_times_most[MODEL_LOADS][2][MODEL_BINS][MODEL_GROUPS];
    /* logarithm of the most of these */
    float most[2][MODEL_BINS];
};

/* The least likelihood of a sample, over that of a healthy one: the model is not certain. */
extern const double model_impossible;

/* What comes and goes may change while a sample is measured, which then has anything between: each
 * depth up to the part's own is as likely. */
void model_blend(const float ratios[MODEL_DEPTHS], float at_times[MODEL_DEPTHS]);

void model_group(const float ratios[MODEL_DEPTHS], float most[MODEL_GROUPS]);

/* The number of a scale that is not below, and a table for it. */
enum { MODEL_SCALES = 12 };
int model_scale(double scale);
void model_table(int scale, const struct model_noise *noise, struct model_table *table);

/* Finer where most samples are. */
int model_bin(double y);
double model_bin_y(int bin); /* its middle */

/* Of y that scatters by scale: Student's t with 3 degrees of freedom. */
double model_density(double y, double scale);

/* ln(exp(a) + exp(b)) */
double model_add(double a, double b);

#endif
