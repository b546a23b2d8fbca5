/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>

#include "lib/base/statistics.h"
#include "validate/battery/collectives/ours.h"

enum { ITERATIONS = 100, LEAST_ITERATIONS = 3 };

static const size_t sizes_bytes[] = {1 << 10, 64 << 10, 1 << 20, 16 << 20};

/* What is timed: bytes of all blocks together, as nccl-tests counts them. */
struct sweep {
    struct program *program;
    const struct team *team;
    enum collective_kind kind;
    const struct algorithm *algorithm; /* NULL: MPI's own */
    size_t bytes;
    float *in, *out;
    double seconds;
};

static void run_mpi(const struct sweep *sweep)
{
    MPI_Comm comm = sweep->team->comm;
    int all = (int)(sweep->bytes / sizeof(float)), each = all / sweep->team->size;

    switch (sweep->kind) {
    case COLLECTIVE_ALLREDUCE:
        MPI_Allreduce(sweep->in, sweep->out, all, MPI_FLOAT, MPI_SUM, comm);
        break;
    case COLLECTIVE_REDUCE:
        MPI_Reduce(sweep->in, sweep->out, all, MPI_FLOAT, MPI_SUM, 0, comm);
        break;
    case COLLECTIVE_BROADCAST:
        MPI_Bcast(sweep->out, all, MPI_FLOAT, 0, comm);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        MPI_Reduce_scatter_block(sweep->in, sweep->out, each, MPI_FLOAT, MPI_SUM, comm);
        break;
    case COLLECTIVE_ALL_GATHER:
        MPI_Allgather(sweep->in, each, MPI_FLOAT, sweep->out, each, MPI_FLOAT, comm);
        break;
    default:
        MPI_Alltoall(sweep->in, each, MPI_FLOAT, sweep->out, each, MPI_FLOAT, comm);
    }
}

static struct collective_call call_of(const struct sweep *sweep)
{
    bool has_blocks = sweep->kind == COLLECTIVE_REDUCE_SCATTER ||
                      sweep->kind == COLLECTIVE_ALL_GATHER || sweep->kind == COLLECTIVE_ALL_TO_ALL;

    return (struct collective_call){
        .kind = sweep->kind,
        .type = ELEMENT_FP32,
        .in = sweep->in,
        .out = sweep->out,
        .count = sweep->bytes / sizeof(float) / (has_blocks ? (size_t)sweep->team->size : 1),
        .algorithm = sweep->algorithm ? sweep->algorithm->name : NULL,
    };
}

/* The time of one iteration on this rank. */
static double run_once(const struct sweep *sweep)
{
    struct collective_call call = call_of(sweep);
    struct error err;
    double start;

    MPI_Barrier(sweep->team->comm);
    start = MPI_Wtime();
    if (!sweep->algorithm)
        run_mpi(sweep);
    else if (collective_run(sweep->team->ours, &call, &err) < 0)
        watch_fault("%s", err.text);
    return MPI_Wtime() - start;
}

static void report(const struct sweep *sweep, const double *times, int count)
{
    struct record record = RECORD_INIT;
    const char *by = sweep->algorithm ? sweep->algorithm->name : "MPI";
    double factor = collective_kind_factor(sweep->kind, sweep->team->size);
    double median = statistics_median(times, (size_t)count), low, high;
    char part[80], message[200];

    statistics_interval(times, (size_t)count, &low, &high);
    snprintf(part, sizeof part, "%s %zuK by %s", collective_kind_name(sweep->kind),
             sweep->bytes >> 10, by);
    record.test = "collectives.speed";
    record.metric = "busbw";
    record.part = part;
    record.value = 1e-9 * factor * (double)sweep->bytes / median;
    record.low = 1e-9 * factor * (double)sweep->bytes / high;
    record.high = 1e-9 * factor * (double)sweep->bytes / low;
    record.samples = (unsigned)count;
    record.unit = "GB/s";
    snprintf(message, sizeof message,
             "%s of %zu KiB float over %d ranks by %s: %.3f ms, algbw %.3f GB/s",
             collective_kind_name(sweep->kind), sweep->bytes >> 10, sweep->team->size, by,
             1e3 * median, 1e-9 * (double)sweep->bytes / median);
    record.message = message;
    output_record(&record);
}

static void measure(const struct sweep *sweep)
{
    double mine[ITERATIONS], slowest[ITERATIONS], first;
    int count;

    watch_waits_for(-1);
    run_once(sweep); /* connects, plans */
    first = run_once(sweep);
    count = (int)(sweep->seconds / (first > 1e-6 ? first : 1e-6));
    count = count < LEAST_ITERATIONS ? LEAST_ITERATIONS : count > ITERATIONS ? ITERATIONS : count;
    MPI_Bcast(&count, 1, MPI_INT, 0, sweep->team->comm);
    for (int i = 0; i < count; i++) {
        mine[i] = run_once(sweep);
        watch_step();
    }
    MPI_Reduce(mine, slowest, count, MPI_DOUBLE, MPI_MAX, 0, sweep->team->comm);
    watch_works();
    if (sweep->program->rank == 0)
        report(sweep, slowest, count);
}

/* Whether there is time for one more; rank 0 says so. */
static bool goes_on(const struct sweep *sweep)
{
    int go = !watch_time_is_up(1);

    watch_waits_for(0);
    MPI_Bcast(&go, 1, MPI_INT, 0, sweep->team->comm);
    watch_works();
    return go;
}

static void measure_kind(struct sweep *sweep)
{
    program_phase(sweep->program, "speed of %s, %zu KiB", collective_kind_name(sweep->kind),
                  sweep->bytes >> 10);
    sweep->algorithm = NULL;
    measure(sweep);
    for (const struct algorithm *a = algorithms; a->name; a++) {
        struct collective_call call;

        sweep->algorithm = a;
        call = call_of(sweep);
        if (a->kind == sweep->kind && collective_algorithm(sweep->team->ours, &call, NULL, NULL) &&
            goes_on(sweep))
            measure(sweep);
    }
}

void ours_measure(struct program *program, const struct team *world, double seconds, bool is_quick)
{
    size_t sizes = sizeof sizes_bytes / sizeof *sizes_bytes - (is_quick ? 2 : 0);
    size_t room = sizes_bytes[sizes - 1];
    struct sweep sweep = {.program = program,
                          .team = world,
                          .in = calloc(1, room),
                          .out = calloc(1, room),
                          .seconds = seconds};

    if (!sweep.in || !sweep.out)
        watch_fault("out of memory");
    for (unsigned kind = 0; kind < COLLECTIVE_KINDS && program->size > 1; kind++)
        for (size_t i = 0; i < sizes && goes_on(&sweep); i++) {
            sweep.kind = (enum collective_kind)kind;
            sweep.bytes = sizes_bytes[i];
            measure_kind(&sweep);
        }
    free(sweep.in);
    free(sweep.out);
}
