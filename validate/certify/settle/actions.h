/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_ACTIONS_H
#define MUSTER_CERTIFY_ACTIONS_H

#include "validate/certify/state/run.h"

/* Drains those that stopped answering, inside the cap, and notes that the end of the job sets them
 * down: a job with such a node does not end, and without it the others are free at once. */
void certify_drop_silent(struct certify *certify);
/* Lifts the drains of ours among those nodes, inside the reservation of the run; each is in the
 * journal and in its node's Comment before. A node that somebody else has drained meanwhile stays
 * so, and is unknown; one that somebody has resumed is tested as any other in service. Returns 0,
 * or -1 with err. */
int certify_drains_lift(struct certify *certify, const struct hostlist *names, struct error *err);

/* Decides about all nodes, once, and drains those that are to be drained, but for those that
 * somebody else has drained by now; drains of ours whose node passed are released when the
 * certificates are written. */
void certify_drains_decide(struct certify *certify);
void certify_drains_release(struct certify *certify);

#endif
