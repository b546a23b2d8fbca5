/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/cases.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "validate/battery/collectives/ours.h"
#include "validate/harness/pattern.h"

MPI_Datatype bench_type(enum value_type type)
{
    const MPI_Datatype types[TYPE_OF_MPI] = {MPI_INT8_T,  MPI_UINT8_T,  MPI_INT16_T, MPI_UINT16_T,
                                             MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T,
                                             MPI_FLOAT,   MPI_DOUBLE};

    return types[type];
}

MPI_Op bench_op(enum reduce_op op)
{
    const MPI_Op ops[OP_COUNT] = {MPI_SUM, MPI_MIN,  MPI_MAX,  MPI_PROD, MPI_BAND,
                                  MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR};

    return ops[op];
}

/* Reads WHERE of --inject=lie:RANK[:WHERE]. */
static void read_lie(struct bench *bench, const char *where)
{
    static const char *const wheres[] = {"send", "recv", "send-sometimes", "recv-sometimes"};
    int which = 0;

    while (*where && which < 4 && strcmp(where, wheres[which]) != 0)
        which++;
    if (which == 4)
        watch_fault("--inject: expected lie:RANK, optionally followed by :send, :recv, "
                    ":send-sometimes or :recv-sometimes, found :%s",
                    where);
    bench->corrupts_receiving = which % 2;
    bench->corrupts_sending = !bench->corrupts_receiving;
    bench->lies_sometimes = which >= 2;
}

void bench_open(struct bench *bench, struct program *program, size_t room_bytes)
{
    size_t ranks = (size_t)program->size + 1;

    *bench = (struct bench){.program = program, .room_bytes = room_bytes};
    bench->send = watch_allocate(1, room_bytes);
    bench->receive = watch_allocate(1, room_bytes);
    bench->counts = watch_allocate(4 * ranks, sizeof *bench->counts);
    bench->offsets = bench->counts + ranks;
    bench->send_counts = bench->offsets + ranks;
    bench->send_offsets = bench->send_counts + ranks;
    if (program_injects_lie(program))
        read_lie(bench, program->common.inject.target);
}

void bench_close(struct bench *bench)
{
    free(bench->send);
    free(bench->receive);
    free(bench->counts);
    free(bench->evidence);
}

/* Returns the rank in the world of a rank of the communicator. */
static int world_rank(const struct comm *comm, int rank)
{
    if (comm->is_reversed)
        return comm->first + comm->size - 1 - rank;
    return comm->first + (rank + comm->shift) % comm->size;
}

static char *at(const struct bench *bench, char *buffer, size_t element)
{
    return buffer + element * element_bytes(value_element(bench->type));
}

char *bench_block(const struct bench *bench, char *buffer, int block)
{
    return at(bench, buffer, (size_t)block * (size_t)bench->count);
}

/* Damages two elements of a block, for --inject=lie. */
static void damage(const struct bench *bench, char *block, int count)
{
    if (bench->lies_sometimes && pattern_mix(bench->seed, 1) % LIE_EVERY != 0)
        return;
    for (int i = 0; i < count; i += count / 2 + 1)
        value_put(bench->type, block, (size_t)i,
                  value_damaged(bench->type, value_get(bench->type, block, (size_t)i)));
}

void bench_fill_moved(const struct bench *bench, char *block, int from, int to, int count)
{
    for (int i = 0; i < count; i++)
        value_put(bench->type, block, (size_t)i,
                  value_moved(bench->type, bench->seed, from, to, (size_t)i));
    if (bench->corrupts_sending)
        damage(bench, block, count);
}

void bench_fill_blocks(const struct bench *bench, char *blocks, int from)
{
    for (int to = 0; to < bench->comm->size; to++)
        bench_fill_moved(bench, bench_block(bench, blocks, to), from, to, bench->count);
}

static int64_t contribution(const struct bench *bench, int rank, size_t i)
{
    return value_contributed(bench->type, bench->op, bench->seed, rank, bench->comm->size, i);
}

