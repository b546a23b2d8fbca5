/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/choose/measure.h"
#include "collectives/choose/tuned.h"
#include "lib/base/statistics.h"
#include "validate/battery/collectives/amount.h"
#include "validate/battery/collectives/ours.h"
#include "validate/battery/collectives/speed.h"
#include "validate/harness/sleeping_wait.h"

static const size_t sizes_bytes[] = {1 << 10, 64 << 10, 1 << 20, 16 << 20};

/* What is measured. */
struct sweep {
    struct program *program;
    const struct comm *comm;
    enum collective_kind kind;
    const struct algorithm *algorithm; /* NULL: MPI's own */
    size_t bytes;                      /* one of sizes_bytes, after which the figure is named */
    struct amount amount;
    float *in, *out;
    double seconds;

    enum wire_format wire;     /* of ours */
    struct chooser *chooser;   /* chooses the wire; NULL: it is given */
    struct wire_choice choice; /* what it chose for the current algorithm */
};

void ours_run_mpi(const struct comm *comm, enum collective_kind kind, const void *in, void *out,
                  int count, MPI_Datatype type, MPI_Op op, int root)
{
    switch (kind) {
    case COLLECTIVE_ALLREDUCE:
        MPI_Allreduce(in, out, count, type, op, comm->mpi);
        break;
    case COLLECTIVE_REDUCE:
        MPI_Reduce(in, out, count, type, op, root, comm->mpi);
        break;
    case COLLECTIVE_BROADCAST:
        MPI_Bcast(out, count, type, root, comm->mpi);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        MPI_Reduce_scatter_block(in, out, count, type, op, comm->mpi);
        break;
    case COLLECTIVE_ALL_GATHER:
        MPI_Allgather(in, count, type, out, count, type, comm->mpi);
        break;
    default:
        MPI_Alltoall(in, count, type, out, count, type, comm->mpi);
    }
}

static struct collective_call call_of(const struct sweep *sweep)
{
    return (struct collective_call){
        .kind = sweep->kind,
        .type = ELEMENT_FP32,
        .in = sweep->in,
        .out = sweep->out,
        .count = sweep->amount.block,
        .algorithm = sweep->algorithm,
        .wire = sweep->wire,
    };
}

/* The time of one iteration on this rank. */
static double run_once(const void *context)
{
    const struct sweep *sweep = context;
    struct collective_call call = call_of(sweep);
    struct error err;
    double start;

    MPI_Barrier(sweep->comm->mpi);
    start = MPI_Wtime();
    if (!sweep->algorithm)
        ours_run_mpi(sweep->comm, sweep->kind, sweep->in, sweep->out, (int)sweep->amount.block,
                     MPI_FLOAT, MPI_SUM, 0);
    else if (collective_run(sweep->comm->ours, &call, &err) < 0)
        watch_fault("%s", err.text);
    return MPI_Wtime() - start;
}

/* Writes the prediction by which the wire was chosen, if it was. */
static void explain(const struct sweep *sweep, char *text, size_t size)
{
    const struct wire_choice *choice = &sweep->choice;

    *text = '\0';
    if (!sweep->chooser || !sweep->algorithm)
        return;
    if (choice->lossless_us < 0)
        snprintf(text, size, "; uncompressed, because it cannot be compressed");
    else
        snprintf(text, size, "; %s, predicted %.3f ms uncompressed, %.3f ms compressed",
                 wire_name(choice->wire), choice->as_is_us / 1e3, choice->lossless_us / 1e3);
}

static void report(const struct sweep *sweep, const double *times, int count)
{
    const char *by = sweep->algorithm ? sweep->algorithm->name : "MPI";
    double factor = collective_kind_factor(sweep->kind, sweep->comm->size);
    double median = statistics_median(times, (size_t)count);
    double bytes = (double)sweep->amount.bytes;
    bool is_as_is = !sweep->algorithm || sweep->wire == WIRE_AS_IS;
    char part[80], why[120];

    explain(sweep, why, sizeof why);
    snprintf(part, sizeof part, "%s %zuK by %s%s%s", collective_kind_name(sweep->kind),
             sweep->bytes >> 10, by, is_as_is ? "" : ", ", is_as_is ? "" : wire_name(sweep->wire));
    output_report(speed_record(part, factor * bytes, times, count),
                  "%s of %.6g KiB float over %d ranks by %s: %.3f ms, algbw %.3f GB/s%s",
                  collective_kind_name(sweep->kind), bytes / 1024, sweep->comm->size, by,
                  1e3 * median, 1e-9 * bytes / median, why);
}

static void measure(const struct sweep *sweep)
{
    double times[SPEED_ITERATIONS];
    int count = speed_time(sweep->comm->mpi, sweep->seconds, run_once, sweep, times);

    if (sweep->program->rank == 0)
        report(sweep, times, count);
}

