/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/choose/chooser.h"
#include "collectives/collective.h"
#include "collectives/precision/precision.h"

/* In an order in which a budget that ends early leaves none far from a size that was tried. */
static const size_t trial_sizes[] = {65536, 64,     1 << 20, 4 << 20, 16 << 20, 1024,
                                     8192,  262144, 512,     256,     4096};

/* Beyond the caches: of this size only what was nearly the best of all at smaller ones. */
static const size_t greatest_size = 16 << 20;
static const double nearly_best = 2;

/* Once all sizes were tried: what is so near to the best is tried again in longer batches, for as
 * long as there is time. The first calls of a batch are slower than those that follow. */
static const double too_near = 1.4;

/* What is predicted to take no longer is tried even where something else is predicted to be much
 * faster: a prediction knows messages, but not what two processors cost each other that share
 * memory. */
static const double cheap_us = 300;

/* What is smaller is not tried coded. */
static const size_t least_coded = 65536;

/* Than the best: not tried when predicted, given up when tried twice. */
static const double worse = 4, much_slower = 1.7;

enum {
    TRIAL_SIZES = sizeof trial_sizes / sizeof *trial_sizes,
    TRIAL_ROUNDS = 3,
    NEAR_ROUNDS = 5,
    SURE_ROUNDS = 2, /* before something is given up */
    TRIAL_US = 500,  /* what a batch of calls should take */
    NEAR_US = 2000,
    BATCH_CALLS = 10000,
};

struct trials {
    MPI_Comm comm;
    int rank, ranks;
    const struct measure_trials *options;
    struct collective *collective;
    double deadline;
    size_t block;  /* elements, of one rank's block where there are such, else all */
    bool is_final; /* all sizes were tried */
    bool may_code; /* where that can pay */
    enum collective_kind kind;
    enum wire_format wire;
    enum element_type type;
    const struct choice *choice;
    char *in, *out;
};

static bool has_blocks(enum collective_kind kind)
{
    return kind == COLLECTIVE_REDUCE_SCATTER || kind == COLLECTIVE_ALL_GATHER ||
           kind == COLLECTIVE_ALL_TO_ALL;
}

static int call_mpi(const struct trials *t)
{
    int count = (int)t->block;

    switch (t->kind) {
    case COLLECTIVE_ALLREDUCE:
        return PMPI_Allreduce(t->in, t->out, count, MPI_FLOAT, MPI_SUM, t->comm);
    case COLLECTIVE_REDUCE_SCATTER:
        return PMPI_Reduce_scatter_block(t->in, t->out, count, MPI_FLOAT, MPI_SUM, t->comm);
    case COLLECTIVE_ALL_GATHER:
        return PMPI_Allgather(t->in, count, MPI_FLOAT, t->out, count, MPI_FLOAT, t->comm);
    case COLLECTIVE_BROADCAST:
        return PMPI_Bcast(t->out, count, MPI_FLOAT, 0, t->comm);
    case COLLECTIVE_REDUCE:
        return PMPI_Reduce(t->in, t->out, count, MPI_FLOAT, MPI_SUM, 0, t->comm);
    default:
        return PMPI_Alltoall(t->in, count, MPI_FLOAT, t->out, count, MPI_FLOAT, t->comm);
    }
}

static int run_once(const struct trials *t, struct error *err)
{
    struct collective_call call = {
        .kind = t->kind,
        .type = t->type,
        .op = REDUCE_SUM,
        .in = t->in,
        .out = t->out,
        .count = t->block,
        .wire = t->wire,
    };

    if (t->choice->algorithm == NULL)
        return call_mpi(t) == MPI_SUCCESS ? 0 : error_set(err, "MPI's own collective failed");
    call.algorithm = t->choice->algorithm->name;
    call.segment_bytes = t->choice->segment_bytes;
    return collective_run(t->collective, &call, err);
}

/* Of a call in a loop without barriers, us, of the rank that takes longest. -1: a call failed, at
 * this rank or another. */
static double time_calls(const struct trials *t, int calls, struct error *err)
{
    double time[2] = {0, 0};

    PMPI_Barrier(t->comm);
    time[0] = PMPI_Wtime();
    for (int i = 0; i < calls && time[1] == 0; i++)
        time[1] = run_once(t, err) < 0;
    time[0] = (PMPI_Wtime() - time[0]) * 1e6 / calls;
    PMPI_Allreduce(MPI_IN_PLACE, time, 2, MPI_DOUBLE, MPI_MAX, t->comm);
    return time[1] == 0 ? time[0] : -1;
}

/* Rank 0 decides for all. */
static bool may_go_on(const struct trials *t)
{
    int may = t->rank == 0 && PMPI_Wtime() < t->deadline &&
              (t->options->stop == NULL || !t->options->stop());

    PMPI_Bcast(&may, 1, MPI_INT, 0, t->comm);
    return may;
}

