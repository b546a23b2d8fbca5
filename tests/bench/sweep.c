/* SPDX-License-Identifier: Apache-2.0 */

/* Times collectives, for tests/bench/collectives. sweep KIND,... BYTES,... NAME: MPI's own under
 * this name; without NAME ours, each algorithm that applies, and "chosen", which may be MPI's own;
 * sweep KIND,... BYTES,... WIRE TYPE: ours as they are and, with WIRE+ before the name, on the
 * wire. Of each, in turns, the fastest of ROUNDS loops of calls without barriers, us a call of the
 * rank that takes longest; a line "KIND BYTES NAME US" from rank 0. fp32 or TYPE, sums, root 0;
 * numbers spread as gradients are where a wire is asked for, else zeros. */

#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/choose/measure.h"
#include "collectives/choose/tuned.h"
#include "collectives/precision/precision.h"

enum { ROUNDS = 7, LOOP_US = 3000, LOOP_CALLS = 300, CANDIDATES = 32, NAME = 64 };

struct sweep {
    struct tuned_comm comm;
    int rank, ranks;
    enum collective_kind kind;
    size_t block; /* elements: a rank's block where there are such, else all */
    enum element_type type;
    void *in, *out;
};

struct candidate {
    char name[NAME];
    const char *algorithm; /* NULL: MPI's own */
    size_t segment_bytes;
    enum wire_format wire;
    int calls;
    double least_us;
};

static bool has_blocks(enum collective_kind kind)
{
    return kind == COLLECTIVE_REDUCE_SCATTER || kind == COLLECTIVE_ALL_GATHER ||
           kind == COLLECTIVE_ALL_TO_ALL;
}

