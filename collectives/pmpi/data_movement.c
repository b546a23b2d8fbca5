/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

/* Collectives that only move bytes. */

#include "collectives/pmpi/pmpi.h"

#include <limits.h>
#include <stdint.h>

#include "collectives/pmpi/fallback.h"
#include "collectives/pmpi/types.h"

/* The largest block of a rank. Larger ones are left to MPI at all ranks: at one of them a block may
 * be a single element, which cannot be packed. */
enum { MOST_BYTES = INT_MAX };

/* Runs a broadcast. Returns as fallback_run(). */
static int broadcast(const struct fallback *fallback, void *buffer, struct collective_call *call)
{
    MPI_Datatype type = fallback->types[0];
    size_t count = (size_t)fallback->counts[0];
    struct state_comm *state = NULL;
    struct types_buffer layout = {0};
    int code;

    if (types_layout(type, &layout) && layout.bytes > 0 && count * layout.bytes <= MOST_BYTES)
        state = state_comm(fallback->comm);
    if (state == NULL || call->root < 0 || call->root >= state->ranks)
        return 1;
    call->count = count * layout.bytes;
    call->in = call->out = layout.is_plain ? buffer : state_memory(MEMORY_OUT, call->count);
    if (call->out == NULL && !layout.is_plain)
        return pmpi_fail(fallback->comm, MPI_ERR_NO_MEM);
    if (!layout.is_plain && state->rank == call->root) {
        code = types_pack(buffer, count, type, &layout, call->out);
        if (code != MPI_SUCCESS)
            return pmpi_fail(fallback->comm, code);
    }
    code = fallback_run(call->kind, fallback, state, call);
    if (code == 0 && !layout.is_plain && state->rank != call->root) {
        code = types_unpack(call->out, count, type, &layout, buffer);
        if (code != MPI_SUCCESS)
            return pmpi_fail(fallback->comm, code);
    }
    if (!layout.is_plain)
        state_memory_trim(code);
    return code;
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct collective_call call = {
        .kind = COLLECTIVE_BROADCAST, .type = ELEMENT_UINT8, .root = root};
    const struct fallback fallback = {comm, {type, type}, MPI_OP_NULL, {count, count}, NULL};

    TAKE_OVER(COLLECTIVE_BROADCAST, &fallback, count > 0 ? broadcast(&fallback, buffer, &call) : 1,
              COLLECTIVE_BROADCAST, call.count, PMPI_Bcast(buffer, count, type, root, comm));
}

/* A buffer of blocks, one per rank, of a type. counts and offsets ([ranks] each) are in bytes. */
struct blocks {
    const void *start; /* the program's */
    size_t count;      /* elements of each block, if counts_given is NULL */
    const int *counts_given, *displacements;
    MPI_Datatype type;
    struct types_buffer layout;
    size_t *counts, *offsets;
    bool is_direct;         /* start is used as it is */
    size_t bytes, greatest; /* of all blocks, of the largest */
};

static size_t block_count(const struct blocks *blocks, int rank)
{
    return blocks->counts_given != NULL ? (size_t)blocks->counts_given[rank] : blocks->count;
}

static MPI_Aint block_displacement(const struct blocks *blocks, int rank)
{
    return (blocks->displacements != NULL ? blocks->displacements[rank]
                                          : (MPI_Aint)blocks->count * rank) *
           blocks->layout.extent;
}

/* Sets counts, offsets, is_direct, bytes and greatest. Returns false if a count or the type is
 * invalid. */
static bool resolve_blocks(struct blocks *blocks, int ranks)
{
    MPI_Aint end = 0; /* of the block before */

    if (!types_layout(blocks->type, &blocks->layout))
        return false;
    blocks->is_direct = blocks->layout.is_plain;
    for (int rank = 0; rank < ranks; rank++) {
        if (blocks->counts_given != NULL && blocks->counts_given[rank] < 0)
            return false;
        /* Blocks that overlap are an error that MPIs tolerate; here a step would wait for one that
         * waits for it. Blocks in descending order may overlap: they are packed as well. */
        if (blocks->displacements != NULL && blocks->displacements[rank] < end)
            blocks->is_direct = false;
        if (blocks->displacements != NULL && blocks->counts_given[rank] > 0)
            end = (MPI_Aint)blocks->displacements[rank] + blocks->counts_given[rank];
        blocks->counts[rank] = block_count(blocks, rank) * blocks->layout.bytes;
        if (blocks->counts[rank] > blocks->greatest)
            blocks->greatest = blocks->counts[rank];
    }
    for (int rank = 0; rank < ranks; rank++) {
        blocks->offsets[rank] =
            blocks->is_direct ? (size_t)block_displacement(blocks, rank) : blocks->bytes;
        blocks->bytes += blocks->counts[rank];
    }
    return true;
}

