/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_BELIEVE_H
#define MUSTER_DIAGNOSE_BELIEVE_H

#include "validate/diagnose/observations.h"

/* Whose figures are believed, and which leaf a node is on: both before parts are looked for. Pure.
 */

struct liar {
    int node;
    int told, contradicted; /* transfers that it took part in, and those of them that contradict */
};

/* Nodes whose figures contradict those of several partners, the most contradicted first. Of each
 * contradiction the figure of the end that is no liar is put into the samples, of two such ends the
 * lower one. *liars is malloc'd. Returns how many, or -1 when memory is out. O(samples x liars). */
long diagnose_believe(const struct diagnose_network *network, struct diagnose_sample *samples,
                      size_t count, struct liar **liars);

struct misplaced {
    int node, leaf;     /* the one that it is on */
    double probability; /* that it is not where the network says */
};

/* Nodes that meet those of their leaf as if these were of others, and those of another leaf as if
 * it were theirs: seen where samples within leaves and across them differ. Samples of a pair run
 * come one after the other. *misplaced is malloc'd. Returns how many, or -1 when memory is out.
 * O(samples + nodes x leaves). */
long diagnose_places(const struct diagnose_network *network, const struct diagnose_sample *samples,
                     size_t count, struct misplaced **misplaced);

#endif
