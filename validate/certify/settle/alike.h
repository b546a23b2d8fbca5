/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_ALIKE_H
#define MUSTER_CERTIFY_ALIKE_H

#include "validate/certify/state/run.h"

/* Excuses failures that many nodes share: no node is at fault. Call it before any action on a node.
 */
void certify_excuse_common(struct certify *certify);
/* Reports each excused failure as a line above the table and as a record. Call it once. */
void certify_report_common(struct certify *certify);

#endif
