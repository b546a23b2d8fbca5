/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/pmpi/pmpi.h"

#include <stdint.h>
#include <string.h>

#include "collectives/pmpi/fallback.h"
#include "collectives/pmpi/types.h"

/* A reduction's buffers, aligned to their elements; where the program's are not, a copy. */
struct operands {
    size_t in_bytes, out_bytes;
    void *out_wanted; /* where the program wants out */
    bool is_out_copy;
};

static bool is_aligned(const void *pointer, size_t bytes)
{
    return (uintptr_t)pointer % bytes == 0;
}

/* Sets call->in and ->out. in == out is in place. */
static int take_operands(const void *in, void *out, size_t in_count, size_t out_count,
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

/* Runs it: as fallback_run(). */
static int reduce(int kind, const struct fallback *fallback, struct state_comm *state,
                  const void *in, void *out, size_t in_count, size_t out_count,
                  struct collective_call *call)
{
    struct operands operands;
    int code = take_operands(in, out, in_count, out_count, call, &operands);

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
    struct state_comm *state = NULL;
    int code = 1;

    if (fallback_was_last(call.kind, &fallback))
        return PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
    if (count > 0 && types_find(type, op, &call.type, &call.op))
        state = state_comm(comm);
    if (state != NULL)
        code = reduce(call.kind, &fallback, state, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf,
                      recvbuf, call.count, call.count, &call);
    if (code == 1)
        LEAVE_TO_MPI(COLLECTIVE_ALLREDUCE,
                     state != NULL ? call.count * element_bytes(call.type) : 0,
                     PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm));
    return code;
}

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
               int root, MPI_Comm comm)
{
    struct collective_call call = {.kind = COLLECTIVE_REDUCE, .count = (size_t)count, .root = root};
    const struct fallback fallback = {comm, {type, type}, op, {count, count}, NULL};
    struct state_comm *state = NULL;
    int code = 1;

    if (fallback_was_last(call.kind, &fallback))
        return PMPI_Reduce(sendbuf, recvbuf, count, type, op, root, comm);
    if (count > 0 && types_find(type, op, &call.type, &call.op))
        state = state_comm(comm);
    if (state != NULL && root >= 0 && root < state->ranks) {
        bool is_root = state->rank == root;

        code = reduce(call.kind, &fallback, state,
                      is_root && sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf,
                      is_root ? recvbuf : NULL, call.count, is_root ? call.count : 0, &call);
    }
    if (code == 1)
        LEAVE_TO_MPI(COLLECTIVE_REDUCE, state != NULL ? call.count * element_bytes(call.type) : 0,
                     PMPI_Reduce(sendbuf, recvbuf, count, type, op, root, comm));
    return code;
}

int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm)
{
    struct collective_call call = {.kind = COLLECTIVE_REDUCE_SCATTER, .count = (size_t)recvcount};
    const struct fallback fallback = {comm, {type, type}, op, {recvcount, recvcount}, NULL};
    struct state_comm *state = NULL;
    size_t all = 0;
    int code = 1;

    if (fallback_was_last(call.kind, &fallback))
        return PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm);
    if (recvcount > 0 && types_find(type, op, &call.type, &call.op))
        state = state_comm(comm);
    if (state != NULL) {
        all = call.count * (size_t)state->ranks;
        code = reduce(call.kind, &fallback, state, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf,
                      recvbuf, all, call.count, &call);
    }
    if (code == 1)
        LEAVE_TO_MPI(COLLECTIVE_REDUCE_SCATTER, all * element_bytes(call.type),
                     PMPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm));
    return code;
}

int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                       MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct collective_call call = {.kind = COLLECTIVE_REDUCE_SCATTER};
    const struct fallback fallback = {comm, {type, type}, op, {0, 0}, recvcounts};
    struct state_comm *state = NULL;
    size_t all = 0, *counts;
    int code = 1;

    if (fallback_was_last(FALLBACK_REDUCE_SCATTER_V, &fallback))
        return PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm);
    if (types_find(type, op, &call.type, &call.op))
        state = state_comm(comm);
    for (int rank = 0; state != NULL && rank < state->ranks; rank++) {
        if (recvcounts[rank] < 0) /* an error, which MPI tells */
            state = NULL;
        else
            all += (size_t)recvcounts[rank];
    }
    if (state != NULL && all > 0) {
        counts = pmpi_counts(state->ranks);
        if (counts == NULL)
            return pmpi_fail(comm, MPI_ERR_NO_MEM);
        for (int rank = 0; rank < state->ranks; rank++)
            counts[rank] = (size_t)recvcounts[rank];
        call.counts = counts;
        code = reduce(FALLBACK_REDUCE_SCATTER_V, &fallback, state,
                      sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, recvbuf, all,
                      counts[state->rank], &call);
    }
    if (code == 1)
        LEAVE_TO_MPI(COLLECTIVE_REDUCE_SCATTER, all * element_bytes(call.type),
                     PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm));
    return code;
}
