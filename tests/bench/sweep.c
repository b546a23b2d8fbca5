/* SPDX-License-Identifier: Apache-2.0 */

/* Times collectives, for tests/bench/collectives. sweep KIND,... BYTES,... NAME: MPI's own under
 * this name; without NAME ours, each algorithm that applies, and "chosen", which may be MPI's own.
 * Of each, in turns, the fastest of ROUNDS loops of calls without barriers, us a call of the rank
 * that takes longest; a line "KIND BYTES NAME US" from rank 0. fp32, sums, root 0. */

#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/choose/tuned.h"

enum { ROUNDS = 7, LOOP_US = 3000, LOOP_CALLS = 300, CANDIDATES = 32 };

struct sweep {
    struct tuned_comm comm;
    int rank, ranks;
    enum collective_kind kind;
    size_t block; /* elements: a rank's block where there are such, else all */
    float *in, *out;
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

/* algorithm NULL: MPI's own */
static void run_once(const struct sweep *s, const char *algorithm, size_t segment_bytes)
{
    struct collective_call call = {.kind = s->kind,
                                   .type = ELEMENT_FP32,
                                   .op = REDUCE_SUM,
                                   .in = s->in,
                                   .out = s->out,
                                   .count = s->block,
                                   .algorithm = algorithm,
                                   .segment_bytes = segment_bytes};
    struct error err;

    if (algorithm == NULL)
        call_mpi(s);
    else if (collective_run(s->comm.collective, &call, &err) < 0) {
        fprintf(stderr, "sweep: %s: %s\n", algorithm, err.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static double time_calls(const struct sweep *s, const char *algorithm, size_t segment, int calls)
{
    double time_us;

    MPI_Barrier(MPI_COMM_WORLD);
    time_us = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        run_once(s, algorithm, segment);
    time_us = (MPI_Wtime() - time_us) * 1e6 / calls;
    MPI_Allreduce(MPI_IN_PLACE, &time_us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return time_us;
}

struct candidate {
    const char *name, *algorithm;
    size_t segment_bytes;
    int calls;
    double least_us;
};

static void time_all(const struct sweep *s, struct candidate *candidates, unsigned count,
                     size_t bytes)
{
    for (int round = -2; round < ROUNDS; round++)
        for (unsigned i = 0; i < count; i++) {
            struct candidate *c = &candidates[i];
            double time_us = time_calls(s, c->algorithm, c->segment_bytes, c->calls);

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

static void sweep_size(struct sweep *s, size_t bytes, const char *name)
{
    struct candidate candidates[CANDIDATES] = {{name, NULL, 0, 1, INFINITY}};
    struct plan_shape shape = {.kind = s->kind,
                               .op = REDUCE_SUM,
                               .element_bytes = sizeof(float),
                               .rank = s->rank,
                               .ranks = s->ranks};
    unsigned count = 1;

    s->block = bytes / sizeof(float) / (has_blocks(s->kind) ? (size_t)s->ranks : 1);
    s->block += s->block == 0;
    shape.count = s->block;
    if (name == NULL) {
        struct choice choice;

        shape.topology = chooser_topology(s->comm.chooser);
        choice = chooser_pick(s->comm.chooser, &shape, ELEMENT_FP32);
        candidates[0].name = "chosen";
        candidates[0].algorithm = choice.algorithm != NULL ? choice.algorithm->name : NULL;
        candidates[0].segment_bytes = choice.segment_bytes;
        for (const struct algorithm *a = algorithms; a->name != NULL; a++)
            if (count < CANDIDATES && algorithm_applies(a, &shape))
                candidates[count++] =
                    (struct candidate){a->name, a->name, chooser_segments[0], 1, INFINITY};
    }
    time_all(s, candidates, count, bytes);
}

int main(int argc, char **argv)
{
    struct tuned_options options = {.with_mpi = true};
    struct tuned *tuned = NULL;
    struct sweep s = {{0}};
    size_t most = 8;
    struct error err;
    char *kinds, *rest;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
    if (argc < 3) {
        fprintf(stderr, "usage: sweep KIND,... BYTES,... [NAME]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
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
    if (argc < 4 && (tuned_create(MPI_COMM_WORLD, &options, &tuned, &err) < 0 ||
                     tuned_comm_create(tuned, MPI_COMM_WORLD, &s.comm, &err) < 0)) {
        fprintf(stderr, "sweep: %s\n", err.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    kinds = argv[1];
    for (const char *kind = strtok_r(kinds, ",", &rest); kind != NULL;
         kind = strtok_r(NULL, ",", &rest)) {
        if (!collective_kind_parse(kind, &s.kind)) {
            fprintf(stderr, "sweep: found \"%s\", expected a collective\n", kind);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        for (const char *size = argv[2]; size != NULL; size = strchr(size, ',')) {
            size += *size == ',';
            sweep_size(&s, strtoull(size, NULL, 10), argc > 3 ? argv[3] : NULL);
        }
    }
    tuned_comm_destroy(&s.comm);
    tuned_destroy(tuned);
    free(s.in);
    free(s.out);
    MPI_Finalize();
    return 0;
}