static int pack_block(const struct blocks *blocks, int rank, char *packed)
{
    return types_pack((const char *)blocks->start + block_displacement(blocks, rank),
                      block_count(blocks, rank), blocks->type, &blocks->layout,
                      packed + blocks->offsets[rank]);
}

static int unpack_blocks(const struct blocks *blocks, int ranks, const char *packed)
{
    int code = MPI_SUCCESS;

    for (int rank = 0; rank < ranks && code == MPI_SUCCESS; rank++)
        code = types_unpack(packed + blocks->offsets[rank], block_count(blocks, rank), blocks->type,
                            &blocks->layout,
                            (char *)(uintptr_t)blocks->start + block_displacement(blocks, rank));
    return code;
}

/* As fallback_run(); then unpacks received blocks into the program's buffer. */
static int run_into_blocks(int kind, const struct fallback *fallback, struct state_comm *state,
                           struct collective_call *call, const struct blocks *to)
{
    int code = fallback_run(kind, fallback, state, call);

    if (code == 0 && !to->is_direct) {
        code = unpack_blocks(to, state->ranks, call->out);
        if (code != MPI_SUCCESS)
            return pmpi_fail(fallback->comm, code);
    }
    state_memory_trim(code);
    return code;
}

/* Runs an all-gather of blocks into `to`. Returns as fallback_run(). */
static int gather(int kind, const struct fallback *fallback, const void *sendbuf, int sendcount,
                  MPI_Datatype sendtype, struct blocks *to)
{
    struct collective_call call = {.kind = COLLECTIVE_ALL_GATHER, .type = ELEMENT_UINT8};
    struct state_comm *state = state_comm(fallback->comm);
    struct types_buffer layout;
    int code = MPI_SUCCESS;
    size_t *counts;

    if (state == NULL || (sendbuf != MPI_IN_PLACE && sendcount < 0))
        return 1;
    counts = pmpi_counts(2 * state->ranks);
    if (counts == NULL)
        return pmpi_fail(fallback->comm, MPI_ERR_NO_MEM);
    to->counts = counts;
    to->offsets = counts + state->ranks;
    if (!resolve_blocks(to, state->ranks) || to->bytes == 0 || to->greatest > MOST_BYTES)
        return 1;
    if (to->counts_given != NULL) {
        call.counts = to->counts;
        call.offsets = to->offsets;
    } else {
        call.count = to->counts[0];
    }
    call.out = to->is_direct ? (void *)(uintptr_t)to->start : state_memory(MEMORY_OUT, to->bytes);
    if (call.out == NULL && !to->is_direct)
        return pmpi_fail(fallback->comm, MPI_ERR_NO_MEM);
    if (sendbuf == MPI_IN_PLACE) {
        call.in = call.out;
        if (!to->is_direct)
            code = pack_block(to, state->rank, call.out);
    } else if (!types_layout(sendtype, &layout)) {
        return 1;
    } else if (layout.is_plain && sendbuf != call.out) {
        call.in = sendbuf;
    } else {
        /* also if it is sent from where the blocks go, an error that MPIs tolerate */
        char *packed = state_memory(MEMORY_IN, (size_t)sendcount * layout.bytes);

        call.in = packed;
        code = packed != NULL ? types_pack(sendbuf, (size_t)sendcount, sendtype, &layout, packed)
                              : MPI_ERR_NO_MEM;
    }
    if (code != MPI_SUCCESS)
        return pmpi_fail(fallback->comm, code);
    return run_into_blocks(kind, fallback, state, &call, to);
}

