/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_SUSPECTS_H
#define MUSTER_CERTIFY_SUSPECTS_H

#include "validate/certify/state/run.h"

/* Reads the claims on those subjects that are free, and the strikes of earlier runs, notes each,
 * and leaves among the subjects only those that one is about and a few partners. Returns 0, or -1
 * with err. */
int certify_suspects(struct certify *certify, struct error *err);
/* Leaves only the wanted among the subjects, and a few of the others as partners: one on each leaf
 * switch that has a wanted one, and enough. */
void certify_keep(struct certify *certify, const struct hostlist *others,
                  const struct hostlist *wanted);
/* Takes away the claims about nodes that were tested, if any are known, from all in the job. */
void certify_consume(struct certify *certify);

#endif
