/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCHDOG_H
#define MUSTER_WATCHDOG_H

/* A time limit for the start of MPI. Until the watch is up (watch.h) a rank can wait forever: if a
 * process dies before it connects to the launcher's PMIx server, neither Slurm nor MPI informs the
 * other ranks, which stay in the first fence of MPI_Init. Only rank 0 prints a record. Its verdict
 * is unknown, because the missing rank cannot be known here. */

/* Returns how long MPI's start may take in a job of `size` ranks that all have a processor. */
double watchdog_limit_s(double time_limit_s, int size);

/* Called by the main thread, before MPI_Init. abort_job ends the job through its launcher once MPI
 * is up; it may hang. Time that the main thread waits in a run queue is added to the limit, up to
 * time_limit_s. After the limit the process ends with status 3, rank 0 first. */
void watchdog_start(double time_limit_s, void (*abort_job)(void));

/* Notes that MPI_Init has returned. */
void watchdog_has_mpi(void);

/* Ends the watchdog: the watch is up. */
void watchdog_stop(void);

/* Calls abort_job, if not NULL, in a thread, waits one second, and ends the process. */
void watchdog_leave(void (*abort_job)(void), int status) __attribute__((noreturn));

#endif
