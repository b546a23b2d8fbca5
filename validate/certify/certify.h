/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_H
#define MUSTER_CERTIFY_H

#include "validate/certify/state/run.h"

/* Performs one run, from its beginning to its report. Returns the exit status. Release certify with
 * certify_clear(). */
int certify_run(struct certify *certify);
void certify_clear(struct certify *certify);

#endif
