/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/collectives/speed.h"

#include <stdlib.h>

#include "lib/base/statistics.h"
#include "validate/harness/sleeping_wait.h"

enum { ITERATIONS = 100, LEAST_ITERATIONS = 3 };

static const size_t sizes_bytes[] = {64 << 10, 1 << 20};

static void report(const struct program *program, size_t bytes, const double *times, int count)
{
    struct record record;
    double median = statistics_median(times, (size_t)count), low, high;
    double factor = 2.0 * (program->size - 1) / program->size; /* of an allreduce */
    char message[120], part[32];

    statistics_interval(times, (size_t)count, &low, &high);
    record = RECORD(.test = "collectives.speed", .metric = "busbw");
    snprintf(part, sizeof part, "allreduce %zuK", bytes >> 10);
    record.part = part;
    record.value = 1e-9 * factor * (double)bytes / median;
    record.low = 1e-9 * factor * (double)bytes / high;
    record.high = 1e-9 * factor * (double)bytes / low;
    record.samples = (unsigned)count;
    record.unit = "GB/s";
    snprintf(message, sizeof message, "allreduce of %zu KiB float over %d ranks: %.2f ms",
             bytes >> 10, program->size, 1e3 * median);
    record.message = message;
    output_record(&record);
}

/* The time of one iteration on this rank. */
static double allreduce_once(const float *out, float *in, size_t bytes)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    MPI_Allreduce(out, in, (int)(bytes / sizeof *out), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Wtime() - start;
}

static void measure(struct program *program, size_t bytes, double seconds)
{
    float *out = malloc(bytes), *in = malloc(bytes);
    double mine[ITERATIONS], slowest[ITERATIONS], first;
    int count;

    if (!out || !in)
        watch_fault("out of memory");
    for (size_t i = 0; i < bytes / sizeof *out; i++) /* pages that were never written are all one */
        out[i] = (float)(i % 1024);
    program_phase(program, "speed of allreduce, %zu KiB", bytes >> 10);
    sleeping_barrier(MPI_COMM_WORLD);
    watch_waits_for(-1);
    if (bytes == sizes_bytes[0])
        allreduce_once(out, in, bytes); /* connects */
    first = allreduce_once(out, in, bytes);
    count = (int)(seconds / (first > 1e-6 ? first : 1e-6));
    count = count < LEAST_ITERATIONS ? LEAST_ITERATIONS : count > ITERATIONS ? ITERATIONS : count;
    sleeping_bcast(&count, sizeof count, 0, MPI_COMM_WORLD);
    watch_waits_for(-1);
    for (int i = 0; i < count; i++) {
        mine[i] = allreduce_once(out, in, bytes);
        watch_step();
    }
    sleeping_reduce(mine, slowest, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (program->rank == 0)
        report(program, bytes, slowest, count);
    free(out);
    free(in);
}

void speed_measure(struct program *program, double seconds)
{
    for (size_t i = 0; i < sizeof sizes_bytes / sizeof *sizes_bytes && program->size > 1; i++)
        measure(program, sizes_bytes[i], seconds);
}
