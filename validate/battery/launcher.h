/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LAUNCHER_H
#define MUSTER_LAUNCHER_H

#include <stddef.h>

/* What the launcher (srun, mpirun) tells a process, with or without MPI. */

/* Its number in the job before MPI can tell; 0 when there is no launcher. */
int launcher_rank(void);

/* This node's name: Slurm's, else the host's up to the first dot. */
void launcher_node(char *name, size_t size);

/* When this process began, in seconds since the epoch. */
double launcher_process_start(void);

/* A barrier of all processes by way of Slurm's PMIx server; does nothing elsewhere. To be called
 * after MPI_Init: with PMIx 4.2 the barrier at the end of Open MPI's MPI_Init holds on each node
 * for itself only (a fence that collects no data is local), and a message that reaches a process
 * which is still inside MPI_Init is a segmentation fault there (open-mpi/ompi issue 12495). */
void launcher_barrier(void);

#endif
