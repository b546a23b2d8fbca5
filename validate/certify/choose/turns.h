/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_TURNS_H
#define MUSTER_CERTIFY_TURNS_H

#include "validate/certify/state/run.h"

/* Which nodes a run tests if not all may be, or need to be, tested. */
/* Reduces the run to the nodes whose certificate is missing or expires soon, and their partners. If
 * the history cannot be read, all count as due: a timer that failed here would let all certificates
 * expire. */
void certify_due(struct certify *certify);
/* Leaves alone the nodes that other runs test now and those beyond TestCap, and publishes the rest
 * to other runs on this host. Returns 0, or -1 with err, also if another run does not release the
 * lock: two runs on one node would measure each other. */
int certify_take_turns(struct certify *certify, struct error *err);
/* Removes the nodes that this run certified from the reservation in which nodes wait for a
 * certificate. */
void certify_leave_waiting(struct certify *certify);

#endif
