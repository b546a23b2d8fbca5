/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_OFFENDERS_H
#define MUSTER_OFFENDERS_H

#include <stddef.h>

#include "lib/base/error.h"

/* Who fails again and again, by the history's runs that were no dry runs and what was accepted.
 *
 * A fault is an unbroken row of runs that failed the node for one part; a repair is a run that
 * passed the node after that, or its acceptance (history_accept()). The score of a part is the sum
 * of both: 1 is a fault that is still there, 2 one that was repaired, 3 one that came back. That of
 * a node is the sum of its parts. */

struct offender {
    char node[64], part[64]; /* part "": a fault of no part */
    unsigned faults, repairs;
    double last; /* when it last failed, seconds since 1970 */
};

struct offenders {
    struct offender *items; /* by node; none without a fault */
    size_t count;
};

unsigned offender_score(const struct offender *offender);

/* What runs of the cluster, NULL: of all, that ended after `since` found. Returns 0 with the
 * offenders to be released, or -1 with err. */
int offenders_read(const char *path, const char *cluster, double since, struct offenders *offenders,
                   struct error *err);
void offenders_clear(struct offenders *offenders);

#endif
