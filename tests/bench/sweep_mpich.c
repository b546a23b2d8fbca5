/* SPDX-License-Identifier: Apache-2.0 */

/* sweep_mpich KIND,... BYTES,...: times the collectives of MPICH and prints lines as sweep.c does.
 * tests/bench/collectives builds it with MPICH. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/mpi_calls.h"

struct call {
    int kind, count;
    void *in, *out;
};

static void run(void *context)
{
    const struct call *call = context;

    mpi_call(call->kind, MPI_COMM_WORLD, call->in, call->out, call->count);
}

/* Times as sweep.c does: two loops to warm up, then all rounds. */
static void sweep_size(struct call *call, const char *kind, size_t bytes)
{
    double us[MPI_CALL_ROUNDS];
    int ranks, rank, calls = 1;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    call->count =
        (int)(bytes / sizeof(float) / (mpi_call_has_blocks(call->kind) ? (size_t)ranks : 1));
    call->count += call->count == 0;
    mpi_call_time_us(run, call, calls, calls);
    calls = mpi_call_loop(mpi_call_time_us(run, call, calls, calls));
    for (int round = 0; round < MPI_CALL_ROUNDS; round++)
        us[round] = mpi_call_time_us(run, call, calls, calls);
    if (rank == 0)
        mpi_call_print(kind, bytes, "mpich", us);
}

int main(int argc, char **argv)
{
    struct call call = {0};
    size_t most = 8, bytes;
    char *rest;
    int ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3) {
        fprintf(stderr, "usage: sweep_mpich KIND,... BYTES,...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (const char *size = argv[2]; size != NULL;) {
        size = mpi_call_next_size(size, &bytes);
        most = bytes > most ? bytes : most;
    }
    most = (most + (size_t)ranks * sizeof(float) + 63) / 64 * 64;
    call.in = mpi_call_numbers(most);
    call.out = mpi_call_numbers(most);
    mpi_call_settle();
    for (const char *kind = strtok_r(argv[1], ",", &rest); kind != NULL;
         kind = strtok_r(NULL, ",", &rest)) {
        call.kind = mpi_call_find(kind);
        if (call.kind < 0) {
            fprintf(stderr, "sweep_mpich: found \"%s\", expected a collective\n", kind);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        for (const char *size = argv[2]; size != NULL;) {
            size = mpi_call_next_size(size, &bytes);
            sweep_size(&call, kind, bytes);
        }
    }
    free(call.in);
    free(call.out);
    MPI_Finalize();
    return 0;
}
