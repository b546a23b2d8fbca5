/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_MISPLACED_H
#define MUSTER_LOCALIZATION_MISPLACED_H

#include "validate/diagnose/observations.h"

/* Finds nodes that are not on the leaf that the network has them on, before faulty parts are
 * searched for. Pure. */

struct misplaced {
    int node, leaf;     /* the leaf that it is on */
    double probability; /* that it is not on the leaf that the network has it on */
    bool is_certain;    /* its samples with its stated leaf show it too; else leaf may be wrong */
};

/* Finds nodes whose samples with their stated leaf are like those across leaves, and whose samples
 * with another leaf are like those inside one. Needs samples that differ inside leaves and across.
 * Samples of a pair run are adjacent. *misplaced is malloc'd, or NULL. Returns the number of nodes,
 * or -1 if memory is out. O(samples + nodes x leaves). */
long misplaced_find(const struct diagnose_network *network, const struct diagnose_sample *samples,
                    size_t count, struct misplaced **misplaced);

#endif
