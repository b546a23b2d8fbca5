/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PMPI_H
#define MUSTER_PMPI_H

/* The MPI functions that this library takes over, libmustercoll-pmpi(7). Decisions that all ranks
 * of a communicator must make alike depend only on arguments that MPI requires to be the same at
 * all of them: the communicator, type and operation of a reduction, the number of bytes moved. Each
 * rank handles everything else on its own, such as derived types of collectives that only move
 * bytes. */

/* Declares MPI's functions with default visibility, as a program sees them. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include "collectives/pmpi/state.h"
#include "collectives/pmpi/summary.h"

/* Buffers of state_memory(): input and output if the program's own buffers cannot be used, and
 * sizes for each rank. */
enum { MEMORY_IN, MEMORY_OUT, MEMORY_COUNTS };

/* Calls the communicator's error handler; returns code. */
static inline int pmpi_fail(MPI_Comm comm, int code)
{
    PMPI_Comm_call_errhandler(comm, code);
    return code;
}

/* Returns an array of `number` sizes in state_memory(); NULL: out of memory. */
static inline size_t *pmpi_counts(int number)
{
    return state_memory(MEMORY_COUNTS, (size_t)number * sizeof(size_t));
}

/* The body of each function that is taken over; it returns. MPI does the call, by the expression
 * mpi, if it did the same call last under this key, or if the expression ours is 1. kind and bytes
 * are for the summary. */
#define TAKE_OVER(key, fallback, ours, kind, bytes, mpi)                                           \
    do {                                                                                           \
        double begin_s;                                                                            \
        int code;                                                                                  \
                                                                                                   \
        if (fallback_was_last(key, fallback))                                                      \
            return mpi;                                                                            \
        code = ours;                                                                               \
        if (code != 1)                                                                             \
            return code;                                                                           \
        begin_s = state_has_summary() ? PMPI_Wtime() : 0;                                          \
        code = mpi;                                                                                \
        if (state_has_summary())                                                                   \
            summary_count(kind, MACHINE_MPI, bytes, PMPI_Wtime() - begin_s);                       \
        return code;                                                                               \
    } while (0)

#endif
