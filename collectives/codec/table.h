/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_TABLE_H
#define MUSTER_CODEC_TABLE_H

#include "collectives/codec/bits.h"
#include "collectives/codec/path.h"

/* The frequencies of a block's symbols: finds, writes and reads them, and makes the tables of coder
 * and decoder from them. */

enum {
    /* the most bits that 256 frequencies take */
    CODEC_TABLE_BITS_MAX = 16 + 256 * 15,
};

/* Scales counts, of which at least two are not 0, to frequencies that add up to CODEC_SCALE. A
 * frequency is 0 only if the count is. Uses integers, so that all machines find the same. */
void codec_table_scale(const uint32_t counts[256], uint16_t frequencies[256]);

/* Whether the counted symbols are coded in less than `bits` bits; rounds their size up a little. */
bool codec_table_costs_less(const uint32_t counts[256], const uint16_t frequencies[256],
                            uint64_t bits);

void codec_table_write(const uint16_t frequencies[256], struct bits *bits);

/* Reads frequencies of symbols up to highest. Returns -1 if they are invalid or do not add up. */
int codec_table_read(struct bits *bits, unsigned highest, uint16_t frequencies[256]);

void codec_table_coder(const uint16_t frequencies[256], struct codec_coder *coder);

/* Sets table, for each value of a state's low 12 bits, to
 * symbol | frequency << 8 | (value - start) << 20. The frequencies add up to CODEC_SCALE and each
 * is below it. The last CODEC_TABLE_STEP entries are overwritten, too. */
void codec_table_expand(const uint16_t frequencies[256],
                        uint32_t table[CODEC_SCALE + CODEC_TABLE_STEP]);

/* The same for paths with vectors. Returns false if there are too many symbols, or too many cells
 * with more than two. */
bool codec_table_cells(const uint16_t frequencies[256], struct codec_cells *cells);

#endif
