/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_COMPARE_H
#define MUSTER_CERTIFY_COMPARE_H

#include "validate/certify/state/run.h"

/* Finds addresses that several nodes share, in the records since first. Such nodes are not
 * certified, but not at fault. Call it before other verdicts count. */
void certify_duplicates(struct certify *certify, size_t first);
/* Compares the facts of the nodes in the records since first. */
void certify_compare(struct certify *certify, size_t first);

#endif
