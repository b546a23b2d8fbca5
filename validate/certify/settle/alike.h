/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_ALIKE_H
#define MUSTER_CERTIFY_ALIKE_H

#include "validate/certify/state/run.h"

/* Makes the failures that many nodes have alike nobody's: to be called before anything is done to a
 * node. */
void certify_alike(struct certify *certify);
/* Reports each of these, as a line above the table and a record. Once. */
void certify_alike_report(struct certify *certify);

#endif
