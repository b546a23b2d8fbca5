/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_ACTIONS_H
#define MUSTER_CERTIFY_ACTIONS_H

#include "validate/certify/state/run.h"

/* Drains the nodes that stopped answering, within DrainCap, and notes that undo must set them down
 * after the job. A silent node keeps its job from ending. Setting the node down frees the other
 * nodes at once. */
void certify_drain_silent(struct certify *certify);
/* Lifts muster's own drains of these nodes, inside the run's reservation; each is first written to
 * the journal and to its node's Comment. A node stays drained, or is drained again by undo, and
 * becomes unknown if somebody else drained it meanwhile or requested its reboot or power-down, or
 * if Slurm refuses its registration, Comment or resume. A node that somebody resumed is tested as a
 * node in service. Returns 0, or -1 with err. */
int certify_drains_lift(struct certify *certify, const struct hostlist *names, struct error *err);

/* Decides about each node, once, and drains those that are to be drained, except those that
 * somebody else has drained meanwhile. Nodes that muster had drained and that passed are released
 * by certify_drains_release(), after the certificates are written. */
void certify_drains_decide(struct certify *certify);
void certify_drains_release(struct certify *certify);

#endif
