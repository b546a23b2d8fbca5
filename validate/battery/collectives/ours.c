/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/ours.h"

#include <string.h>

enum { GUARD_BYTES = 64, GUARD = 0x5c, POISON = 0xa3, NAME = 40 };

static const struct {
    enum element_type element;
    enum wire_format wire;
} types[TYPE_COUNT] = {
    [TYPE_INT8] = {ELEMENT_INT8, WIRE_AS_IS},
    [TYPE_UINT8] = {ELEMENT_UINT8, WIRE_AS_IS},
    [TYPE_INT16] = {ELEMENT_INT16, WIRE_AS_IS},
    [TYPE_UINT16] = {ELEMENT_UINT16, WIRE_AS_IS},
    [TYPE_INT32] = {ELEMENT_INT32, WIRE_AS_IS},
    [TYPE_UINT32] = {ELEMENT_UINT32, WIRE_AS_IS},
    [TYPE_INT64] = {ELEMENT_INT64, WIRE_AS_IS},
    [TYPE_UINT64] = {ELEMENT_UINT64, WIRE_AS_IS},
    [TYPE_FLOAT] = {ELEMENT_FP32, WIRE_AS_IS},
    [TYPE_DOUBLE] = {ELEMENT_FP64, WIRE_AS_IS},
    [TYPE_FP16] = {ELEMENT_FP16, WIRE_AS_IS},
    [TYPE_BF16] = {ELEMENT_BF16, WIRE_AS_IS},
    [TYPE_FLOAT_AS_BF16] = {ELEMENT_FP32, WIRE_BF16},
    [TYPE_FLOAT_AS_FP16] = {ELEMENT_FP32, WIRE_FP16},
    [TYPE_FLOAT_AS_E4M3] = {ELEMENT_FP32, WIRE_E4M3},
    [TYPE_FLOAT_AS_E5M2] = {ELEMENT_FP32, WIRE_E5M2},
    [TYPE_FLOAT_AS_INT8] = {ELEMENT_FP32, WIRE_INT8},
    [TYPE_FLOAT_CODED] = {ELEMENT_FP32, WIRE_LOSSLESS},
    [TYPE_FP16_CODED] = {ELEMENT_FP16, WIRE_LOSSLESS},
    [TYPE_BF16_CODED] = {ELEMENT_BF16, WIRE_LOSSLESS},
};

static enum reduce_op reduce_of(enum value_op op)
{
    const enum reduce_op ops[OP_COUNT] = {REDUCE_SUM,     REDUCE_MIN,  REDUCE_MAX,
                                          REDUCE_PRODUCT, REDUCE_BAND, REDUCE_BOR,
                                          REDUCE_BXOR,    REDUCE_LAND, REDUCE_LOR};

    return ops[op];
}

static char *block_at(const struct bench *bench, char *buffer, int block)
{
    return buffer + (size_t)block * (size_t)bench->count * value_size(bench->type);
}

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
        bench_fill_moved(bench, bench->in_place ? block_at(bench, in, comm->rank) : in, comm->rank,
                         0, bench->count);
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
    char *end = block_at(bench, bench->receive, blocks);
    struct collective_call call = {.kind = kind,
                                   .type = types[bench->type].element,
                                   .op = reduce_of(bench->op),
                                   .in = in,
                                   .out = bench->receive,
                                   .count = (size_t)bench->count,
                                   .root = bench->root,
                                   .algorithm = bench->routine->algorithm,
                                   .wire = types[bench->type].wire};
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
