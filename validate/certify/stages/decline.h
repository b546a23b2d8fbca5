/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_DECLINE_H
#define MUSTER_CERTIFY_DECLINE_H

#include "validate/certify/state/run.h"

/* Warns about the stage's figures, in the records since first, that are below what their part
 * showed in its last good runs on the same hardware. is_figure: whether a record is a figure, which
 * has node, part, metric, unit and a finite value. */
void certify_decline(struct certify *certify, enum stage stage, size_t first,
                     bool (*is_figure)(const struct record *record));

#endif
