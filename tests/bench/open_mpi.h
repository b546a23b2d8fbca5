/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BENCH_OPEN_MPI_H
#define MUSTER_BENCH_OPEN_MPI_H

#include <mpi.h>

/* Open MPI's own collectives by any of the algorithms of its component coll_tuned, all in one
 * program and so in the same state of the machine as what they are compared with. The variables
 * coll_tuned_COLLECTIVE_algorithm are settable (MPI_T, MPI 3.1, chapter 14) and read when a
 * communicator is made, if the program was started with
 * OMPI_MCA_coll_tuned_use_dynamic_rules=1. */

/* How many algorithms there are for a kind of mpi_call_find(), from 1 up; 0: this MPI does not say.
 */
int open_mpi_algorithms(int kind);

/* Open MPI's own word for it, into name[size]. */
void open_mpi_name(int kind, int algorithm, char *name, int size);

/* A duplicate of MPI_COMM_WORLD on which each collective takes this algorithm, or its last one
 * where it has fewer; errors are returned. MPI_Comm_free() it. */
MPI_Comm open_mpi_comm(int algorithm);

#endif
