/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/refusals.h"

#include <stdlib.h>
#include <string.h>

#include "validate/policy/cap.h"
#include "validate/policy/reason.h"
#include "validate/slurm/extra.h"

bool refusals_counts_node(const struct cluster_node *node)
{
    bool is_away = node->is_drained || node->is_down || node->is_invalid,
         has_prolog_failed = cap_counts_node(node) && !cap_is_drained_by_muster(node);

    return !is_away || has_prolog_failed || reason_is_refusal(node->reason);
}

bool refusals_has_same_cause(const struct cluster_node *node, const char *cause)
{
    char *its = refusals_counts_node(node) ? extra_read_note(node->extra, EXTRA_GATE) : NULL;
    bool is_same = its && strcmp(its, cause) == 0;

    free(its);
    return is_same;
}

void refusals_count(const struct cluster *cluster, const char *node, const char *cause,
                    struct refusals *refusals)
{
    *refusals = (struct refusals){0};
    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *other = &cluster->nodes[i];

        if (strcmp(other->name, node) == 0) {
            refusals->counts = refusals_counts_node(other);
            continue;
        }
        if (refusals_has_same_cause(other, cause))
            refusals->same_cause++;
        else if (cap_counts_node(other))
            refusals->drained++;
    }
}

bool refusals_allow(const struct refusals *refusals, size_t limit, size_t cap)
{
    return refusals->counts && refusals->same_cause < limit &&
           refusals->same_cause + refusals->drained < cap;
}