/* Fills in this rank's own contribution, elements 0 to count - 1. */
void bench_fill_contribution(const struct bench *bench, char *block, int count)
{
    for (int i = 0; i < count; i++)
        value_put(bench->type, block, (size_t)i, contribution(bench, bench->comm->rank, (size_t)i));
    if (bench->corrupts_sending)
        damage(bench, block, count);
}

void bench_note(struct bench *bench, int source, int64_t index, int64_t found, int64_t expected)
{
    const struct comm *comm = bench->comm;

    bench->mismatches++;
    if (!GROW(bench->evidence, (size_t)bench->evidence_count))
        watch_fault("out of memory");
    bench->evidence[bench->evidence_count++] = (struct evidence){bench->case_number,
                                                                 bench->kind,
                                                                 bench->program->rank,
                                                                 source,
                                                                 comm->first,
                                                                 comm->size,
                                                                 comm->is_reversed,
                                                                 comm->shift,
                                                                 index,
                                                                 found,
                                                                 expected};
}

void bench_check_moved(struct bench *bench, char *block, int from, int to, int count)
{
    if (bench->corrupts_receiving)
        damage(bench, block, count);
    bench->checked += (uint64_t)count;
    for (int i = 0; i < count; i++) {
        int64_t expected = value_moved(bench->type, bench->seed, from, to, (size_t)i);
        int64_t found = value_get(bench->type, block, (size_t)i);

        if (found != expected) {
            bench_note(bench, world_rank(bench->comm, from), i, found, expected);
            return;
        }
    }
}

void bench_check_blocks(struct bench *bench, char *blocks, int to)
{
    for (int from = 0; from < bench->comm->size; from++)
        bench_check_moved(bench, bench_block(bench, blocks, from), from, to, bench->count);
}

/* Checks elements offset to offset + count - 1 of the result of ranks 0 to `ranks` - 1. */
void bench_check_reduced(struct bench *bench, char *block, size_t offset, int count, int ranks)
{
    if (bench->corrupts_receiving)
        damage(bench, block, count);
    bench->checked += (uint64_t)count;
    for (int i = 0; i < count; i++) {
        size_t element = offset + (size_t)i;
        int64_t expected = contribution(bench, 0, element), found;

        for (int rank = 1; rank < ranks; rank++)
            expected =
                value_combine(bench->type, bench->op, expected, contribution(bench, rank, element));
        found = value_get(bench->type, block, (size_t)i);
        if (found != expected) {
            bench_note(bench, -1, (int64_t)element, found, expected);
            return;
        }
    }
}

/* Counts that differ from rank to rank, with a gap between the blocks. Returns their end. */
static int uneven(const struct bench *bench, int gap, int *counts, int *offsets)
{
    int end = 0;

    for (int rank = 0; rank < bench->comm->size; rank++) {
        counts[rank] = bench->count + rank % 3;
        offsets[rank] = end;
        end += counts[rank] + gap;
    }
    return end;
}

static void run_barrier(struct bench *bench)
{
    MPI_Barrier(bench->comm->mpi);
}

static void run_allgatherv(struct bench *bench)
{
    const struct comm *comm = bench->comm;
    MPI_Datatype type = bench_type(bench->type);
    int *counts = bench->counts, *offsets = bench->offsets, mine;
    char *own;

    bench->kind = EVIDENCE_SHARED;
    uneven(bench, 1, counts, offsets);
    mine = counts[comm->rank];
    own = at(bench, bench->receive, (size_t)offsets[comm->rank]);
    bench_fill_moved(bench, bench->in_place ? own : bench->send, comm->rank, 0, mine);
    MPI_Allgatherv(bench->in_place ? MPI_IN_PLACE : bench->send, mine, type, bench->receive, counts,
                   offsets, type, comm->mpi);
    for (int from = 0; from < comm->size; from++)
        bench_check_moved(bench, at(bench, bench->receive, (size_t)offsets[from]), from, 0,
                          counts[from]);
}

