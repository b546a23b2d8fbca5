/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_ACTIONS_H
#define MUSTER_CERTIFY_ACTIONS_H

#include "validate/certify/state/run.h"

/* Drains the nodes that stopped answering, within DrainCap, and notes that the end of the job sets
 * them down. A job with such a node does not end; once the node is down, the others are free at
 * once. */
void certify_drain_silent(struct certify *certify);
/* Lifts muster's own drains of these nodes, inside the run's reservation; each is first written to
 * the journal and to its node's Comment. A node that somebody else has drained meanwhile, or wants
 * to reboot or to power down, or whose registration, Comment or resume Slurm refuses, stays drained
 * and is unknown; one that somebody has resumed is tested as any node in service. Returns 0, or -1
 * with err. */
int certify_drains_lift(struct certify *certify, const struct hostlist *names, struct error *err);

/* Decides about each node, once, and drains those that are to be drained, except those that
 * somebody else has drained meanwhile. Nodes that muster had drained and that passed are released
 * by certify_drains_release(), after the certificates are written. */
void certify_drains_decide(struct certify *certify);
void certify_drains_release(struct certify *certify);

#endif
