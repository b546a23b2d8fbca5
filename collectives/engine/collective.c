/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/engine/parts.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Finds the node of each rank. Nodes are numbered in the order of their lowest ranks. Returns an
 * MPI error code. */
static int find_nodes(struct collective *collective)
{
    int *nodes = collective->node_of_rank, leader = collective->rank, code;
    MPI_Comm node;

    code = PMPI_Comm_split_type(collective->comm, MPI_COMM_TYPE_SHARED, collective->rank,
                                MPI_INFO_NULL, &node);
    if (code == MPI_SUCCESS) {
        code = PMPI_Bcast(&leader, 1, MPI_INT, 0, node);
        PMPI_Comm_free(&node);
    }
    if (code == MPI_SUCCESS)
        code = PMPI_Allgather(&leader, 1, MPI_INT, nodes, 1, MPI_INT, collective->comm);
    /* in place, as no leader comes after its ranks */
    for (int r = 0; r < collective->ranks && code == MPI_SUCCESS; r++)
        nodes[r] = nodes[r] == r ? collective->topology.nodes++ : nodes[nodes[r]];
    return code;
}

/* Returns the number of processors that the ranks of a node may run on, all together; if that is
 * not known, the size of a CPU set. */
static int processors(MPI_Comm node)
{
    cpu_set_t own, all;

    if (sched_getaffinity(0, sizeof own, &own) < 0)
        memset(&own, 0xff, sizeof own);
    if (PMPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, node) != MPI_SUCCESS)
        memset(&all, 0xff, sizeof all);
    return CPU_COUNT(&all);
}

static int copy_ring(struct collective *collective, const int *ring, struct error *err)
{
    int *found = collective->ring; /* how often each rank is in the ring */

    for (int i = 0; i < collective->ranks; i++)
        if (ring[i] >= 0 && ring[i] < collective->ranks)
            found[ring[i]]++;
    for (int i = 0; i < collective->ranks; i++)
        if (found[i] != 1)
            return error_set(err, "the ring order contains rank %d %d times", i, found[i]);
    memcpy(collective->ring, ring, (size_t)collective->ranks * sizeof *ring);
    collective->topology.ring = collective->ring;
    return 0;
}

int collective_agree(MPI_Comm comm, int status, struct error *err)
{
    int worst = status;

    if (PMPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        return error_set(err, "MPI_Allreduce failed");
    if (worst < 0 && status == 0)
        error_set(err, "another rank could not set up its collectives");
    return worst;
}

int collective_split(MPI_Comm comm, bool is_of_node, MPI_Comm *made)
{
    MPI_Errhandler handler;
    int rank, code;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_get_errhandler(comm, &handler);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    code = is_of_node ? PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, made)
                      : PMPI_Comm_split(comm, 0, rank, made);
    PMPI_Comm_set_errhandler(comm, handler);
    PMPI_Errhandler_free(&handler);
    return code;
}

int collective_create(MPI_Comm comm, const int *ring, struct collective **out, struct error *err)
{
    struct collective *collective;
    int status, ranks, provided = MPI_THREAD_SINGLE;
    MPI_Comm own;

    PMPI_Comm_size(comm, &ranks);
    collective = calloc(1, sizeof *collective + 2 * (size_t)ranks * sizeof(int));
    /* not MPI_Comm_dup(), which calls the program's functions to copy its attributes */
    if (collective_split(comm, false, &own) != MPI_SUCCESS) {
        free(collective);
        return error_set(err, "MPI_Comm_split failed");
    }
    PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    status = collective ? 0 : error_set(err, "out of memory for collectives");
    if (collective_agree(own, status, err) < 0 || !collective) {
        PMPI_Comm_free(&own);
        free(collective);
        return -1;
    }
    PMPI_Query_thread(&provided);
    collective->may_share = provided == MPI_THREAD_MULTIPLE;
    collective->comm = own;
    collective->ranks = ranks;
    PMPI_Comm_rank(own, &collective->rank);
    collective->node_of_rank = (int *)(collective + 1);
    collective->ring = collective->node_of_rank + ranks;
    collective->topology.node_of_rank = collective->node_of_rank;
    if (find_nodes(collective) != MPI_SUCCESS)
        status = error_set(err, "cannot determine which ranks share a node");
    else if (ring)
        status = copy_ring(collective, ring, err);
    status = collective_agree(own, status, err);
    if (status == 0 && collective->topology.nodes == 1 && collective->ranks > 1) {
        int found = processors(collective->comm);

        collective->window = window_create(collective->comm);
        collective->topology.has_window = collective->window != NULL;
        collective->topology.can_pull = collective->window && window_can_pull(collective->window);
        collective->topology.processors = collective->ranks > found ? found : 0;
    }
    if (status < 0) {
        collective_destroy(collective);
        return -1;
    }
    *out = collective;
    return 0;
}

void collective_destroy(struct collective *collective)
{
    if (!collective)
        return;
    while (collective->scratch_list) {
        struct scratch *scratch = collective->scratch_list;

        collective->scratch_list = scratch->next;
        free(scratch->memory);
        free(scratch);
    }
    plan_cache_clear(&collective->cache);
    window_destroy(collective->window);
    codec_scratch_destroy(collective->codec);
    PMPI_Comm_free(&collective->comm);
    free(collective);
}

const struct plan_topology *collective_topology(const struct collective *collective)
{
    return &collective->topology;
}