static void run_gather(struct bench *bench)
{
    const struct comm *comm = bench->comm;
    MPI_Datatype type = bench_type(bench->type);
    bool is_root = comm->rank == bench->root, in_place = bench->in_place && is_root;
    char *own = bench_block(bench, bench->receive, comm->rank);

    bench->kind = EVIDENCE_PERSONAL;
    bench_fill_moved(bench, in_place ? own : bench->send, comm->rank, 0, bench->count);
    MPI_Gather(in_place ? MPI_IN_PLACE : bench->send, bench->count, type, bench->receive,
               bench->count, type, bench->root, comm->mpi);
    if (is_root)
        bench_check_blocks(bench, bench->receive, 0);
}

static void run_gatherv(struct bench *bench)
{
    const struct comm *comm = bench->comm;
    MPI_Datatype type = bench_type(bench->type);
    int *counts = bench->counts, *offsets = bench->offsets;

    bench->kind = EVIDENCE_PERSONAL;
    uneven(bench, 1, counts, offsets);
    bench_fill_moved(bench, bench->send, comm->rank, 0, counts[comm->rank]);
    MPI_Gatherv(bench->send, counts[comm->rank], type, bench->receive, counts, offsets, type,
                bench->root, comm->mpi);
    for (int from = 0; from < comm->size && comm->rank == bench->root; from++)
        bench_check_moved(bench, at(bench, bench->receive, (size_t)offsets[from]), from, 0,
                          counts[from]);
}

static void run_scatter(struct bench *bench)
{
    const struct comm *comm = bench->comm;
    MPI_Datatype type = bench_type(bench->type);
    bool is_root = comm->rank == bench->root, in_place = bench->in_place && is_root;
    char *own = in_place ? bench_block(bench, bench->send, comm->rank) : bench->receive;

    bench->kind = EVIDENCE_PERSONAL;
    if (is_root)
        bench_fill_blocks(bench, bench->send, bench->root);
    MPI_Scatter(bench->send, bench->count, type, in_place ? MPI_IN_PLACE : bench->receive,
                bench->count, type, bench->root, comm->mpi);
    bench_check_moved(bench, own, bench->root, comm->rank, bench->count);
}

/* Each rank sends the block of rank `to` with count + to % 3 elements. */
static void run_alltoallv(struct bench *bench)
{
    const struct comm *comm = bench->comm;
    MPI_Datatype type = bench_type(bench->type);
    int mine = bench->count + comm->rank % 3;

    bench->kind = EVIDENCE_PERSONAL;
    uneven(bench, 1, bench->send_counts, bench->send_offsets);
    for (int rank = 0; rank < comm->size; rank++) {
        bench->counts[rank] = mine;
        bench->offsets[rank] = rank * (mine + 1);
        bench_fill_moved(bench, at(bench, bench->send, (size_t)bench->send_offsets[rank]),
                         comm->rank, rank, bench->send_counts[rank]);
    }
    MPI_Alltoallv(bench->send, bench->send_counts, bench->send_offsets, type, bench->receive,
                  bench->counts, bench->offsets, type, comm->mpi);
    for (int from = 0; from < comm->size; from++)
        bench_check_moved(bench, at(bench, bench->receive, (size_t)bench->offsets[from]), from,
                          comm->rank, mine);
}

/* Runs a prefix reduction, which gives this rank the result of the first `ranks` ranks. */
static void run_prefix(struct bench *bench, int ranks,
                       int (*sum)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))
{
    bench->kind = EVIDENCE_PREFIX;
    bench_fill_contribution(bench, bench->in_place ? bench->receive : bench->send, bench->count);
    sum(bench->in_place ? MPI_IN_PLACE : bench->send, bench->receive, bench->count,
        bench_type(bench->type), bench_op(bench->op), bench->comm->mpi);
    if (ranks > 0) /* MPI_Exscan leaves the result of rank 0 undefined */
        bench_check_reduced(bench, bench->receive, 0, bench->count, ranks);
}

static void run_scan(struct bench *bench)
{
    run_prefix(bench, bench->comm->rank + 1, MPI_Scan);
}

