/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BENCH_MPI_CALLS_H
#define MUSTER_BENCH_MPI_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* MPI's own collectives and how loops of calls are timed, for programs that know MPI alone: they
 * are built with another MPI too. */

enum { MPI_CALL_ROUNDS = 7, MPI_CALL_KINDS = 6 };

/* A number of "allreduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "all-to-all", in
 * this order from 0 up; -1: none. */
int mpi_call_find(const char *kind);

/* Whether its size counts one block per rank. */
bool mpi_call_has_blocks(int kind);

/* On count floats, a block's where there are such; sums, root 0. Returns what MPI does. */
int mpi_call(int kind, MPI_Comm comm, void *in, void *out, int count);

/* Memory of so many bytes, a multiple of 64, aligned to 64, full of floats from -1 to 1. free() it.
 */
void *mpi_call_numbers(size_t bytes);

/* A second of work at all ranks, before anything is timed: the processors of a virtual machine are
 * near each other after they were idle, and apart once all of them are busy, as a program's are. */
void mpi_call_settle(void);

/* Something to time: once. */
typedef void mpi_call_fn(void *context);

/* `calls` calls without barriers between them: us a call, of the rank that takes longest. After
 * `before` that are not timed: as many, where what ran before has left caches to itself. */
double mpi_call_time_us(mpi_call_fn *run, void *context, int before, int calls);

/* How many calls a loop should have whose one call takes so long. */
int mpi_call_loop(double once_us);

/* What follows `at` in numbers with commas; *value gets the number. NULL: it was the last. */
const char *mpi_call_next_size(const char *at, size_t *value);

/* A line of rank 0: "KIND BYTES NAME US ...", a figure for each round. */
void mpi_call_print(const char *kind, size_t bytes, const char *name,
                    const double us[MPI_CALL_ROUNDS]);

#endif
