/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_LOSS_RETEST_H
#define MUSTER_LOCALIZATION_LOSS_RETEST_H

#include "validate/localization/losses/losses.h"
#include "validate/localization/localization.h"

/* What was lost by the records of a localization that is over. */
struct losses {
    struct loss_finding *findings;
    size_t count;
    const char *const *nodes, *const *rails; /* what the findings' indices are of */
};

/* Judges what was lost, and measures the rails that it is suspected of once more, with the
 * localization's measure(): each alone, by turns with a control pair, unless the localization's own
 * retests have shown enough of them. Sets localization.retests where it was the first to measure.
 * Returns 0, or -1 when memory is out; to be cleared in either case. */
int losses_hold(struct localization *localization, struct losses *losses);
void losses_clear(struct losses *losses);

/* FAIL, or UNKNOWN where a rail's loss was not confirmed or nothing but busy machines may have made
 * it. */
enum verdict losses_verdict(const struct loss_finding *finding);

#endif
