/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_H
#define MUSTER_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/constants/harness_constants.h"
#include "validate/harness/watch/heartbeat.h"

/* Turns a rank that dies, freezes or hangs into a verdict with the node's name, not a hung command.
 *
 * MPI cannot be trusted for this. So every rank has a thread with a TCP connection to rank 0, which
 * sends a heartbeat every 200 ms: the progress and the phase of the main thread. Rank 0's thread,
 * the monitor, detects
 *   - a connection that closes without a goodbye: the rank died;
 *   - no heartbeat for 3 s: the node is frozen or cut off;
 *   - heartbeats, but no progress of any rank: the job hangs, stall.h finds the faulty ranks;
 *   - the time limit;
 *   - a signal (SIGINT, SIGTERM) to any rank,
 * writes a record, orders all ranks to quit, and ends the process. A rank that loses rank 0 ends by
 * itself, within 3 s. Except abort_job, the threads never call MPI. One watch per process. */

struct watch_config {
    const char *program;
    int rank, size;
    const char *const *nodes; /* size names, the node of each rank */
    double time_limit_s;
    void (*abort_job)(void); /* ends the job through its launcher: MPI_Abort. May hang. */
    double patience_s;       /* no progress for so long is a hang; 0: 10 s, or half the limit */
};

/* Starts the watch of rank 0, with the socket and the endpoint of heartbeat_listen(). Returns 0, or
 * -1 with err. */
int watch_start_monitor(const struct watch_config *config, int listener,
                        const struct heartbeat_endpoint *endpoint, struct error *err);

/* Starts the watch of another rank, with the socket of heartbeat_connect(), or -1 if there is none:
 * the rank is not monitored then. Returns 0, or -1 with err. */
int watch_start_member(const struct watch_config *config, int socket, struct error *err);

/* Rank 0: every rank has tried to connect by now. The monitor warns of ranks that did not connect.
 */
void watch_all_joined(void);

/* The main thread begins a new phase or step. The text is kept until the next phase. */
void watch_phase(const char *format, ...) __attribute__((format(printf, 1, 2)));
void watch_step(void);

/* The main thread is about to wait for a rank, or for all (-1); watch_works(): it works again. */
void watch_waits_for(int rank);
void watch_works(void);

/* Rank 0: all ranks are done and all results are printed. From now on the death of a rank is only a
 * warning, and no record reports missing measurements. */
void watch_has_results(void);

/* Rank 0: whether less than margin_s of the time limit is left. */
bool watch_time_is_up(double margin_s);

/* The main thread cannot continue. Prints a verdict and ends the job; does not return. */
void watch_fault(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* The main thread: returns zeroed memory for the elements, to be freed. Ends as watch_fault() does
 * if there is none. */
void *watch_allocate(size_t count, size_t size);

/* Rank 0: from now on a rank that dies, freezes or hangs is reported and given up, and the job
 * continues. No rank may wait in MPI from then on. */
void watch_tolerate_losses(void);

/* Whether the rank is given up. Every rank knows it soon after rank 0. */
bool watch_is_lost(int rank);

/* For a job that continues without MPI. Rank 0 informs the other ranks that all is done; they wait
 * for this message, or for the end of rank 0. Call watch_stop() next. */
void watch_send_finished(void);
void watch_wait_finished(void);

/* Rank 0, after watch_stop(): whether the launcher has to end the job, since the process of a rank
 * that was given up still exists: it is frozen. */
bool watch_needs_abort(void);

/* Calls abort_job in a thread, waits one second, and ends the process with the status. */
void watch_abort(int status) __attribute__((noreturn));

/* The main thread is done, and MPI is finalized. Waits until all ranks are done: if one rank ended
 * earlier, its launcher would end the others. */
void watch_stop(void);

#endif
