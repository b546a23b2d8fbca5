/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_HINTS_H
#define MUSTER_CERTIFY_HINTS_H

#include "validate/certify/state/run.h"
#include "validate/localization/findings/findings.h"

/* What a rail showed in its own last good runs, and what others take for the least on such
 * hardware: the judge's gates that only warn. */
struct hints;

/* Of all rails that records of the links speak of since first. A history or a table that cannot be
 * read is said, and then says nothing of any rail; nor where memory is out, which is noted. To be
 * closed; may be NULL. */
struct hints *hints_open(struct certify *certify, size_t first);
void hints_close(struct hints *hints);

/* For struct localization; leave the answer as it is when nothing is known. hints may be NULL. */
void hints_recall(const struct hints *hints, const char *node, const char *rail,
                  struct history_figure *history);
void hints_refer(const struct hints *hints, const char *node, const char *rail,
                 struct reference_figure *reference);

#endif
