/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STAGE_VALUES_H
#define MUSTER_STAGE_VALUES_H

#include "lib/base/error.h"

/* The time and the findings of the stages of certifications, by the history's runs without dry
 * runs: they show which tests are worth their time. */

struct stage_value {
    const char *stage;
    int runs;
    double tested, found; /* nodes, over all runs */
    double seconds;       /* that a node spends in it, on average */
};

/* Returns the probability that the stage fails a node: Jeffreys' estimate,
 * (found + 1/2) / (tested + 1). */
double stage_value_chance(const struct stage_value *value);
/* Returns the expected number of failed nodes per hour that a node spends in the stage; 0 if it
 * takes no time. */
double stage_value_per_hour(const struct stage_value *value);

/* Calls each() for each stage, from runs that ended after `since`. Returns the number of stages, or
 * -1 with err. */
int stage_values(const char *path, double since,
                 void (*each)(const struct stage_value *value, void *context), void *context,
                 struct error *err);

#endif