/* Whether there is time for one more, as rank 0 decides. */
static bool has_time(const struct sweep *sweep)
{
    int go = !watch_time_is_up(1);

    sleeping_bcast(&go, sizeof go, 0, sweep->comm->mpi);
    return go;
}

/* Sets the wire of the algorithm. Returns false if it does not support this on the wanted wire. */
static bool find_wire(struct sweep *sweep, enum wire_format wanted)
{
    struct collective_call call;
    struct plan_shape shape;
    size_t segment_bytes;

    sweep->wire = sweep->chooser ? WIRE_AS_IS : wanted;
    call = call_of(sweep);
    if (!collective_algorithm(sweep->comm->ours, &call, &segment_bytes, NULL))
        return false;
    if (!sweep->chooser)
        return true;
    shape = (struct plan_shape){.kind = sweep->kind,
                                .element_bytes = sizeof(float),
                                .ranks = sweep->comm->size,
                                .count = call.count,
                                .topology = collective_topology(sweep->comm->ours)};
    sweep->choice =
        chooser_wire(sweep->chooser, &shape, ELEMENT_FP32, sweep->algorithm, segment_bytes);
    if (isnan(sweep->choice.as_is_us))
        watch_fault("out of memory");
    sweep->wire = sweep->choice.wire;
    return true;
}

static void measure_kind(struct sweep *sweep, enum wire_format wanted)
{
    sweep->amount =
        amount_of(sweep->bytes, collective_kind_has_blocks(sweep->kind) ? sweep->comm->size : 1);
    program_phase(sweep->program, "speed of %s, %zu KiB", collective_kind_name(sweep->kind),
                  sweep->bytes >> 10);
    sweep->algorithm = NULL;
    measure(sweep);
    for (const struct algorithm *a = algorithms; a->name; a++) {
        if (a->kind != sweep->kind)
            continue;
        sweep->algorithm = a;
        if (find_wire(sweep, wanted) && has_time(sweep))
            measure(sweep);
    }
}

/* Fills in numbers distributed like gradients, so that lossless coding shrinks them as much. */
static void fill(float *values, size_t count)
{
    enum { SOME = 1 << 16 };

    measure_fill(values, count < SOME ? count : SOME);
    for (size_t i = SOME; i < count; i++)
        values[i] = values[i - SOME];
}

static void print_line(const char *line)
{
    output_progress("%s", line);
}

static bool is_auto(const char *wire)
{
    return wire && strcmp(wire, "auto") == 0;
}

int ours_check_wire(const char *name, struct error *err)
{
    enum wire_format format;

    if (is_auto(name) || (wire_parse(name, &format) && wire_applies(format, ELEMENT_FP32)))
        return 0;
    return error_set(
        err, "expected as-is, auto, lossless, bf16, fp16, e4m3, e5m2 or int8, found \"%s\"", name);
}

static void measure_all(struct sweep *sweep, const char *wire, bool is_quick)
{
    size_t sizes = sizeof sizes_bytes / sizeof *sizes_bytes - (is_quick ? 2 : 0);
    size_t most = sizes_bytes[sizes - 1], blocks = amount_of(most, sweep->comm->size).bytes;
    size_t room = most > blocks ? most : blocks;
    enum wire_format wanted = WIRE_AS_IS;

    if (wire && !is_auto(wire))
        wire_parse(wire, &wanted);
    sweep->in = watch_allocate(1, room);
    sweep->out = watch_allocate(1, room);
    fill(sweep->in, room / sizeof(float));
    for (unsigned kind = 0; kind < COLLECTIVE_KINDS; kind++)
        for (size_t i = 0; i < sizes && has_time(sweep); i++) {
            sweep->kind = (enum collective_kind)kind;
            sweep->bytes = sizes_bytes[i];
            measure_kind(sweep, wanted);
        }
    free(sweep->in);
    free(sweep->out);
}

void ours_measure(struct program *program, const struct comm *world, const char *wire,
                  double seconds, bool is_quick)
{
    struct sweep sweep = {.program = program, .comm = world, .seconds = seconds};
    struct tuned_options options = {.keeps_order = true, .report = print_line};
    struct tuned_comm tuned_comm = {0};
    struct tuned *tuned = NULL;
    struct error err;

    if (program->size == 1)
        return;
    if (is_auto(wire)) {
        program_phase(program, "figures of this machine");
        watch_waits_for(-1);
        if (tuned_create(world->mpi, &options, &tuned, &err) < 0 ||
            tuned_comm_create(tuned, world->mpi, &tuned_comm, &err) < 0)
            watch_fault("%s", err.text);
        watch_works();
        sweep.chooser = tuned_comm.chooser;
    }
    measure_all(&sweep, wire, is_quick);
    tuned_comm_destroy(&tuned_comm);
    tuned_destroy(tuned);
}
