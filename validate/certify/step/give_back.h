/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_GIVE_BACK_H
#define MUSTER_CERTIFY_GIVE_BACK_H

#include "validate/certify/state/run.h"

/* With --idle, the nodes are given back once a job wants them. This ends the run as a signal does.
 */

/* Lists the jobs that wait for nodes (pending.h) and sets when they are listed again. *is_slow: the
 * controller takes too long to be asked as often as IdleGrace requires. Returns their number, or -1
 * with err, also if it is slow. */
int certify_pending_jobs(struct certify *certify, struct pending_job **jobs, bool *is_slow,
                         struct error *err);
/* Call it while the run waits. From time to time it lists the waiting jobs, and ends the run, by
 * certify_stop, if one of them could use its nodes or the controller is slow. Does nothing without
 * --idle. */
void certify_give_back_poll(struct certify *certify);
/* After a run that was stopped, by a signal or to give its nodes back: makes each node unknown that
 * is not decided about. What was seen so far is no verdict, as many nodes may have it alike. */
void certify_stop_end(struct certify *certify);

#endif
