/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/operations.h"

static int resume(const char *nodes, const char *text, struct error *err)
{
    (void)text;
    return cluster_resume(nodes, err);
}

const struct cluster_operations operations_slurm = {
    .load_nodes = cluster_load_nodes,
    .drain = cluster_drain,
    .resume = resume,
    .set_comment = cluster_set_comment,
    .set_extra = cluster_set_extra,
    .reserve = cluster_reserve,
    .unreserve = cluster_unreserve,
    .reservation = cluster_reservation,
};
