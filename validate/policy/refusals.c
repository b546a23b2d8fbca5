/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/refusals.h"

#include <stdlib.h>
#include <string.h>

#include "validate/policy/cap.h"
#include "validate/slurm/extra.h"

void refusals_count(const struct cluster *cluster, const char *node, const char *cause,
                    struct refusals *refusals)
{
    *refusals = (struct refusals){0};
    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *other = &cluster->nodes[i];
        char *its = strcmp(other->name, node) == 0 ? NULL : extra_gate(other->extra);

        if (its && strcmp(its, cause) == 0)
            refusals->alike++;
        else if (strcmp(other->name, node) != 0 && cap_counts(other))
            refusals->taken++;
        free(its);
    }
}

bool refusals_allow(const struct refusals *refusals, size_t limit, size_t cap)
{
    return refusals->alike < limit && refusals->alike + refusals->taken < cap;
}
