/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_FREQUENT_H
#define MUSTER_CODEC_FREQUENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Symbols that paths with vectors count by comparing with each. */
enum { FREQUENT = 12 };

/* Looks at one symbol of sixteen for the FREQUENT most frequent, all different. False when there
 * are few symbols, or too many others for it to pay. */
bool frequent_choose(const uint8_t *symbols, size_t length, uint8_t frequent[FREQUENT]);

#endif
