/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_OFFENDERS_H
#define MUSTER_OFFENDERS_H

#include <stddef.h>

#include "lib/base/error.h"

/* Nodes and parts that fail repeatedly, by the history's runs without dry runs, and its
 * acceptances.
 *
 * A fault is a series of consecutive runs that failed the node for one part. A repair is a run that
 * passed the node after a fault, or an acceptance (history_accept()). The score of a part is the
 * number of both: 1 is a current fault, 2 a repaired one, 3 one that came back. The score of a node
 * is the sum over its parts. */

struct offender {
    char node[64], part[64]; /* part "": a fault of no part */
    unsigned faults, repairs;
    double last; /* the last failure, seconds since 1970 */
};

struct offenders {
    struct offender *items; /* by node; each has a fault */
    size_t count;
};

unsigned offender_score(const struct offender *offender);

/* Reads the offenders from runs of the cluster (NULL: of all) that ended after `since`. Returns 0,
 * or -1 with err. Release with offenders_clear(). */
int offenders_read(const char *path, const char *cluster, double since, struct offenders *offenders,
                   struct error *err);
void offenders_clear(struct offenders *offenders);

#endif
