/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_PLACES_H
#define MUSTER_LOCALIZATION_PLACES_H

#include "validate/diagnose/observations.h"

/* Which leaf a node is on, before parts are looked for. Pure. */

struct misplaced {
    int node, leaf;     /* the one that it is on */
    double probability; /* that it is not where the network says */
    bool is_certain;    /* those of its leaf say so as well; else another leaf may be it */
};

/* Nodes that meet those of their leaf as if these were of others, and those of another leaf as if
 * it were theirs: seen where samples within leaves and across them differ. Samples of a pair run
 * come one after the other. *misplaced is malloc'd, or NULL. Returns how many, or -1 when memory is
 * out. O(samples + nodes x leaves). */
long places_find(const struct diagnose_network *network, const struct diagnose_sample *samples,
                 size_t count, struct misplaced **misplaced);

#endif
