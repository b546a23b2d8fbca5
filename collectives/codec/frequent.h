/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_FREQUENT_H
#define MUSTER_CODEC_FREQUENT_H

#include "collectives/codec/codec.h"

/* The number of symbols that paths with vectors count many at a time. */
enum { FREQUENT = 16 };

/* Finds the FREQUENT most frequent symbols, all different, in no order, from one of 64 of count
 * elements. Returns false if elements are few, or other symbols too many for it to pay. */
bool frequent_choose(enum codec_type type, const uint8_t *values, size_t count,
                     uint8_t frequent[FREQUENT]);

#endif
