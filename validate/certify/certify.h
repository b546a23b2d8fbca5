/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_H
#define MUSTER_CERTIFY_H

#include "validate/certify/state/run.h"

/* One run, from its beginning to its report; returns its exit status. To be cleared. */
int certify_run(struct certify *certify, int argc, char **argv);
void certify_clear(struct certify *certify);

#endif
