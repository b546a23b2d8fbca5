/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the shortest time of a broadcast along a chain of all ranks, in segments, divided by the
 * shortest time of a message of the same size from rank 0 to rank 1. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/algorithms/algorithm.h"
#include "collectives/collective.h"

enum { BYTES = 1 << 20, SEGMENT = 64 << 10, CALLS = 21 };

struct transfer {
    struct collective *collective; /* NULL: a message */
    int rank;
    char *buffer;
};

static void run(const struct transfer *transfer)
{
    struct collective_call call = {.kind = COLLECTIVE_BROADCAST,
                                   .type = ELEMENT_UINT8,
                                   .in = transfer->buffer,
                                   .out = transfer->buffer,
                                   .count = BYTES,
                                   .algorithm = algorithm_find(COLLECTIVE_BROADCAST, "chain"),
                                   .segment_bytes = SEGMENT};
    struct error err;

    if (transfer->collective == NULL && transfer->rank == 0)
        MPI_Send(transfer->buffer, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else if (transfer->collective == NULL && transfer->rank == 1)
        MPI_Recv(transfer->buffer, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (transfer->collective != NULL && collective_run(transfer->collective, &call, &err) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The time of the shortest call, each by its slowest rank. The shortest, because other load only
 * makes calls longer. */
static double time_s(const struct transfer *transfer)
{
    double shortest = INFINITY;

    for (int i = 0; i < CALLS; i++) {
        double time, longest;

        MPI_Barrier(MPI_COMM_WORLD);
        time = MPI_Wtime();
        run(transfer);
        time = MPI_Wtime() - time;
        MPI_Allreduce(&time, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        shortest = fmin(shortest, longest);
    }
    return shortest;
}

int main(int argc, char **argv)
{
    struct transfer message = {.buffer = calloc(1, BYTES)}, chain;
    struct error err;
    double ratio;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &message.rank);
    chain = message;
    if (message.buffer == NULL ||
        collective_create(MPI_COMM_WORLD, NULL, &chain.collective, &err) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    ratio = time_s(&chain) / time_s(&message);
    if (message.rank == 0)
        printf("%.2f\n", ratio);
    collective_destroy(chain.collective);
    free(message.buffer);
    MPI_Finalize();
    return 0;
}
