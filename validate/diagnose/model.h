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
/* The depth that is so many steps shallower; below 0: none, as all is well. */
static inline int model_shallower(int depth, int steps)
{
    return depth == MODEL_DEPTHS - 1 ? depth : depth - steps;
}
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

/* dips: how many there were in each bin of y, of so many samples; hiccups: share of the pair runs
 * that had one. */
void model_fit_noise(const unsigned *dips, double samples, double hiccups,
                     struct model_noise *noise);

/* A sample's density over that of a healthy way: of what is always there and of what comes and
 * goes, at each depth; then the most of each group of depths. */
enum { MODEL_ROW = MODEL_DEPTHS + MODEL_GROUPS };
struct model_row {
    float always[MODEL_ROW], at_times[MODEL_ROW];
};

/* Densities of samples whose healthy ones scatter by that scale. */
struct model_table {
    /* of a healthy way, logarithm */
    float healthy[MODEL_LOADS][2][MODEL_BINS];
    struct model_row rows[MODEL_LOADS][2][MODEL_BINS];
    /* of one rail by itself, where the depth is that of all rails at once */
    struct model_row alone[MODEL_LOADS][2][MODEL_BINS];
    /* logarithm of the most of a row */
    float most[2][MODEL_BINS];
};

/* The least likelihood of a sample, over that of a healthy one: the model is not certain. */
extern const double model_impossible;

/* Sets the most of each group to those of the depths. */
void model_group(float ratios[MODEL_ROW]);

/* The number of a scale that is not below, and a table for it, of so many rails. */
enum { MODEL_SCALES = 12 };
int model_scale(double scale);
void model_table(int scale, const struct model_noise *noise, size_t rails,
                 struct model_table *table);

/* Finer where most samples are. */
int model_bin(double y);
double model_bin_y(int bin); /* its middle */

/* Of y that scatters by scale: Student's t with 3 degrees of freedom. */
double model_density(double y, double scale);

/* ln(exp(a) + exp(b)) */
double model_add(double a, double b);

#endif
