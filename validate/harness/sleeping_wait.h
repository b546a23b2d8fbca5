/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SLEEPING_WAIT_H
#define MUSTER_SLEEPING_WAIT_H

#include <mpi.h>

/* Waits of what is not timed. They sleep; MPI's own poll, and take the processor from the rank that
 * is waited for where cores are few. They test MPI at intervals of a 64th of the time waited, 50 ms
 * at most. The watch knows who is waited for; waits_for as in watch_waits_for(). */

void sleeping_wait(MPI_Request *request, int waits_for);
void sleeping_wait_all(MPI_Request *requests, MPI_Status *statuses, int count, int waits_for);

/* In MPI_COMM_WORLD; size_bytes: of what is received, at most. Returns how many came. */
void sleeping_send(const void *data, int size_bytes, int rank, int tag);
int sleeping_receive(void *data, int size_bytes, int rank, int tag);

/* Of all ranks of comm, by way of its rank 0: so each rank connects to a few others. Where all
 * connect to all, as in MPI_Iallgather, MPI may ask the launcher's daemons for each address. */
void sleeping_barrier(MPI_Comm comm);
void sleeping_bcast(void *data, int size_bytes, int root, MPI_Comm comm);
/* The least of what all have; all know it. */
int sleeping_least(int own, MPI_Comm comm);
/* To rank 0. */
void sleeping_reduce(const void *own, void *result, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm);
/* size_bytes: of one rank; all: [ranks], 2 GiB at most. gather: of rank 0 alone. */
void sleeping_gather(const void *own, void *all, int size_bytes, MPI_Comm comm);
void sleeping_allgather(const void *own, void *all, int size_bytes, MPI_Comm comm);

#endif
