/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_NODES_H
#define MUSTER_CERTIFY_NODES_H

#include "validate/certify/state/run.h"

/* Chooses the nodes that the run is about. Returns 0, or -1 with err where it cannot go on at all.
 */
int certify_select(struct certify *certify, struct error *err);
/* Waits for a slurmctld that is started again, or whose backup takes over, CERTIFY_CONTROLLER_S in
 * all of a run: before what decides about nodes for a whole night, if it does not answer just then.
 */
void certify_await(struct certify *certify);
/* A line on standard error about what a run left behind, this one or an earlier one: for undo.h and
 * retest.h. */
void certify_print_leftover(const char *text);

#endif