static void run_exscan(struct bench *bench)
{
    run_prefix(bench, bench->comm->rank, MPI_Exscan);
}

static void run_reduce_scatter(struct bench *bench)
{
    const struct comm *comm = bench->comm;
    int end = uneven(bench, 0, bench->counts, bench->offsets);

    bench->kind = EVIDENCE_PERSONAL;
    bench_fill_contribution(bench, bench->send, end);
    MPI_Reduce_scatter(bench->send, bench->receive, bench->counts, bench_type(bench->type),
                       bench_op(bench->op), comm->mpi);
    bench_check_reduced(bench, bench->receive, (size_t)bench->offsets[comm->rank],
                        bench->counts[comm->rank], comm->size);
}

/* Four collectives under way at once on one communicator, each with a quarter of the buffers. */
static void run_nonblocking(struct bench *bench)
{
    const struct comm *comm = bench->comm;
    MPI_Datatype type = bench_type(bench->type);
    size_t quarter = bench->room_bytes / 4 / 8 * 8;
    char *in[4], *out[4];
    MPI_Request requests[4];

    for (size_t i = 0; i < 4; i++) {
        in[i] = bench->receive + i * quarter;
        out[i] = bench->send + i * quarter;
    }
    bench_fill_contribution(bench, out[0], bench->count);
    if (comm->rank == bench->root)
        bench_fill_moved(bench, in[1], bench->root, 0, bench->count);
    bench_fill_moved(bench, out[2], comm->rank, 0, bench->count);
    bench_fill_blocks(bench, out[3], comm->rank);
    MPI_Iallreduce(out[0], in[0], bench->count, type, bench_op(bench->op), comm->mpi, &requests[0]);
    MPI_Ibcast(in[1], bench->count, type, bench->root, comm->mpi, &requests[1]);
    MPI_Iallgather(out[2], bench->count, type, in[2], bench->count, type, comm->mpi, &requests[2]);
    MPI_Ialltoall(out[3], bench->count, type, in[3], bench->count, type, comm->mpi, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);

    /* Each is an incident of its own for the evidence. */
    bench->kind = EVIDENCE_SHARED;
    bench_check_reduced(bench, in[0], 0, bench->count, comm->size);
    bench->case_number++;
    bench_check_moved(bench, in[1], bench->root, 0, bench->count);
    bench->case_number++;
    bench_check_blocks(bench, in[2], 0);
    bench->case_number++;
    bench->kind = EVIDENCE_PERSONAL;
    bench_check_blocks(bench, in[3], comm->rank);
}

#define KIND(kind) ours_run, NULL, COLLECTIVE_##kind
struct routine routines[ROUTINES] = {
    {"barrier", false, false, false, run_barrier},
    {"bcast", false, false, false, KIND(BROADCAST)},
    {"allgather", false, true, true, KIND(ALL_GATHER)},
    {"allgatherv", false, true, true, run_allgatherv},
    {"gather", false, true, true, run_gather},
    {"gatherv", false, true, false, run_gatherv},
    {"scatter", false, true, true, run_scatter},
    {"alltoall", false, true, true, KIND(ALL_TO_ALL)},
    {"alltoallv", false, true, false, run_alltoallv},
    {"allreduce", true, false, true, KIND(ALLREDUCE)},
    {"reduce", true, false, true, KIND(REDUCE)},
    {"reduce_scatter_block", true, true, true, KIND(REDUCE_SCATTER)},
    {"reduce_scatter", true, true, false, run_reduce_scatter},
    {"scan", true, false, true, run_scan},
    {"exscan", true, false, true, run_exscan},
    {"nonblocking", true, true, false, run_nonblocking},
    {NULL},
};

void bench_run(struct bench *bench, const struct routine *collective)
{
    bench->seed = (uint64_t)bench->case_number + 1;
    bench->routine = collective;
    bench->was_left_out = false;
    watch_waits_for(-1);
    collective->run(bench);
    watch_works();
    watch_step();
    bench->case_number++;
}
