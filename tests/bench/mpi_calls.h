/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BENCH_MPI_CALLS_H
#define MUSTER_BENCH_MPI_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* MPI's own collectives and the timing of loops of calls. Uses MPI only, so that it can be built
 * with another MPI, too. */

enum { MPI_CALL_ROUNDS = 7, MPI_CALL_KINDS = 6 };

/* The index of a collective by its name: "allreduce", "reduce-scatter", "all-gather", "broadcast",
 * "reduce", "all-to-all", in this order from 0; -1: no such name. */
int mpi_call_find(const char *kind);

/* Whether the collective has one block per rank; its size is then that of all blocks. */
bool mpi_call_has_blocks(int kind);

/* Calls the collective with count floats, in a block if it has blocks; sums, root 0. Returns the
 * status of MPI. */
int mpi_call(int kind, MPI_Comm comm, void *in, void *out, int count);

/* Allocates bytes, a multiple of 64, aligned to 64, filled with floats from -1 to 1. free() it.
 * Aborts if memory is out. */
void *mpi_call_numbers(size_t bytes);

/* Keeps all ranks busy for a second; call it before anything is timed. The host may run the
 * processors of an idle virtual machine close together, and moves them apart once all of them are
 * busy, as they are in a real program. */
void mpi_call_settle(void);

/* One call of what is timed. */
typedef void mpi_call_fn(void *context);

/* Times `calls` calls without barriers between them, after `before` calls that are not timed.
 * Returns us per call of the slowest rank. Use before == calls if other code ran before, which
 * filled the caches. */
double mpi_call_time_us(mpi_call_fn *run, void *context, int before, int calls);

/* The number of calls that a loop should have if one call takes once_us. */
int mpi_call_loop(double once_us);

/* Sets *value to the number at `at`, in a list of numbers separated by commas. Returns the next
 * one, NULL after the last. */
const char *mpi_call_next_size(const char *at, size_t *value);

/* Prints a line "KIND BYTES NAME US ...", with the us of each round. Rank 0 calls it. */
void mpi_call_print(const char *kind, size_t bytes, const char *name,
                    const double us[MPI_CALL_ROUNDS]);

#endif
