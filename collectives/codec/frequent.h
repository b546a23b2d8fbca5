/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_FREQUENT_H
#define MUSTER_CODEC_FREQUENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Symbols that paths with vectors count many at a time. */
enum { FREQUENT = 16 };

/* Looks at one symbol of 64 for the FREQUENT most frequent, all different, in no order. False when
 * there are few symbols, or too many others for it to pay. */
bool frequent_choose(const uint8_t *symbols, size_t length, uint8_t frequent[FREQUENT]);

#endif
