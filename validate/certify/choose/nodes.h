/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_NODES_H
#define MUSTER_CERTIFY_NODES_H

#include "validate/certify/state/run.h"

/* Selects the nodes of the run. Returns 0, or -1 with err if the run cannot go on at all. */
int certify_select(struct certify *certify, struct error *err);
/* Waits until slurmctld answers, as during its restart or until its backup takes over; at most
 * CERTIFY_CONTROLLER_S in total per run. Call it before a step that decides about nodes for a whole
 * night. */
void certify_await(struct certify *certify);
/* Prints a line on standard error about what this or an earlier run left behind. A callback for
 * undo.h and retest.h. */
void certify_report_leftover(const char *text);

#endif
