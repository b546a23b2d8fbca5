/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/mpi_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALLREDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, REDUCE, ALL_TO_ALL };
enum { LOOP_US = 2000, LOOP_CALLS = 2000 };
static const double settle_s = 1;

int mpi_call_find(const char *kind)
{
    static const char *const names[MPI_CALL_KINDS] = {"allreduce", "reduce-scatter", "all-gather",
                                                      "broadcast", "reduce",         "all-to-all"};

    for (int i = 0; i < MPI_CALL_KINDS; i++)
        if (strcmp(names[i], kind) == 0)
            return i;
    return -1;
}

bool mpi_call_has_blocks(int kind)
{
    return kind == REDUCE_SCATTER || kind == ALL_GATHER || kind == ALL_TO_ALL;
}

int mpi_call(int kind, MPI_Comm comm, void *in, void *out, int count)
{
    switch (kind) {
    case ALLREDUCE:
        return MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm);
    case REDUCE_SCATTER:
        return MPI_Reduce_scatter_block(in, out, count, MPI_FLOAT, MPI_SUM, comm);
    case ALL_GATHER:
        return MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, comm);
    case BROADCAST:
        return MPI_Bcast(out, count, MPI_FLOAT, 0, comm);
    case REDUCE:
        return MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, 0, comm);
    default:
        return MPI_Alltoall(in, count, MPI_FLOAT, out, count, MPI_FLOAT, comm);
    }
}

void *mpi_call_numbers(size_t bytes)
{
    float *numbers = aligned_alloc(64, bytes);
    unsigned state = 1;

    if (numbers == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < bytes / sizeof *numbers; i++) {
        state = state * 1664525 + 1013904223; /* Numerical Recipes, 7.1 */
        numbers[i] = (float)(int)state / 2147483648.0f;
    }
    return numbers;
}

void mpi_call_settle(void)
{
    double begin = MPI_Wtime();

    while (MPI_Wtime() - begin < settle_s) {
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

double mpi_call_time_us(mpi_call_fn *run, void *context, int before, int calls)
{
    double time_us, longest_us;

    for (int i = 0; i < before; i++)
        run(context);
    MPI_Barrier(MPI_COMM_WORLD);
    time_us = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        run(context);
    time_us = (MPI_Wtime() - time_us) * 1e6 / calls;
    MPI_Allreduce(&time_us, &longest_us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest_us;
}

int mpi_call_loop(double once_us)
{
    if (once_us >= LOOP_US)
        return 1;
    return once_us * LOOP_CALLS > LOOP_US ? (int)(LOOP_US / once_us) : LOOP_CALLS;
}

const char *mpi_call_next_size(const char *at, size_t *value)
{
    char *end;

    *value = strtoull(at, &end, 10);
    return *end == ',' ? end + 1 : NULL;
}

void mpi_call_print(const char *kind, size_t bytes, const char *name,
                    const double us[MPI_CALL_ROUNDS])
{
    printf("%s %zu %s", kind, bytes, name);
    for (int i = 0; i < MPI_CALL_ROUNDS; i++)
        printf(" %.3f", us[i]);
    printf("\n");
    fflush(stdout);
}
