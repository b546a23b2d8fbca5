/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_INCONSISTENT_H
#define MUSTER_LOCALIZATION_INCONSISTENT_H

#include "validate/diagnose/observations.h"

/* Decides whose figures are believed, before faulty parts are searched for. Pure. */

struct inconsistent_node {
    int node;
    int transfers, contradicted; /* its transfers, and those in which it and its partner contradict
                               each other */
};

/* Finds the nodes whose figures contradict those of several partners, the most contradicted first.
 * Where the two ends of a transfer contradict each other, sets the rate of the sample to the figure
 * of the consistent end or, if the ends are alike, to the lower figure. *inconsistent is malloc'd.
 * Returns the number of nodes, or -1 if memory is out. O(samples x inconsistent). */
long inconsistent_find(const struct diagnose_network *network, struct diagnose_sample *samples,
                       size_t count, struct inconsistent_node **inconsistent);

#endif
