/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_RETEST_H
#define MUSTER_LOCALIZATION_RETEST_H

#include "validate/diagnose/screen.h"
#include "validate/localization/localization.h"

/* Measures those pairs, each once, by localization.measure(): a few one after the other, more in
 * rounds in which they do not disturb each other. Returns whether that ended well, with *first its
 * first record. */
bool retest_measure(const struct localization *localization, const struct node_pair *pairs,
                    size_t count, enum retest_passes passes, size_t *first);

#endif
