/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_HINTS_H
#define MUSTER_CERTIFY_HINTS_H

#include "validate/certify/state/run.h"
#include "validate/localization/findings/findings.h"

/* What a rail showed in its own last good runs, and the least that a reference expects of such
 * hardware. Both limits only warn. */
struct hints;

/* Collects the hints for the rails in the links records since first and in the host.config records.
 * If the history or the reference table cannot be read, or memory is out, that is reported and
 * nothing is known of any rail. Release with hints_close(). May return NULL. */
struct hints *hints_open(struct certify *certify, size_t first);
void hints_close(struct hints *hints);

/* Callbacks of struct localization. They leave the result unchanged if nothing is known. hints may
 * be NULL. */
void hints_recall(const struct hints *hints, const char *node, const char *rail,
                  struct history_figure *history);
void hints_refer(const struct hints *hints, const char *node, const char *rail,
                 struct reference_figure *reference);

#endif
