/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_TABLE_H
#define MUSTER_CODEC_TABLE_H

#include "collectives/codec/bits.h"
#include "collectives/codec/path.h"

/* The frequencies of a block's symbols: how they are found, written, read and made into what coder
 * and decoder look up. */

enum {
    /* the most bits that 256 frequencies take */
    CODEC_TABLE_BITS_MAX = 16 + 256 * 15,
};

/* Scales counts, of which at least two are not 0, to frequencies that add up to CODEC_SCALE, none
 * of them 0 where the count is not. In integers, so that each machine finds the same. */
void codec_table_scale(const uint32_t counts[256], uint16_t frequencies[256]);

/* Whether the counted symbols become less than so many bits, which is rounded up a little. */
bool codec_table_costs_less(const uint32_t counts[256], const uint16_t frequencies[256],
                            uint64_t bits);

void codec_table_write(const uint16_t frequencies[256], struct bits *bits);

/* Reads frequencies of symbols up to highest; -1 when they are not such, or do not add up. */
int codec_table_read(struct bits *bits, unsigned highest, uint16_t frequencies[256]);

void codec_table_coder(const uint16_t frequencies[256], struct codec_coder *coder);

/* For each value of the low 12 bits of a state: symbol | frequency << 8 | (value - start) << 20.
 * The frequencies add up to CODEC_SCALE and each is below it. What follows these is written over.
 */
void codec_table_expand(const uint16_t frequencies[256],
                        uint32_t table[CODEC_SCALE + CODEC_TABLE_STEP]);

/* The same for paths with vectors; false when there are too many symbols, or too many cells with
 * more than two. */
bool codec_table_cells(const uint16_t frequencies[256], struct codec_cells *cells);

#endif
