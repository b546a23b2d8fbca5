/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/speed.h"

#include <stdlib.h>

#include "lib/base/statistics.h"
#include "validate/harness/sleeping_wait.h"

enum { LEAST_ITERATIONS = 3 };

static const size_t sizes_bytes[] = {64 << 10, 1 << 20};

int speed_time(MPI_Comm comm, double seconds, double (*run)(const void *context),
               const void *context, double slowest[SPEED_ITERATIONS])
{
    double mine[SPEED_ITERATIONS], first;
    int count;

    sleeping_barrier(comm);
    watch_waits_for(-1);
    run(context); /* connects, plans */
    first = run(context);
    count = (int)(seconds / (first > 1e-6 ? first : 1e-6));
    count = count < LEAST_ITERATIONS   ? LEAST_ITERATIONS
            : count > SPEED_ITERATIONS ? SPEED_ITERATIONS
                                       : count;
    sleeping_bcast(&count, sizeof count, 0, comm);
    watch_waits_for(-1);
    for (int i = 0; i < count; i++) {
        mine[i] = run(context);
        watch_step();
    }
    sleeping_reduce(mine, slowest, count, MPI_DOUBLE, MPI_MAX, comm);
    return count;
}

struct record speed_record(const char *part, double bus_bytes, const double *times, int count)
{
    double median = statistics_median(times, (size_t)count), low, high;

    statistics_interval(times, (size_t)count, &low, &high);
    return RECORD(.test = "collectives.speed", .metric = "busbw", .part = part,
                  .value = 1e-9 * bus_bytes / median, .low = 1e-9 * bus_bytes / high,
                  .high = 1e-9 * bus_bytes / low, .samples = (unsigned)count, .unit = "GB/s");
}

struct allreduce {
    float *out, *in;
    size_t bytes;
};

/* The time of one iteration on this rank. */
static double allreduce_once(const void *context)
{
    const struct allreduce *allreduce = context;
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    MPI_Allreduce(allreduce->out, allreduce->in, (int)(allreduce->bytes / sizeof *allreduce->out),
                  MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Wtime() - start;
}

static void measure(struct program *program, size_t bytes, double seconds)
{
    struct allreduce allreduce = {watch_allocate(1, bytes), watch_allocate(1, bytes), bytes};
    double times[SPEED_ITERATIONS];
    char part[32];
    int count;

    for (size_t i = 0; i < bytes / sizeof *allreduce.out; i++)
        allreduce.out[i] = (float)(i % 1024); /* unwritten pages are all the same one */
    program_phase(program, "speed of allreduce, %zu KiB", bytes >> 10);
    count = speed_time(MPI_COMM_WORLD, seconds, allreduce_once, &allreduce, times);
    snprintf(part, sizeof part, "allreduce %zuK", bytes >> 10);
    if (program->rank == 0)
        output_report(speed_record(part, 2.0 * (program->size - 1) / program->size * (double)bytes,
                                   times, count),
                      "allreduce of %zu KiB float over %d ranks: %.2f ms", bytes >> 10,
                      program->size, 1e3 * statistics_median(times, (size_t)count));
    free(allreduce.out);
    free(allreduce.in);
}

void speed_measure(struct program *program, double seconds)
{
    for (size_t i = 0; i < sizeof sizes_bytes / sizeof *sizes_bytes && program->size > 1; i++)
        measure(program, sizes_bytes[i], seconds);
}
