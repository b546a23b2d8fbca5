/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/refusals.h"

#include <stdlib.h>
#include <string.h>

#include "validate/policy/cap.h"
#include "validate/policy/reason.h"
#include "validate/slurm/extra.h"

bool refusals_is_in(const struct cluster_node *node)
{
    bool is_away = node->is_drained || node->is_down || node->is_invalid,
         has_prolog_failed = cap_counts(node) && !cap_is_taken(node);

    return !is_away || has_prolog_failed || reason_is_refusal(node->reason);
}

bool refusals_is_alike(const struct cluster_node *node, const char *cause)
{
    char *its = refusals_is_in(node) ? extra_read_note(node->extra, EXTRA_GATE) : NULL;
    bool is_alike = its && strcmp(its, cause) == 0;

    free(its);
    return is_alike;
}

void refusals_count(const struct cluster *cluster, const char *node, const char *cause,
                    struct refusals *refusals)
{
    *refusals = (struct refusals){0};
    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *other = &cluster->nodes[i];

        if (strcmp(other->name, node) == 0) {
            refusals->is_in = refusals_is_in(other);
            continue;
        }
        if (refusals_is_alike(other, cause))
            refusals->alike++;
        else if (cap_counts(other))
            refusals->taken++;
    }
}

bool refusals_allow(const struct refusals *refusals, size_t limit, size_t cap)
{
    return refusals->is_in && refusals->alike < limit && refusals->alike + refusals->taken < cap;
}
