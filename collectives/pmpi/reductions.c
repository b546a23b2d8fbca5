/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/pmpi/pmpi.h"

#include <stdint.h>
#include <string.h>

#include "collectives/pmpi/fallback.h"
#include "collectives/pmpi/types.h"

/* A reduction's buffers, aligned to their elements: copies if the program's are not. */
struct operands {
    size_t in_bytes, out_bytes;
    void *out_wanted; /* the program's output buffer */
    bool is_out_copy;
};

static bool is_aligned(const void *pointer, size_t bytes)
{
    return (uintptr_t)pointer % bytes == 0;
}

/* Sets call->in and ->out. in == out is in place. */
static int set_operands(const void *in, void *out, size_t in_count, size_t out_count,
                        struct collective_call *call, struct operands *operands)
{
    size_t bytes = element_bytes(call->type);

    *operands = (struct operands){in_count * bytes, out_count * bytes, out, false};
    call->in = in;
    call->out = out;
    if (out != NULL && !is_aligned(out, bytes)) {
        size_t most = in == out ? operands->in_bytes : operands->out_bytes;

        operands->is_out_copy = true;
        call->out = state_memory(MEMORY_OUT, most);
        if (call->out == NULL)
            return MPI_ERR_NO_MEM;
        if (in == out) {
            memcpy(call->out, in, operands->in_bytes);
            call->in = call->out;
            return MPI_SUCCESS;
        }
    }
    if (!is_aligned(in, bytes)) {
        void *copy = state_memory(MEMORY_IN, operands->in_bytes);

        if (copy == NULL)
            return MPI_ERR_NO_MEM;
        memcpy(copy, in, operands->in_bytes);
        call->in = copy;
    }
    return MPI_SUCCESS;
}

/* Sets call->counts to the ranks' blocks, and *all to their sum. Returns as fallback_run(). */
static int set_counts(const struct fallback *fallback, int ranks, struct collective_call *call,
                      size_t *all)
{
    size_t *counts;

    *all = 0;
    for (int rank = 0; rank < ranks; rank++) {
        if (fallback->each[rank] < 0) /* an error, which MPI reports */
            return 1;
        *all += (size_t)fallback->each[rank];
    }
    if (*all == 0)
        return 1;
    counts = pmpi_counts(ranks);
    if (counts == NULL)
        return pmpi_fail(fallback->comm, MPI_ERR_NO_MEM);
    for (int rank = 0; rank < ranks; rank++)
        counts[rank] = (size_t)fallback->each[rank];
    call->counts = counts;
    return 0;
}

/* Runs a reduction. Returns as fallback_run(); sets bytes to those of a rank's input. */
static int reduce(int kind, const struct fallback *fallback, const void *in, void *out,
                  struct collective_call *call, size_t *bytes)
{
    size_t in_count = call->count, out_count = call->count;
    struct state_comm *state = NULL;
    struct operands operands;
    int code = 0;

    if (types_find(fallback->types[0], fallback->op, &call->type, &call->op))
        state = state_comm(fallback->comm);
    if (state == NULL)
        return 1;
    if (fallback->each != NULL)
        code = set_counts(fallback, state->ranks, call, &in_count);
    else if (call->kind == COLLECTIVE_REDUCE_SCATTER)
        in_count *= (size_t)state->ranks;
    if (code != 0)
        return code;
    *bytes = in_count * element_bytes(call->type);
    if (call->counts != NULL)
        out_count = call->counts[state->rank];
    if (call->kind == COLLECTIVE_REDUCE && (call->root < 0 || call->root >= state->ranks))
        return 1;
    if (call->kind == COLLECTIVE_REDUCE && call->root != state->rank) {
        out = NULL;
        out_count = 0;
    } else if (in == MPI_IN_PLACE) {
        in = out;
    }
    code = set_operands(in, out, in_count, out_count, call, &operands);
    if (code != MPI_SUCCESS)
        return pmpi_fail(fallback->comm, code);
    code = fallback_run(kind, fallback, state, call);
    if (code == 0 && operands.is_out_copy)
        memcpy(operands.out_wanted, call->out, operands.out_bytes);
    if (operands.is_out_copy || call->in != in)
        state_memory_trim(code);
    return code;
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    struct collective_call call = {.kind = COLLECTIVE_ALLREDUCE, .count = (size_t)count};
    const struct fallback fallback = {comm, {type, type}, op, {count, count}, NULL};
    size_t bytes = 0;

    TAKE_OVER(COLLECTIVE_ALLREDUCE, &fallback,
              count > 0 ? reduce(call.kind, &fallback, sendbuf, recvbuf, &call, &bytes) : 1,
              COLLECTIVE_ALLREDUCE, bytes, PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm));
}

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
               int root, MPI_Comm comm)
{
    struct collective_call call = {.kind = COLLECTIVE_REDUCE, .count = (size_t)count, .root = root};
    const struct fallback fallback = {comm, {type, type}, op, {count, count}, NULL};
    size_t bytes = 0;

    TAKE_OVER(COLLECTIVE_REDUCE, &fallback,
              count > 0 ? reduce(call.kind, &fallback, sendbuf, recvbuf, &call, &bytes) : 1,
              COLLECTIVE_REDUCE, bytes, PMPI_Reduce(sendbuf, recvbuf, count, type, op, root, comm));
}

int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm)
{
    struct collective_call call = {.kind = COLLECTIVE_REDUCE_SCATTER, .count = (size_t)recvcount};
    const struct fallback fallback = {comm, {type, type}, op, {recvcount, recvcount}, NULL};
    size_t bytes = 0;

    TAKE_OVER(COLLECTIVE_REDUCE_SCATTER, &fallback,
              recvcount > 0 ? reduce(call.kind, &fallback, sendbuf, recvbuf, &call, &bytes) : 1,
              COLLECTIVE_REDUCE_SCATTER, bytes,
              PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm));
}

int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                       MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct collective_call call = {.kind = COLLECTIVE_REDUCE_SCATTER};
    const struct fallback fallback = {comm, {type, type}, op, {0, 0}, recvcounts};
    size_t bytes = 0;

    TAKE_OVER(FALLBACK_REDUCE_SCATTER_V, &fallback,
              reduce(FALLBACK_REDUCE_SCATTER_V, &fallback, sendbuf, recvbuf, &call, &bytes),
              COLLECTIVE_REDUCE_SCATTER, bytes,
              PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm));
}
