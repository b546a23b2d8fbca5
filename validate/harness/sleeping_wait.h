/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SLEEPING_WAIT_H
#define MUSTER_SLEEPING_WAIT_H

#include <mpi.h>

/* MPI operations that wait by sleeping, for everything that is not timed. MPI's own waits poll:
 * with few cores they take the processor from the rank that they wait for. These waits test MPI at
 * intervals of 1/64 of the time waited so far, 50 ms at most. They inform the watch; waits_for: as
 * in watch_waits_for(). */

void sleeping_wait(MPI_Request *request, int waits_for);
void sleeping_wait_all(MPI_Request *requests, MPI_Status *statuses, int count, int waits_for);

/* Point to point in MPI_COMM_WORLD. sleeping_receive() receives at most size_bytes, and returns the
 * number of bytes received. */
void sleeping_send(const void *data, int size_bytes, int rank, int tag);
int sleeping_receive(void *data, int size_bytes, int rank, int tag);

/* Collectives on comm through its rank 0, so that each rank connects to few others. If all ranks
 * connect to all, as in MPI_Iallgather, MPI may query the launcher's daemons for each address. */
void sleeping_barrier(MPI_Comm comm);
void sleeping_bcast(void *data, int size_bytes, int root, MPI_Comm comm);
/* Returns the minimum of `own` over all ranks, on all ranks. */
int sleeping_least(int own, MPI_Comm comm);
/* Reduces to rank 0. */
void sleeping_reduce(const void *own, void *result, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm);
/* size_bytes: of one rank; all: [ranks][size_bytes], 2 GiB at most. sleeping_gather() fills `all`
 * on rank 0 only. */
void sleeping_gather(const void *own, void *all, int size_bytes, MPI_Comm comm);
void sleeping_allgather(const void *own, void *all, int size_bytes, MPI_Comm comm);

#endif
