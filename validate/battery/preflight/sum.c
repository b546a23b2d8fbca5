/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/preflight/sum.h"
#include "validate/harness/sleeping_wait.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 8191 }; /* odd, and no power of two: uneven segments */

/* Returns what the rank contributes at an index: no two ranks and few indices have the same. */
static int64_t part_of(int rank, int index)
{
    return (int64_t)(rank + 1) * (index % 1009 + 1) + rank % 7;
}

/* The sum of part_of() over all ranks. */
static int64_t sum_of(int size, int index)
{
    int64_t ranks = (int64_t)size * (size + 1) / 2, whole = size / 7, rest = size % 7;

    return ranks * (index % 1009 + 1) + whole * 21 + rest * (rest - 1) / 2;
}

static void report(const struct program *program, int bad_ranks, double seconds)
{
    struct record record = RECORD(.test = "collectives.correct", .metric = "mismatches",
                                  .part = "allreduce", .value = bad_ranks, .unit = "count",
                                  .verdict = bad_ranks > 0 ? VERDICT_FAIL : VERDICT_PASS);

    if (bad_ranks > 0)
        output_report(record,
                      "allreduce over %d ranks: %d of them have wrong sums; find the rank with "
                      "muster-collectives",
                      program->size, bad_ranks);
    else
        output_report(record, "allreduce of %d integers over %d ranks: exact, %.2f ms", COUNT,
                      program->size, 1e3 * seconds);
}

void sum_check(struct program *program)
{
    int64_t *out = watch_allocate(COUNT, sizeof *out), *in = watch_allocate(COUNT, sizeof *in);
    int is_bad = 0, bad_ranks = 0;
    double start;

    program_phase(program, "allreduce");
    for (int i = 0; i < COUNT; i++)
        out[i] = part_of(program->rank, i) + (program_injects_lie(program) && i == COUNT / 2);
    memset(in, 0, COUNT * sizeof *in); /* otherwise page faults would be timed */
    sleeping_barrier(MPI_COMM_WORLD);
    watch_waits_for(-1);
    start = MPI_Wtime();
    MPI_Allreduce(out, in, COUNT, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    start = MPI_Wtime() - start;
    for (int i = 0; i < COUNT; i++)
        is_bad |= in[i] != sum_of(program->size, i);
    sleeping_reduce(&is_bad, &bad_ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (program->rank == 0)
        report(program, bad_ranks, start);
    free(out);
    free(in);
}
