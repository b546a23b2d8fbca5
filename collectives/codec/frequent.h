/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_FREQUENT_H
#define MUSTER_CODEC_FREQUENT_H

#include "collectives/codec/codec.h"

/* Symbols that paths with vectors count many at a time. */
enum { FREQUENT = 16 };

/* Looks at one of 64 of count elements for the FREQUENT most frequent symbols, all different, in no
 * order. False when there are few elements, or too many others for it to pay. */
bool frequent_choose(enum codec_type type, const uint8_t *values, size_t count,
                     uint8_t frequent[FREQUENT]);

#endif
