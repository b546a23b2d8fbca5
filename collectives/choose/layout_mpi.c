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
    int rank, ranks, status;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    all = calloc((size_t)ranks, sizeof *all);
    status = all != NULL ? 0 : error_set(err, "out of memory");
    if (find_location(comm, rank, &own) != MPI_SUCCESS)
        status = error_set(err, "MPI does not report where ranks run");
    if (collective_agree(comm, status, err) == 0 && all != NULL) {
        if (PMPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, comm) !=
            MPI_SUCCESS)
            error_set(err, "MPI_Allgather failed");
        else if (!(layout = layout_make(ranks, all[0].node, all[0].leaf, sizeof *all)))
            error_set(err, "out of memory");
    }
    free(all);
    return layout;
}
