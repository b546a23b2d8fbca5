/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/ours.h"

#include <string.h>

enum { GUARD_BYTES = 64, GUARD = 0x5c, POISON = 0xa3, NAME = 40 };

/* Returns the number of blocks that a collective of that kind writes. */
static int blocks_written(const struct bench *bench, enum collective_kind kind)
{
    bool has_many = kind == COLLECTIVE_ALL_GATHER || kind == COLLECTIVE_ALL_TO_ALL ||
                    (kind == COLLECTIVE_REDUCE_SCATTER && bench->in_place);

    return has_many ? bench->comm->size : 1;
}

static void fill(const struct bench *bench, enum collective_kind kind, char *in)
{
    const struct comm *comm = bench->comm;

    switch (kind) {
    case COLLECTIVE_ALL_GATHER:
        bench_fill_moved(bench, bench->in_place ? bench_block(bench, in, comm->rank) : in,
                         comm->rank, 0, bench->count);
        break;
    case COLLECTIVE_BROADCAST:
        if (comm->rank == bench->root)
            bench_fill_moved(bench, bench->receive, bench->root, 0, bench->count);
        break;
    case COLLECTIVE_ALL_TO_ALL:
        bench_fill_blocks(bench, in, comm->rank);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        bench_fill_contribution(bench, in, bench->count * comm->size);
        break;
    default:
        bench_fill_contribution(bench, in, bench->count);
    }
}

static void check_kind(struct bench *bench, enum collective_kind kind)
{
    const struct comm *comm = bench->comm;
    char *out = bench->receive;

    switch (kind) {
    case COLLECTIVE_BROADCAST:
        bench_check_moved(bench, out, bench->root, 0, bench->count);
        break;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_ALL_TO_ALL:
        bench_check_blocks(bench, out, kind == COLLECTIVE_ALL_TO_ALL ? comm->rank : 0);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        bench_check_reduced(bench, out, (size_t)comm->rank * (size_t)bench->count, bench->count,
                            comm->size);
        break;
    case COLLECTIVE_REDUCE:
        if (comm->rank == bench->root)
            bench_check_reduced(bench, out, 0, bench->count, comm->size);
        break;
    default:
        bench_check_reduced(bench, out, 0, bench->count, comm->size);
    }
}

/* Checks that nothing was written behind the result; if it was, adds evidence against this rank. */
static void check_guard(struct bench *bench, const char *end, int blocks)
{
    for (int i = 0; i < GUARD_BYTES; i++)
        if ((unsigned char)end[i] != GUARD) {
            bench_note(bench, -1, (int64_t)blocks * bench->count, (unsigned char)end[i], GUARD);
            return;
        }
}

void ours_run(struct bench *bench)
{
    enum collective_kind kind = bench->routine->kind;
    bool in_place =
        bench->in_place && (kind != COLLECTIVE_REDUCE || bench->comm->rank == bench->root);
    char *in = in_place ? bench->receive : bench->send;
    int blocks = blocks_written(bench, kind);
    char *end = bench_block(bench, bench->receive, blocks);
    struct collective_call call = {.kind = kind,
                                   .type = value_element(bench->type),
                                   .op = bench->op,
                                   .in = in,
                                   .out = bench->receive,
                                   .count = (size_t)bench->count,
                                   .root = bench->root,
                                   .algorithm = bench->routine->algorithm,
                                   .wire = value_wire(bench->type)};
    struct error err;

    bench->kind = kind == COLLECTIVE_ALLREDUCE || kind == COLLECTIVE_ALL_GATHER ||
                          kind == COLLECTIVE_BROADCAST
                      ? EVIDENCE_SHARED
                      : EVIDENCE_PERSONAL;
    memset(bench->receive, POISON, (size_t)(end - bench->receive));
    memset(end, GUARD, GUARD_BYTES);
    fill(bench, kind, in);
    if (!call.algorithm) {
        ours_run_mpi(bench->comm, kind, in_place ? MPI_IN_PLACE : in, bench->receive, bench->count,
                     bench_type(bench->type), bench_op(bench->op), bench->root);
    } else if (!collective_algorithm(bench->comm->ours, &call, NULL, NULL)) {
        bench->was_left_out = true; /* on all ranks */
        return;
    } else if (collective_run(bench->comm->ours, &call, &err) < 0) {
        watch_fault("%s", err.text);
    }
    check_kind(bench, kind);
    if (kind != COLLECTIVE_REDUCE || bench->comm->rank == bench->root)
        check_guard(bench, end, blocks);
}

void ours_add(void)
{
    static char names[ROUTINES][NAME];
    int count = 0;

    while (routines[count].name)
        count++;
    for (const struct algorithm *a = algorithms; a->name && count < ROUTINES - 1; a++, count++) {
        snprintf(names[count], sizeof names[count], "%s by %s", collective_kind_name(a->kind),
                 a->name);
        routines[count] = (struct routine){names[count],
                                           collective_kind_reduces(a->kind),
                                           collective_kind_has_blocks(a->kind),
                                           a->kind != COLLECTIVE_BROADCAST,
                                           ours_run,
                                           a,
                                           a->kind};
    }
}

void ours_open(struct comm *comm)
{
    struct error err;

    watch_waits_for(-1);
    if (collective_create(comm->mpi, NULL, &comm->ours, &err) < 0)
        watch_fault("%s", err.text);
    watch_works();
}

void ours_close(struct comm *comm)
{
    collective_destroy(comm->ours);
}
