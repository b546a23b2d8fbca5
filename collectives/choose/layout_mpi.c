/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/layout_mpi.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectives/collective.h"

enum { NAME = 128 };

struct rank_location {
    char node[NAME]; /* its lowest rank, as text */
    char leaf[NAME];
};

static int find_location(MPI_Comm comm, int rank, struct rank_location *location)
{
    int leader = rank, code;
    MPI_Comm node;

    code = collective_split(comm, true, &node);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Bcast(&leader, 1, MPI_INT, 0, node);
    PMPI_Comm_free(&node);
    snprintf(location->node, sizeof location->node, "%d", leader);
    layout_leaf_name(getenv("SLURM_TOPOLOGY_ADDR"), getenv("SLURM_TOPOLOGY_ADDR_PATTERN"),
                     location->leaf, sizeof location->leaf);
    return code;
}

struct layout *layout_find(MPI_Comm comm, struct error *err)
{
    struct layout *layout = NULL;
    struct rank_location own = {{0}}, *all;
    int rank, ranks, code, lacks;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    all = calloc((size_t)ranks, sizeof *all);
    code = find_location(comm, rank, &own);
    /* what one lacks is known to all, so that none waits for it */
    lacks = all == NULL || code != MPI_SUCCESS;
    PMPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, comm);
    if (!lacks)
        code = PMPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, comm);
    if (!lacks && code == MPI_SUCCESS)
        layout = layout_make(ranks, all[0].node, all[0].leaf, sizeof *all);
    free(all);
    if (layout == NULL)
        error_set(err,
                  code == MPI_SUCCESS ? "out of memory" : "MPI does not report where ranks run");
    return layout;
}