static void call_mpi(const struct sweep *s)
{
    int count = (int)s->block;

    switch (s->kind) {
    case COLLECTIVE_ALLREDUCE:
        MPI_Allreduce(s->in, s->out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        return;
    case COLLECTIVE_REDUCE_SCATTER:
        MPI_Reduce_scatter_block(s->in, s->out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        return;
    case COLLECTIVE_ALL_GATHER:
        MPI_Allgather(s->in, count, MPI_FLOAT, s->out, count, MPI_FLOAT, MPI_COMM_WORLD);
        return;
    case COLLECTIVE_BROADCAST:
        MPI_Bcast(s->out, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
        return;
    case COLLECTIVE_REDUCE:
        MPI_Reduce(s->in, s->out, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
        return;
    default:
        MPI_Alltoall(s->in, count, MPI_FLOAT, s->out, count, MPI_FLOAT, MPI_COMM_WORLD);
    }
}

static void run_once(const struct sweep *s, const struct candidate *candidate)
{
    struct collective_call call = {.kind = s->kind,
                                   .type = s->type,
                                   .op = REDUCE_SUM,
                                   .in = s->in,
                                   .out = s->out,
                                   .count = s->block,
                                   .algorithm = candidate->algorithm,
                                   .segment_bytes = candidate->segment_bytes,
                                   .wire = candidate->wire};
    struct error err;

    if (candidate->algorithm == NULL)
        call_mpi(s);
    else if (collective_run(s->comm.collective, &call, &err) < 0) {
        fprintf(stderr, "sweep: %s: %s\n", candidate->algorithm, err.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static double time_calls(const struct sweep *s, const struct candidate *candidate)
{
    double time_us;

    MPI_Barrier(MPI_COMM_WORLD);
    time_us = MPI_Wtime();
    for (int i = 0; i < candidate->calls; i++)
        run_once(s, candidate);
    time_us = (MPI_Wtime() - time_us) * 1e6 / candidate->calls;
    MPI_Allreduce(MPI_IN_PLACE, &time_us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return time_us;
}

static void time_all(const struct sweep *s, struct candidate *candidates, unsigned count,
                     size_t bytes)
{
    for (int round = -2; round < ROUNDS; round++)
        for (unsigned i = 0; i < count; i++) {
            struct candidate *c = &candidates[i];
            double time_us = time_calls(s, c);

            if (round >= 0)
                c->least_us = fmin(c->least_us, time_us);
            else if (round == -1 && time_us < LOOP_US)
                c->calls = (int)fmin(LOOP_CALLS, LOOP_US / time_us);
        }
    for (unsigned i = 0; i < count && s->rank == 0; i++)
        printf("%s %zu %s %.3f\n", collective_kind_name(s->kind), bytes, candidates[i].name,
               candidates[i].least_us);
    fflush(stdout);
}

static struct candidate candidate_of(const char *before, const char *name)
{
    struct candidate candidate = {.algorithm = name, .calls = 1, .least_us = INFINITY};

    snprintf(candidate.name, sizeof candidate.name, "%s%s", before, name);
    candidate.segment_bytes = chooser_segments[0];
    return candidate;
}

static struct plan_shape shape_of(const struct sweep *s)
{
    return (struct plan_shape){.kind = s->kind,
                               .op = REDUCE_SUM,
                               .element_bytes = element_bytes(s->type),
                               .rank = s->rank,
                               .ranks = s->ranks,
                               .count = s->block,
                               .topology = chooser_topology(s->comm.chooser)};
}

/* What is chosen, and all algorithms. */
static unsigned list_ours(struct sweep *s, struct candidate *candidates)
{
    struct plan_shape shape = shape_of(s);
    struct choice choice = chooser_pick(s->comm.chooser, &shape, ELEMENT_FP32);
    unsigned count = 1;

    candidates[0] = candidate_of("", "chosen");
    candidates[0].algorithm = choice.algorithm != NULL ? choice.algorithm->name : NULL;
    candidates[0].segment_bytes = choice.segment_bytes;
    for (const struct algorithm *a = algorithms; a->name != NULL; a++)
        if (count < CANDIDATES && algorithm_applies(a, &shape))
            candidates[count++] = candidate_of("", a->name);
    return count;
}

/* All algorithms that can do both, as they are and on the wire. */
static unsigned list_wire(const struct sweep *s, enum wire_format wire,
                          struct candidate *candidates)
{
    char before[NAME];
    unsigned count = 0;

    snprintf(before, sizeof before, "%s+", wire_name(wire));
    for (const struct algorithm *a = algorithms; a->name != NULL; a++) {
        struct plan_shape shape = shape_of(s);

        shape.wire = wire;
        if (count > CANDIDATES - 2 || !algorithm_applies(a, &shape))
            continue;
        candidates[count++] = candidate_of("", a->name);
        candidates[count] = candidate_of(before, a->name);
        candidates[count++].wire = wire;
    }
    return count;
}

static void sweep_size(struct sweep *s, size_t bytes, const char *name, enum wire_format wire)
{
    struct candidate candidates[CANDIDATES];
    unsigned count = 1;

    s->block = bytes / element_bytes(s->type) / (has_blocks(s->kind) ? (size_t)s->ranks : 1);
    s->block += s->block == 0;
    if (name != NULL) {
        candidates[0] = candidate_of("", name);
        candidates[0].algorithm = NULL;
    } else if (wire != WIRE_AS_IS) {
        count = list_wire(s, wire, candidates);
    } else {
        count = list_ours(s, candidates);
    }
    time_all(s, candidates, count, bytes);
}

static void fill(const struct sweep *s, size_t bytes)
{
    enum { SOME = 1 << 16 };
    size_t count = bytes / element_bytes(s->type), each = element_bytes(s->type);
    float *values = malloc(SOME * sizeof *values);

    if (values == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    measure_fill(values, SOME);
    for (size_t i = 0; i < count; i += SOME) {
        size_t some = count - i < SOME ? count - i : SOME;
        char *at = (char *)s->in + i * each;

        if (s->type == ELEMENT_FP32)
            memcpy(at, values, some * each);
        else
            precision_narrow(s->type == ELEMENT_BF16 ? PRECISION_BF16 : PRECISION_FP16, values,
                             some, at);
    }
    free(values);
}

static void stop(const char *word, const char *expected)
{
    fprintf(stderr, "sweep: found \"%s\", expected %s\n", word, expected);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv)
{
    struct tuned_options options = {.with_mpi = true};
    struct tuned *tuned = NULL;
    struct sweep s = {.type = ELEMENT_FP32};
    enum wire_format wire = WIRE_AS_IS;
    const char *name = NULL;
    size_t most = 8;
    struct error err;
    char *kinds, *rest;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
    if (argc < 3) {
        fprintf(stderr, "usage: sweep KIND,... BYTES,... [NAME | WIRE TYPE]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (argc == 4)
        name = argv[3];
    if (argc > 4) {
        if (!element_parse(argv[4], &s.type))
            stop(argv[4], "a type of elements");
        if (!wire_parse(argv[3], &wire) || wire == WIRE_AS_IS || !wire_applies(wire, s.type))
            stop(argv[3], "a wire of the type");
    }
    for (const char *size = argv[2]; size != NULL; size = strchr(size, ',')) {
        size_t bytes;

        size += *size == ',';
        bytes = strtoull(size, NULL, 10);
        most = bytes > most ? bytes : most;
    }
    most = (most + (size_t)s.ranks * sizeof(float) + 63) / 64 * 64;
    s.in = aligned_alloc(64, most);
    s.out = aligned_alloc(64, most);
    if (s.in == NULL || s.out == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(s.in, 0, most);
    memset(s.out, 0, most);
    if (wire != WIRE_AS_IS)
        fill(&s, most);
    if (name == NULL && (tuned_create(MPI_COMM_WORLD, &options, &tuned, &err) < 0 ||
                         tuned_comm_create(tuned, MPI_COMM_WORLD, &s.comm, &err) < 0)) {
        fprintf(stderr, "sweep: %s\n", err.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    kinds = argv[1];
    for (const char *kind = strtok_r(kinds, ",", &rest); kind != NULL;
         kind = strtok_r(NULL, ",", &rest)) {
        if (!collective_kind_parse(kind, &s.kind))
            stop(kind, "a collective");
        for (const char *size = argv[2]; size != NULL; size = strchr(size, ',')) {
            size += *size == ',';
            sweep_size(&s, strtoull(size, NULL, 10), name, wire);
        }
    }
    tuned_comm_destroy(&s.comm);
    tuned_destroy(tuned);
    free(s.in);
    free(s.out);
    MPI_Finalize();
    return 0;
}
