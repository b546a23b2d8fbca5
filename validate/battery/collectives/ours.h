/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_OURS_H
#define MUSTER_BATTERY_OURS_H

#include "collectives/collective.h"
#include "validate/battery/collectives/cases.h"

/* The algorithms of collectives/, as routines beside MPI's own. */

/* Adds one routine per algorithm behind MPI's. */
void ours_add(void);

/* Sets the communicator's collectives up; all its ranks call it. */
void ours_open(struct comm *comm);
void ours_close(struct comm *comm);

/* A routine: a collective of its kind, by its algorithm or MPI's own. */
void ours_run(struct bench *bench);

/* MPI's own of that kind; count: of a block. */
void ours_run_mpi(const struct comm *comm, enum collective_kind kind, const void *in, void *out,
                  int count, MPI_Datatype type, MPI_Op op, int root);

/* Every kind of collective at a few sizes, MPI's and each algorithm of ours: the bus bandwidth, the
 * median over iterations of the slowest rank, for about seconds each. For information. wire: how
 * numbers travel in ours, as ours_check_wire() lets it pass; NULL: as they are. All ranks call it.
 */
void ours_measure(struct program *program, const struct comm *world, const char *wire,
                  double seconds, bool is_quick);

/* The name of a wire for float, or "auto": what this machine's figures say, which are measured
 * where none are kept. -1: it is none. */
int ours_check_wire(const char *name, struct error *err);

#endif
