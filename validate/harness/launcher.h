/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LAUNCHER_H
#define MUSTER_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

/* What a process knows from its launcher (srun, mpirun), with or without MPI. */

/* Whether it has started this process as one of an MPI job's. */
bool launcher_has_mpi(void);

/* Its rank before MPI is up; 0 when there is no launcher. */
int launcher_rank(void);

/* How many there are; 1 when there is no launcher. */
int launcher_size(void);

/* When this process began, in seconds since the epoch. */
double launcher_process_start(void);

/* A barrier of all processes by way of Slurm's PMIx server; does nothing elsewhere. To be called
 * after MPI_Init: with PMIx 4.2 the barrier at the end of Open MPI's MPI_Init holds on each node
 * for itself only (a fence that collects no data is local), and a message that reaches a process
 * which is still inside MPI_Init is a segmentation fault there (open-mpi/ompi issue 12495). */
void launcher_barrier(void);

/* A job that goes on after MPI_Finalize, where the death of a process no longer ends it: with MPI
 * up Slurm kills the step of a process that dies. To be called before MPI_Finalize.
 * stays_connected: this process remains the launcher's (PMIx counts its users), and its death ends
 * the job; for the one that may call launcher_abort() and must call launcher_release(). */
void launcher_keep(bool stays_connected);

/* Asks the launcher to end the job, processes that are frozen too; does nothing without PMIx. May
 * block. */
void launcher_abort(int status);

void launcher_release(void);

#endif
