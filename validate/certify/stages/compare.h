/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_COMPARE_H
#define MUSTER_CERTIFY_COMPARE_H

#include "validate/certify/state/run.h"

/* Finds addresses that two nodes have among what they told since first: neither is certified, and
 * neither is at fault. To be called before other verdicts count. */
void certify_duplicates(struct certify *certify, size_t first);
/* Compares the facts that the nodes told since first. */
void certify_compare(struct certify *certify, size_t first);

#endif
