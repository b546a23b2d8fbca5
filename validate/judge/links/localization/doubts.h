/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_DOUBTS_H
#define MUSTER_JUDGE_DOUBTS_H

#include "validate/judge/links/localization/localization.h"

/* What the findings of a localization leave in doubt when nobody is asked any more. Each changes
 * localization.findings. */

/* Where no suspect could be asked, paths in doubt that end at one rail cast doubt on that rail: its
 * node is not certified. */
void doubts_of_unasked(struct localization *localization);

/* Leaves out paths that a fault of an end explains, and where suspects were asked those that busy
 * machines may have made. is_asked_to_the_end: as often as may be. */
void doubts_drop(struct localization *localization, bool is_asked_to_the_end);

/* A path that was slow at times, and of which it is not known whether it is the path or an end:
 * neither end is certified, but where it is one of several, and of half, of the paths of the one
 * end, that one. Returns 0, or -1 when memory is out. */
int doubts_of_paths(struct localization *localization);

#endif
