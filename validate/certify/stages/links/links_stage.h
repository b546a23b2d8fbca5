/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_LINKS_STAGE_H
#define MUSTER_CERTIFY_LINKS_STAGE_H

#include "validate/certify/state/run.h"

struct localization;
/* What the localization, which is over, found becomes verdicts about nodes, notes, sums
 * and lines of certificates. first: the first record of the measurement */
void certify_link_findings(struct certify *certify, const struct localization *localization,
                           size_t first);

/* What rails and paths had to send again, by the records of the localization, which is
 * over; measures suspects again. */
void certify_losses(struct certify *certify, struct localization *localization);
/* Whether that rail of that node failed there. */
bool certify_is_lossy(const struct certify *certify, const char *node, const char *rail);
/* Whether packets between the two were lost there, by their path or the uplink that it passes. */
bool certify_is_lossy_between(const struct certify *certify, const char *const nodes[2],
                              const char *rail);
/* Judges what uplinks and halves carried when all their nodes used them, among the
 * records since first; figures: of all rails, NAN where not measured */
void certify_sums(struct certify *certify, size_t first, const double *figures, size_t count);

#endif
