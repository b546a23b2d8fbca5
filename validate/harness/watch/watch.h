/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_H
#define MUSTER_WATCH_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/constants/harness_constants.h"
#include "validate/harness/watch/heartbeat.h"

/* A rank that dies, freezes or hangs is a verdict with the node's name, not a hung command.
 *
 * MPI cannot be trusted for that, so every rank has a thread with a TCP connection to rank 0,
 * which sends a heartbeat every 200 ms: how far the main thread is and what it does. Rank 0's
 * thread, the monitor, notes
 *   - a connection that closes without a goodbye: the rank died;
 *   - no heartbeat for 3 s: the node is frozen or cut off;
 *   - heartbeats, but no progress of any rank: the job hangs, stall.h finds who holds it up;
 *   - the time limit;
 *   - a signal (SIGINT, SIGTERM) to any rank,
 * writes a record, sends all ranks home and ends the process. A rank that loses rank 0 leaves by
 * itself, within 3 s. The threads never call MPI, but for abort_job. One watch per process. */

struct watch_config {
    const char *program;
    int rank, size;
    const char *const *nodes; /* size names, the node of each rank */
    double time_limit_s;
    void (*abort_job)(void); /* ends the job by way of its launcher: MPI_Abort. May hang. */
    double patience_s;       /* no progress for so long is a hang; 0: 10 s, or half the limit */
};

/* Rank 0, with the socket and the endpoint of heartbeat_listen(). */
int watch_start_monitor(const struct watch_config *config, int listener,
                        const struct heartbeat_endpoint *endpoint, struct error *err);

/* Another rank, with the socket of heartbeat_connect(), or -1 when it has none and goes unwatched.
 */
int watch_start_member(const struct watch_config *config, int socket, struct error *err);

/* Rank 0: every rank has tried to connect by now; those that did not go unwatched, with a warning.
 */
void watch_all_joined(void);

/* The main thread begins another step; the text stays until the next phase. */
void watch_phase(const char *format, ...) __attribute__((format(printf, 1, 2)));
void watch_step(void);

/* The main thread is about to wait for a rank, for all (-1), or works again (watch_works()). */
void watch_waits_for(int rank);
void watch_works(void);

/* Rank 0: each rank has done its part and all results are out. A rank that dies from here on is
 * warned of, and nothing is said not to be measured. */
void watch_has_results(void);

/* Rank 0: true when less than margin_s of the time limit is left. */
bool watch_time_is_up(double margin_s);

/* The main thread cannot go on. A verdict is printed and the job ends; does not return. */
void watch_fault(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Rank 0: from now on a rank that dies, freezes or hangs is named in a record and given up, and the
 * job goes on; nobody may wait for MPI then. */
void watch_tolerate(void);

/* Whether that rank is given up. Every rank knows, soon after rank 0. */
bool watch_is_lost(int rank);

/* For a job that goes on without MPI. Rank 0 sends the others that all is done; they wait for that,
 * or for rank 0's end. watch_stop() comes next. */
void watch_send_over(void);
void watch_wait_over(void);

/* Rank 0, after watch_stop(): a rank was given up that is still there, frozen or hanging; the
 * launcher has to end the job. */
bool watch_needs_abort(void);

/* Calls abort_job in a thread, gives it one second, and ends the process with that status. */
void watch_abort(int status) __attribute__((noreturn));

/* The main thread is done, MPI is finalized. Waits until all ranks are, so that none ends, and has
 * its launcher end the others, before. */
void watch_stop(void);

#endif