/* The fallback key of a call with blocks; in place the send arguments do not count. */
static struct fallback fallback_of_blocks(MPI_Comm comm, const void *sendbuf, int sendcount,
                                          MPI_Datatype sendtype, int recvcount,
                                          MPI_Datatype recvtype)
{
    bool is_in_place = sendbuf == MPI_IN_PLACE;

    return (struct fallback){comm,
                             {is_in_place ? recvtype : sendtype, recvtype},
                             MPI_OP_NULL,
                             {is_in_place ? recvcount : sendcount, recvcount},
                             NULL};
}

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct fallback fallback =
        fallback_of_blocks(comm, sendbuf, sendcount, sendtype, recvcount, recvtype);
    struct blocks to = {.start = recvbuf, .count = (size_t)recvcount, .type = recvtype};

    TAKE_OVER(COLLECTIVE_ALL_GATHER, &fallback,
              recvcount > 0
                  ? gather(COLLECTIVE_ALL_GATHER, &fallback, sendbuf, sendcount, sendtype, &to)
                  : 1,
              COLLECTIVE_ALL_GATHER, to.bytes,
              PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct fallback fallback = {comm, {recvtype, recvtype}, MPI_OP_NULL, {0, 0}, recvcounts};
    struct blocks to = {
        .start = recvbuf, .counts_given = recvcounts, .displacements = displs, .type = recvtype};

    TAKE_OVER(
        FALLBACK_ALL_GATHER_V, &fallback,
        gather(FALLBACK_ALL_GATHER_V, &fallback, sendbuf, sendcount, sendtype, &to),
        COLLECTIVE_ALL_GATHER, to.bytes,
        PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
}

/* Runs an all-to-all of blocks. Returns as fallback_run(). */
static int exchange(int kind, const struct fallback *fallback, struct blocks *from,
                    struct blocks *to)
{
    struct collective_call call = {.kind = COLLECTIVE_ALL_TO_ALL, .type = ELEMENT_UINT8};
    struct state_comm *state = state_comm(fallback->comm);
    bool is_in_place = from->start == MPI_IN_PLACE;
    int code = MPI_SUCCESS;
    size_t *counts;

    if (state == NULL || (!is_in_place && from->counts_given == NULL && from->count > INT_MAX))
        return 1;
    counts = pmpi_counts(4 * state->ranks);
    if (counts == NULL)
        return pmpi_fail(fallback->comm, MPI_ERR_NO_MEM);
    to->counts = counts;
    to->offsets = counts + state->ranks;
    if (is_in_place)
        *from = *to;
    from->counts = counts + 2 * state->ranks;
    from->offsets = counts + 3 * state->ranks;
    if (!resolve_blocks(to, state->ranks) || !resolve_blocks(from, state->ranks))
        return 1;
    /* with counts other ranks may have other sizes, so this rank cannot decide alone */
    if (to->counts_given == NULL && (to->bytes == 0 || to->greatest > MOST_BYTES))
        return 1;
    if (is_in_place && from->is_direct) {
        /* copied all the same, as the call overwrites what it sends */
        from->is_direct = false;
        for (size_t rank = 0, offset = 0; rank < (size_t)state->ranks; rank++) {
            from->offsets[rank] = offset;
            offset += from->counts[rank];
        }
    }
    if (to->counts_given != NULL) {
        call.counts = to->counts;
        call.offsets = to->offsets;
        call.send_counts = from->counts;
        call.send_offsets = from->offsets;
    } else {
        call.count = to->counts[0];
    }
    call.in = from->is_direct ? from->start : state_memory(MEMORY_IN, from->bytes);
    call.out = to->is_direct ? (void *)(uintptr_t)to->start : state_memory(MEMORY_OUT, to->bytes);
    if ((call.in == NULL && !from->is_direct) || (call.out == NULL && !to->is_direct))
        return pmpi_fail(fallback->comm, MPI_ERR_NO_MEM);
    for (int rank = 0; rank < state->ranks && !from->is_direct && code == MPI_SUCCESS; rank++)
        code = pack_block(from, rank, (char *)(uintptr_t)call.in);
    if (code != MPI_SUCCESS)
        return pmpi_fail(fallback->comm, code);
    return run_into_blocks(kind, fallback, state, &call, to);
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct fallback fallback =
        fallback_of_blocks(comm, sendbuf, sendcount, sendtype, recvcount, recvtype);
    struct blocks from = {.start = sendbuf, .count = (size_t)sendcount, .type = sendtype};
    struct blocks to = {.start = recvbuf, .count = (size_t)recvcount, .type = recvtype};

    TAKE_OVER(COLLECTIVE_ALL_TO_ALL, &fallback,
              recvcount > 0 ? exchange(COLLECTIVE_ALL_TO_ALL, &fallback, &from, &to) : 1,
              COLLECTIVE_ALL_TO_ALL, to.bytes,
              PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                  MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct fallback fallback = {comm, {MPI_BYTE, MPI_BYTE}, MPI_OP_NULL, {0, 0}, NULL};
    struct blocks from = {
        .start = sendbuf, .counts_given = sendcounts, .displacements = sdispls, .type = sendtype};
    struct blocks to = {
        .start = recvbuf, .counts_given = recvcounts, .displacements = rdispls, .type = recvtype};

    TAKE_OVER(FALLBACK_ALL_TO_ALL_V, &fallback,
              exchange(FALLBACK_ALL_TO_ALL_V, &fallback, &from, &to), COLLECTIVE_ALL_TO_ALL,
              to.bytes,
              PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                             recvtype, comm));
}
