/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_LINKS_STAGE_H
#define MUSTER_CERTIFY_LINKS_STAGE_H

#include "validate/certify/state/run.h"

struct links;
struct localization;
/* Makes the nodes on a slow or lossy leaf switch unknown: none of them is certified. leaves: of the
 * nodes of links. record: why. */
void certify_leaf_doubt(struct certify *certify, const struct links *links, const int *leaves,
                        int leaf, const struct record *record);
/* Turns the findings of a completed localization into verdicts about nodes, notes, sums and lines
 * of certificates. first: the first record of the measurement. */
void certify_link_findings(struct certify *certify, const struct localization *localization,
                           size_t first);

/* Evaluates what rails and paths had to retransmit, by the records of a completed localization;
 * retests suspects. */
void certify_losses(struct certify *certify, struct localization *localization);
/* Evaluates the bandwidth of uplinks and halves while all their nodes used them, in the records
 * since first. figures: [count], of all rails, in Mb/s; NAN: not measured. */
void certify_sums(struct certify *certify, size_t first, const double *figures, size_t count);

#endif
