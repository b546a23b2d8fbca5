/* SPDX-License-Identifier: Apache-2.0 */

/* preloaded BYTES,...: measures how the preloaded library changes the time of calls, for
 * tests/bench/preload. Times MPI_ and PMPI_ in turn, in loops of calls without barriers. Rank 0
 * prints a line "CALL BYTES MPI_US OURS_US RATIO": the fastest loops, and the median over the
 * rounds of MPI's time / ours. BYTES are per rank. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/mpi_calls.h"

enum { ROUNDS = 15 };

static const char *const names[] = {
    "allreduce",    "reduce",    "reduce-scatter", "reduce-scatter-block", "all-gather",
    "all-gather-v", "broadcast", "all-to-all",     "all-to-all-v"};
enum { CALLS = sizeof names / sizeof *names };

struct pair {
    int call, count; /* count: bytes, or floats if the call sums */
    bool is_ours;
    int *counts, *places;
    char *in, *out;
};

#define EITHER(name, ...) (p->is_ours ? MPI_##name(__VA_ARGS__) : PMPI_##name(__VA_ARGS__))

static void run(void *context)
{
    const struct pair *p = context;

    switch (p->call) {
    case 0:
        EITHER(Allreduce, p->in, p->out, p->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        return;
    case 1:
        EITHER(Reduce, p->in, p->out, p->count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
        return;
    case 2:
        EITHER(Reduce_scatter, p->in, p->out, p->counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        return;
    case 3:
        EITHER(Reduce_scatter_block, p->in, p->out, p->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        return;
    case 4:
        EITHER(Allgather, p->in, p->count, MPI_BYTE, p->out, p->count, MPI_BYTE, MPI_COMM_WORLD);
        return;
    case 5:
        EITHER(Allgatherv, p->in, p->count, MPI_BYTE, p->out, p->counts, p->places, MPI_BYTE,
               MPI_COMM_WORLD);
        return;
    case 6:
        EITHER(Bcast, p->out, p->count, MPI_BYTE, 0, MPI_COMM_WORLD);
        return;
    case 7:
        EITHER(Alltoall, p->in, p->count, MPI_BYTE, p->out, p->count, MPI_BYTE, MPI_COMM_WORLD);
        return;
    default:
        EITHER(Alltoallv, p->in, p->counts, p->places, MPI_BYTE, p->out, p->counts, p->places,
               MPI_BYTE, MPI_COMM_WORLD);
    }
}

static double time_us(struct pair *p, bool is_ours, int calls)
{
    p->is_ours = is_ours;
    return mpi_call_time_us(run, p, calls, calls);
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static void time_pair(struct pair *p, size_t bytes, int rank, int ranks)
{
    double us[2][ROUNDS], ratios[ROUNDS];
    int calls;

    p->count = (int)(p->call < 4 ? bytes / sizeof(float) : bytes);
    for (int i = 0; i < ranks; i++) {
        p->counts[i] = p->count;
        p->places[i] = p->count * i;
    }
    time_us(p, true, 2);
    calls = mpi_call_loop(time_us(p, false, 20));
    for (int round = 0; round < ROUNDS; round++) {
        for (int turn = 0; turn < 2; turn++)
            us[(turn + round) % 2][round] = time_us(p, (turn + round) % 2, calls);
        ratios[round] = us[0][round] / us[1][round];
    }
    qsort(us[0], ROUNDS, sizeof(double), compare);
    qsort(us[1], ROUNDS, sizeof(double), compare);
    qsort(ratios, ROUNDS, sizeof(double), compare);
    if (rank == 0)
        printf("%-20s %9zu %10.2f %10.2f %5.2f\n", names[p->call], bytes, us[0][0], us[1][0],
               ratios[ROUNDS / 2]);
}

int main(int argc, char **argv)
{
    struct pair pair = {0};
    size_t most = 8, bytes;
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2) {
        fprintf(stderr, "usage: preloaded BYTES,...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (const char *size = argv[1]; size != NULL;) {
        size = mpi_call_next_size(size, &bytes);
        most = bytes > most ? bytes : most;
    }
    most = (most * (size_t)ranks + 63) / 64 * 64;
    pair.in = mpi_call_numbers(most);
    pair.out = mpi_call_numbers(most);
    pair.counts = calloc((size_t)ranks, sizeof *pair.counts);
    pair.places = calloc((size_t)ranks, sizeof *pair.places);
    if (!pair.counts || !pair.places)
        MPI_Abort(MPI_COMM_WORLD, 1);
    mpi_call_settle();
    for (pair.call = 0; pair.call < CALLS; pair.call++)
        for (const char *size = argv[1]; size != NULL;) {
            size = mpi_call_next_size(size, &bytes);
            time_pair(&pair, bytes, rank, ranks);
        }
    free(pair.in);
    free(pair.out);
    free(pair.counts);
    free(pair.places);
    MPI_Finalize();
    return 0;
}
