/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STAGE_VALUES_H
#define MUSTER_STAGE_VALUES_H

#include "lib/base/error.h"

/* What the stages of certifications took and found, by the history's runs that were no dry runs:
 * which tests are worth their time. */

struct stage_value {
    const char *stage;
    int runs;
    double tested, found; /* nodes, over all runs */
    double seconds;       /* a node spends in it, on average */
};

/* That of the stage to fail a node: Jeffreys' estimate, (found + 1/2) / (tested + 1). */
double stage_value_chance(const struct stage_value *value);
/* The nodes that it fails for an hour that a node spends in it; 0 where it takes no time. */
double stage_value_per_hour(const struct stage_value *value);

/* Calls each() for each stage, by runs that ended after `since`. Returns how many, or -1 with err.
 */
int stage_values(const char *path, double since,
                 void (*each)(const struct stage_value *value, void *context), void *context,
                 struct error *err);

#endif
