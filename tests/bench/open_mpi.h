/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BENCH_OPEN_MPI_H
#define MUSTER_BENCH_OPEN_MPI_H

#include <mpi.h>

/* Runs Open MPI's collectives with each of the algorithms of its component coll_tuned, all in one
 * program and so in the same state of the machine as the collectives they are compared with. The
 * program sets the variables coll_tuned_COLLECTIVE_algorithm (MPI_T, MPI 3.1, chapter 14). Open MPI
 * reads them when a communicator is made, if the program was started with
 * OMPI_MCA_coll_tuned_use_dynamic_rules=1. */

/* The number of algorithms for a kind of mpi_call_find(); they are numbered from 1. 0: unknown to
 * this MPI. */
int open_mpi_algorithms(int kind);

/* Sets name to Open MPI's name of the algorithm, "" if it has none. */
void open_mpi_name(int kind, int algorithm, char *name, int size);

/* Duplicates MPI_COMM_WORLD. On the new communicator each collective uses this algorithm, or its
 * last one if it has fewer, and returns errors. MPI_Comm_free() it. */
MPI_Comm open_mpi_comm(int algorithm);

#endif
