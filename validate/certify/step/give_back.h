/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_GIVE_BACK_H
#define MUSTER_CERTIFY_GIVE_BACK_H

#include "validate/certify/state/run.h"

/* The nodes of --idle are given back once a job wants them, which ends the run as a signal does. */

/* The jobs that wait for nodes (pending.h), and when they are to be listed again. A controller that
 * takes long to list them is not to be asked as often as IdleGrace wants it: then is_slow. Returns
 * their number, or -1 with err. */
int certify_pending_jobs(struct certify *certify, struct pending_job **jobs, bool *is_slow,
                         struct error *err);
/* Called while the run waits: now and then lists the jobs that wait, and ends the run, by
 * certify_stop, for one that could have its nodes. Without --idle nothing is done. */
void certify_give_back_look(struct certify *certify);
/* After the end of a run that was stopped, by a signal or to give its nodes back: what was seen so
 * far is no verdict of any node that is not decided about, as many may have it alike. */
void certify_stop_end(struct certify *certify);

#endif
