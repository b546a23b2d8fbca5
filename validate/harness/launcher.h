/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LAUNCHER_H
#define MUSTER_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

/* What a process knows from its launcher (srun, mpirun), with or without MPI. */

/* Whether the launcher started this process as a rank of an MPI job. */
bool launcher_has_mpi(void);

/* Returns the rank of this process, before MPI is up; 0 without a launcher. */
int launcher_rank(void);

/* Returns the number of ranks that the launcher started; 1 without a launcher. */
int launcher_size(void);

/* Returns the start time of this process, in seconds since the epoch. */
double launcher_process_start(void);

/* A barrier of all processes through Slurm's PMIx server; does nothing elsewhere. Call it after
 * MPI_Init: with PMIx 4.2 the barrier at the end of Open MPI's MPI_Init covers only each node by
 * itself (a fence that collects no data is local). A process that receives a message inside
 * MPI_Init then has a segmentation fault (open-mpi/ompi issue 12495). */
void launcher_barrier(void);

/* For a job that continues after MPI_Finalize: from then on the death of a process does not end the
 * job (while MPI is up, Slurm kills the step of a process that dies). Call it before MPI_Finalize.
 * stays_connected: this process stays a PMIx client (PMIx_Init is counted), so its death ends the
 * job. Only this process may call launcher_abort(), and it must call launcher_release(). */
void launcher_keep(bool stays_connected);

/* Asks the launcher to end the job, including frozen processes; does nothing without PMIx. May
 * block. */
void launcher_abort(int status);

/* Ends the PMIx connection that launcher_keep() kept, if any. */
void launcher_release(void);

#endif
