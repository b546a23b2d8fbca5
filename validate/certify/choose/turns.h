/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_TURNS_H
#define MUSTER_CERTIFY_TURNS_H

#include "validate/certify/state/run.h"

/* Which nodes a run tests when not all may be, or need to be */
/* Leaves only those nodes in the run whose certificate is missing or ends soon, and partners. Where
 * the history cannot be read all are: a timer that fails at it lets all certificates end. */
void certify_due(struct certify *certify);
/* Leaves alone what other runs on this host test now and what is beyond TestCap, and tells other
 * runs of the rest. Returns 0, or -1 with err, also where another run does not let go of the lock:
 * two on one node would be measured against each other. */
int certify_take_turns(struct certify *certify, struct error *err);
/* Takes those that were certified out of the reservation in which nodes wait for that. */
void certify_leave_waiting(struct certify *certify);

#endif
