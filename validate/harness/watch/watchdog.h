/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCHDOG_H
#define MUSTER_WATCHDOG_H

/* MPI's start has a limit of its own. Until the watch is up (watch.h) a rank can wait for ever:
 * when a process dies before it has connected to the launcher's PMIx server, neither Slurm nor MPI
 * informs the others, which stay in MPI_Init's first fence. Only rank 0 prints a record, of verdict
 * unknown: which rank is missing cannot be known here. */

/* How long MPI's start may take in a job of so many ranks, where all have a processor. */
double watchdog_limit_s(double time_limit_s, int size);

/* By the main thread, before MPI_Init. abort_job ends the job by way of its launcher once MPI is
 * up; it may hang. Time that the main thread waits in a run queue is added to the limit, which
 * time_limit_s bounds. After the limit the process ends with status 3, rank 0's first. */
void watchdog_start(double time_limit_s, void (*abort_job)(void));

/* MPI_Init has returned. */
void watchdog_has_mpi(void);

/* The watch is up. */
void watchdog_stop(void);

/* Calls abort_job (NULL: none) in a thread, gives it one second, and ends the process. */
void watchdog_leave(void (*abort_job)(void), int status) __attribute__((noreturn));

#endif
