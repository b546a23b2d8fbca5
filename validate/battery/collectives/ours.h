/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_OURS_H
#define MUSTER_BATTERY_OURS_H

#include "collectives/collective.h"
#include "validate/battery/collectives/cases.h"

/* The algorithms of collectives/, as routines beside MPI's own. */

/* Adds one routine per algorithm after MPI's. */
void ours_add(void);

/* Sets the communicator's collectives up; all its ranks call it. */
void ours_open(struct comm *comm);
void ours_close(struct comm *comm);

/* The run() of a routine: its kind of collective, by its algorithm or MPI's own. */
void ours_run(struct bench *bench);

/* Runs MPI's own of that kind. count: of a block. */
void ours_run_mpi(const struct comm *comm, enum collective_kind kind, const void *in, void *out,
                  int count, MPI_Datatype type, MPI_Op op, int root);

/* Measures every kind of collective at a few sizes, by MPI and by each of our algorithms, for about
 * `seconds` each: the bus bandwidth, by the median over iterations of the time of the slowest rank.
 * For information. wire: the wire format of our algorithms, as ours_check_wire() accepts it; NULL:
 * as-is. All ranks call it. */
void ours_measure(struct program *program, const struct comm *world, const char *wire,
                  double seconds, bool is_quick);

/* Checks the name of a wire format for float. "auto" chooses one by the figures of this machine,
 * which are measured if none are kept. Returns 0, or -1 with err if the name is not one. */
int ours_check_wire(const char *name, struct error *err);

#endif
