/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PMPI_H
#define MUSTER_PMPI_H

/* MPI's functions that this library takes over, libmustercoll-pmpi(7). What all ranks of a
 * communicator decide alike, they decide by what MPI makes them all give alike: the communicator,
 * type and operation of a reduction, how many bytes are moved. Everything else, derived types of
 * collectives that only move bytes among them, is dealt with by each rank on its own. */

/* As those functions are seen by a program. */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include "collectives/pmpi/state.h"
#include "collectives/pmpi/summary.h"

/* Of state_memory(): what goes in and out where the program's own buffers cannot be used, and sizes
 * for each rank. */
enum { MEMORY_IN, MEMORY_OUT, MEMORY_COUNTS };

/* Tells the communicator's error handler; returns code. */
static inline int pmpi_fail(MPI_Comm comm, int code)
{
    PMPI_Comm_call_errhandler(comm, code);
    return code;
}

/* [number] sizes; NULL: out of memory. */
static inline size_t *pmpi_counts(int number)
{
    return state_memory(MEMORY_COUNTS, (size_t)number * sizeof(size_t));
}

/* The body of each, which returns: MPI does what it did last of the key, and what is not ours: ours
 * is 1. kind and bytes: for the summary. */
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
