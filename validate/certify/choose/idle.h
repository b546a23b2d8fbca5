/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_IDLE_H
#define MUSTER_CERTIFY_IDLE_H

#include "validate/certify/state/run.h"

/* Reduces the run to idle nodes that no job waits for, those with the highest scores
 * (validate/policy/idle.h), and their partners. Returns 0, or -1 with err. */
int certify_idle(struct certify *certify, struct error *err);

#endif
