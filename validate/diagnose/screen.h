/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_SCREEN_H
#define MUSTER_DIAGNOSE_SCREEN_H

#include "validate/diagnose/parts.h"

/* Samples that shared uplinks are low for each other's sake as often as not. They only tell which
 * parts to measure alone: those whose samples rank lower among their like than chance has it. Pure.
 */

struct screen {
    struct node_pair *pairs; /* to be measured alone, the most telling first */
    size_t pair_count;
};

/* known: parts at fault; what passes them is explained. Returns 0, or -1 when memory is out; to be
 * cleared in either case. O(samples). */
int screen_make(const struct diagnose_network *network, const struct diagnose_sample *samples,
                size_t count, const struct part *known, size_t known_count, struct screen *screen);
void screen_clear(struct screen *screen);

#endif