/* What is tried at one size, in turns: a time at which the machine does something else is then
 * nobody's alone. */
struct candidate {
    const struct choice *choice;
    int calls;
    double least_us;
    bool is_out;
};

/* One call makes plans and memory, the next one tells how many a batch has. */
static int warm_up(struct trials *t, struct candidate *candidate, struct error *err)
{
    double once;

    t->choice = candidate->choice;
    if (time_calls(t, 1, err) < 0)
        return -1;
    once = time_calls(t, 1, err);
    if (once < 0)
        return -1;
    candidate->calls = (int)fmax(1, fmin(BATCH_CALLS, (t->is_final ? NEAR_US : TRIAL_US) / once));
    candidate->least_us = once;
    return 0;
}

/* A batch of each that is not out. 1: done, 0: time is up, -1: a call failed. */
static int try_round(struct trials *t, struct candidate *candidates, unsigned count,
                     struct error *err)
{
    for (unsigned i = 0; i < count; i++) {
        double time_us;

        if (candidates[i].is_out)
            continue;
        if (!may_go_on(t))
            return 0;
        t->choice = candidates[i].choice;
        time_us = time_calls(t, candidates[i].calls, err);
        if (time_us < 0)
            return -1;
        candidates[i].least_us = fmin(candidates[i].least_us, fmax(time_us, 1e-3));
    }
    return 1;
}

/* What takes least_us or longer, and much longer than the best. */
static void give_up_slow(struct candidate *candidates, unsigned count, double least_us)
{
    double best = INFINITY;

    for (unsigned i = 0; i < count; i++)
        best = fmin(best, candidates[i].least_us);
    for (unsigned i = 0; i < count; i++)
        candidates[i].is_out = candidates[i].least_us > fmax(least_us, much_slower * best);
}

/* All of them, as long as there is time. Returns how many have been, -1: a call failed. */
static int try_candidates(struct trials *t, struct candidate *candidates, unsigned count,
                          struct error *err)
{
    unsigned tried = 0;
    int status = 1;

    while (tried < count && may_go_on(t)) {
        if (warm_up(t, &candidates[tried], err) < 0)
            return -1;
        tried++;
    }
    /* of calls that take as long as a batch, one is enough to tell */
    give_up_slow(candidates, tried, TRIAL_US);
    for (int round = 0; round < (t->is_final ? NEAR_ROUNDS : TRIAL_ROUNDS) && status == 1;
         round++) {
        status = try_round(t, candidates, tried, err);
        if (round + 1 == SURE_ROUNDS)
            give_up_slow(candidates, tried, 0);
    }
    return status < 0 ? -1 : (int)tried;
}

/* Whether the choice can turn out to be the best. */
static bool is_worth_trying(const struct trials *t, const struct choice *choice,
                            const struct choice *best, size_t bytes)
{
    if (t->is_final)
        return choice->measured_us > 0 && choice->measured_us <= too_near * best->measured_us;
    if (bytes >= greatest_size)
        return choice->measured_us > 0 && choice->measured_us <= nearly_best * best->measured_us;
    return choice->algorithm == NULL || choice->predicted_us <= cheap_us ||
           choice->predicted_us <= worse * best->predicted_us;
}

/* Adds their times to the machine. */
static int keep(const struct trials *t, const struct candidate *candidates, int count, size_t bytes,
                struct machine *machine, struct error *err)
{
    for (int i = 0; i < count; i++) {
        const struct choice *choice = candidates[i].choice;
        struct machine_trial trial = {.kind = t->kind,
                                      .wire = t->wire,
                                      .segment_bytes = choice->segment_bytes,
                                      .bytes = bytes,
                                      .time_us = candidates[i].least_us};

        snprintf(trial.algorithm, sizeof trial.algorithm, "%s",
                 choice->algorithm != NULL ? choice->algorithm->name : MACHINE_MPI);
        if (machine_add_trial(machine, &trial, err) < 0)
            return -1;
    }
    return 0;
}

static int try_size(struct trials *t, struct chooser *chooser, size_t bytes,
                    struct machine *machine, struct error *err)
{
    struct plan_shape shape = {
        .kind = t->kind,
        .op = REDUCE_SUM,
        .element_bytes = element_bytes(t->type),
        .rank = t->rank,
        .ranks = t->ranks,
        .wire = t->wire,
        .topology = chooser_topology(chooser),
    };
    struct choice choices[CHOICES];
    struct candidate candidates[CHOICES];
    unsigned count, wanted = 0;
    int tried;

