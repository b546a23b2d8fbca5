/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_IDLE_H
#define MUSTER_CERTIFY_IDLE_H

#include "validate/certify/state/run.h"

/* Leaves only those nodes in the run that are idle, that no job waits for, and whose score
 * (validate/policy/idle.h) is highest, and partners. Returns 0, or -1 with err. */
int certify_idle(struct certify *certify, struct error *err);

#endif