    t->block = bytes / element_bytes(t->type) / (has_blocks(t->kind) ? (size_t)t->ranks : 1);
    if (t->block == 0)
        return 0;
    shape.count = t->block;
    count = chooser_list(chooser, &shape, t->type, choices);
    if (t->options->with_mpi && t->wire == WIRE_AS_IS && !t->is_final && bytes < greatest_size &&
        count < CHOICES)
        choices[count++] = (struct choice){NULL, 0, -1, 0};
    for (unsigned i = 0; i < count; i++)
        if (is_worth_trying(t, &choices[i], &choices[0], bytes))
            candidates[wanted++] = (struct candidate){.choice = &choices[i]};
    if (t->is_final && wanted < 2)
        return 0;
    tried = try_candidates(t, candidates, wanted, err);
    if (tried < 0 || keep(t, candidates, tried, chooser_bytes(&shape), machine, err) < 0)
        return -1;
    return tried;
}

static int try_kinds(struct trials *t, struct chooser *chooser, size_t bytes,
                     struct machine *machine, struct error *err)
{
    int tried = 0;

    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++) {
        int more;

        t->kind = (enum collective_kind)kind;
        t->wire = WIRE_AS_IS;
        t->type = ELEMENT_FP32;
        more = try_size(t, chooser, bytes, machine, err);
        if (more >= 0 && t->may_code && bytes >= least_coded) {
            tried += more;
            t->wire = WIRE_LOSSLESS;
            t->type = ELEMENT_BF16;
            more = try_size(t, chooser, bytes, machine, err);
        }
        if (more < 0)
            return -1;
        tried += more;
    }
    return tried;
}

/* What is predicted, or what was tried already, decides what is tried. */
static struct chooser *open_chooser(const struct trials *t, const struct machine *machine,
                                    const struct layout *layout)
{
    struct chooser *chooser = chooser_create(machine, layout);

    if (chooser == NULL)
        return NULL;
    chooser_allow_window(chooser, collective_topology(t->collective));
    chooser_allow_mpi(chooser, t->options->with_mpi);
    return chooser;
}

/* Whether a message that leaves a node is faster coded. */
static bool may_code(const struct machine *machine, const struct layout *layout)
{
    enum link_class farthest = layout_farthest(layout);

    return farthest != LINK_NODE && machine_has_codec(machine, CODEC_BF16) &&
           machine_lossless_us(machine, farthest, CODEC_BF16, 1 << 20) <
               machine_link_us(machine, farthest, 1 << 20);
}

static int try_all(struct trials *t, const struct layout *layout, struct machine *machine,
                   struct error *err)
{
    struct machine untried = *machine;
    struct chooser *predicted, *measured;
    int tried = 0, more = 0;

    t->may_code = may_code(machine, layout);
    untried.trials = NULL;
    untried.trial_count = 0;
    predicted = open_chooser(t, &untried, layout);
    measured = open_chooser(t, machine, layout);
    if (predicted == NULL || measured == NULL)
        more = error_set(err, "out of memory");
    for (unsigned i = 0; i < TRIAL_SIZES && more >= 0; i++, tried += more)
        more = try_kinds(t, trial_sizes[i] >= greatest_size ? measured : predicted, trial_sizes[i],
                         machine, err);
    t->is_final = true;
    for (unsigned i = 0; i < TRIAL_SIZES && more >= 0; i++)
        more = try_kinds(t, measured, trial_sizes[i], machine, err);
    chooser_destroy(predicted);
    chooser_destroy(measured);
    return more < 0 ? -1 : tried;
}

/* With numbers of bf16 that are spread as gradients are, two of which are one of fp32, too. */
static void fill(char *start, size_t bytes)
{
    enum { SOME = 1 << 14 };
    size_t some = SOME * element_bytes(ELEMENT_BF16);
    static float values[SOME];

    measure_fill(values, SOME);
    precision_narrow(PRECISION_BF16, values, SOME, start);
    for (size_t at = some; at < bytes; at += some)
        memcpy(start + at, start, some);
}

int measure_trials(MPI_Comm comm, const struct layout *layout, const struct measure_trials *options,
                   struct machine *machine, struct error *err)
{
    enum { ROOM = 16 << 20 };
    struct trials t = {.comm = comm,
                       .options = options,
                       .in = aligned_alloc(64, ROOM),
                       .out = aligned_alloc(64, ROOM)};
    int lacks = t.in == NULL || t.out == NULL, tried = -1;

    PMPI_Comm_rank(comm, &t.rank);
    PMPI_Comm_size(comm, &t.ranks);
    t.deadline = PMPI_Wtime() + options->budget_s;
    PMPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, comm);
    if (lacks) {
        error_set(err, "out of memory");
    } else if (t.ranks == 1) {
        tried = 0;
    } else if (collective_create(comm, NULL, &t.collective, err) == 0) {
        fill(t.in, ROOM);
        memset(t.out, 0, ROOM);
        tried = try_all(&t, layout, machine, err);
        collective_destroy(t.collective);
    }
    free(t.in);
    free(t.out);
    return tried;
}
