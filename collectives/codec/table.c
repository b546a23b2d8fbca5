/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/table.h"

/* The symbols that occur, in order. */
struct used {
    unsigned count;
    uint8_t symbols[256];
};

static void find_used(const uint32_t counts[256], struct used *used)
{
    used->count = 0;
    for (unsigned s = 0; s < 256; s++) {
        used->symbols[used->count] = (uint8_t)s;
        used->count += counts[s] > 0;
    }
}

/* The symbol that loses least if its frequency f is lowered by one, among those with f above 1: the
 * cost of its c occurrences rises by about c / f. */
static unsigned cheapest_to_lower(const struct used *used, const uint32_t counts[256],
                                  const uint16_t frequencies[256])
{
    unsigned best = 256;

    for (unsigned i = 0; i < used->count; i++) {
        unsigned s = used->symbols[i];

        if (frequencies[s] > 1 && (best == 256 || (uint64_t)counts[s] * frequencies[best] <
                                                      (uint64_t)counts[best] * frequencies[s]))
            best = s;
    }
    return best;
}

static unsigned best_to_raise(const struct used *used, const uint32_t counts[256],
                              const uint16_t frequencies[256])
{
    unsigned best = used->symbols[0];

    for (unsigned i = 1; i < used->count; i++) {
        unsigned s = used->symbols[i];

        if ((uint64_t)counts[s] * frequencies[best] > (uint64_t)counts[best] * frequencies[s])
            best = s;
    }
    return best;
}

void codec_table_scale(const uint32_t counts[256], uint16_t frequencies[256])
{
    struct used used;
    uint64_t total = 0;
    int sum = 0;

    find_used(counts, &used);
    memset(frequencies, 0, 256 * sizeof *frequencies);
    for (unsigned i = 0; i < used.count; i++)
        total += counts[used.symbols[i]];
    for (unsigned i = 0; i < used.count; i++) {
        unsigned s = used.symbols[i];
        uint64_t scaled = ((uint64_t)counts[s] * 2 * CODEC_SCALE + total) / (2 * total);

        /* at least two symbols occur: none may have all of the scale */
        frequencies[s] = (uint16_t)(scaled == 0                ? 1
                                    : scaled > CODEC_SCALE - 1 ? CODEC_SCALE - 1
                                                               : scaled);
        sum += frequencies[s];
    }
    for (; sum > CODEC_SCALE; sum--)
        frequencies[cheapest_to_lower(&used, counts, frequencies)]--;
    for (; sum < CODEC_SCALE; sum++)
        frequencies[best_to_raise(&used, counts, frequencies)]++;
}

/* 256 times the binary logarithm of a number from 1 to 4096, rounded down: eight squarings give
 * eight bits behind the point. */
static unsigned logarithm_256(unsigned number)
{
    unsigned whole = 31 - (unsigned)__builtin_clz(number);
    uint64_t x = (uint64_t)number << (31 - whole);
    unsigned result = whole;

    for (int bit = 0; bit < 8; bit++) {
        x = x * x >> 31;
        result = result << 1 | (unsigned)(x >> 32);
        x >>= x >> 32;
    }
    return result;
}

bool codec_table_costs_less(const uint32_t counts[256], const uint16_t frequencies[256],
                            uint64_t bits)
{
    uint64_t cost = 0, at_most = 0;

    for (unsigned s = 0; s < 256; s++)
        if (counts[s] > 0)
            at_most +=
                counts[s] * (uint64_t)(CODEC_PROBABILITY + __builtin_clz(frequencies[s]) - 31);
    if (at_most < bits) /* decides for most blocks */
        return true;
    for (unsigned s = 0; s < 256; s++)
        if (counts[s] > 0)
            cost += counts[s] * (uint64_t)(256 * CODEC_PROBABILITY - logarithm_256(frequencies[s]));
    return cost / 256 + 1 < bits;
}

/* In place of the index of a frequency's highest bit: symbols that do not occur. Eight bits with
 * their number less one follow. */
enum { NONE = 15 };

void codec_table_write(const uint16_t frequencies[256], struct bits *bits)
{
    unsigned first = 0, last = 255;

    while (frequencies[first] == 0)
        first++;
    while (frequencies[last] == 0)
        last--;
    bits_put(bits, 8, first);
    bits_put(bits, 8, last);
    for (unsigned s = first; s <= last; s++) {
        unsigned run = 0;

        while (frequencies[s + run] == 0)
            run++;
        if (run == 0) {
            bits_put_number(bits, frequencies[s]);
            continue;
        }
        bits_put(bits, 4 + 8, NONE | (run - 1) << 4);
        s += run - 1;
    }
}

int codec_table_read(struct bits *bits, unsigned highest, uint16_t frequencies[256])
{
    unsigned s = bits_take(bits, 8), last = bits_take(bits, 8), sum = 0;

    memset(frequencies, 0, 256 * sizeof *frequencies);
    if (last > highest)
        return -1;
    while (s <= last) {
        unsigned below = bits_take(bits, 4);

        if (below == NONE) {
            s += bits_take(bits, 8) + 1;
            continue;
        }
        if (below >= CODEC_PROBABILITY)
            return -1;
        frequencies[s] = (uint16_t)(1u << below | bits_take(bits, below));
        sum += frequencies[s++];
    }
    return s == last + 1 && sum == CODEC_SCALE ? 0 : -1;
}

void codec_table_coder(const uint16_t frequencies[256], struct codec_coder *coder)
{
    uint32_t start = 0;

    coder->used = 0;
    for (unsigned s = 0; s < 256; s++) {
        uint32_t f = frequencies[s];

        if (f == 0)
            continue;
        coder->span[s] = f << 16 | start;
        /* State, its parts, product and this number are each rounded by less than 2 parts in 2^24,
         * in any rounding mode, and the quotient is below 2^20: with 8 parts less the result is
         * below the true quotient, or equal, by less than 1. */
        coder->reciprocal[s] = (float)((1.0 - 8.0 / (1 << 24)) / f);
        /* exact for states below frequency << 20, since frequency^2 < 2^24 */
        coder->inverse[s] = ((UINT64_C(1) << 44) + f - 1) / f;
        if (coder->used < 64) {
            coder->rank[s] = (uint8_t)coder->used;
            coder->used_span[coder->used] = coder->span[s];
            coder->used_reciprocal[coder->used] = coder->reciprocal[s];
        }
        coder->used++;
        start += f;
    }
}

void codec_table_expand(const uint16_t frequencies[256],
                        uint32_t table[CODEC_SCALE + CODEC_TABLE_STEP])
{
    typedef uint32_t four __attribute__((vector_size(16)));
    uint32_t *at = table;

    for (uint32_t s = 0; s < 256; s++) {
        uint32_t f = frequencies[s], first = s | f << 8;
        four v[CODEC_TABLE_STEP / 4];

        if (f == 0)
            continue;
        for (uint32_t j = 0; j < CODEC_TABLE_STEP / 4; j++)
            v[j] = first + ((four){4 * j, 4 * j + 1, 4 * j + 2, 4 * j + 3} << 20);
        /* entries written beyond the symbol's own are overwritten by the next symbol */
        for (uint32_t i = 0; i < f; i += CODEC_TABLE_STEP) {
            memcpy(at + i, v, sizeof v);
            for (uint32_t j = 0; j < CODEC_TABLE_STEP / 4; j++)
                v[j] += (uint32_t)CODEC_TABLE_STEP << 20;
        }
        at += f;
    }
}

bool codec_table_cells(const uint16_t frequencies[256], struct codec_cells *cells)
{
    unsigned ends[CODEC_RANKS + 1], used = 0, start = 0, rank = 0, crowded = 0;

    memset(cells, 0, sizeof *cells);
    for (unsigned s = 0; s < 256; s++) {
        if (frequencies[s] == 0)
            continue;
        if (used == CODEC_RANKS)
            return false;
        cells->symbol[used] = (uint8_t)s;
        cells->factor[used] = (uint32_t)frequencies[s] - CODEC_SCALE;
        cells->start[used] = start;
        start += frequencies[s];
        ends[used++] = start;
    }
    ends[used] = start;
    for (unsigned c = 0; c < CODEC_CELLS; c++) {
        unsigned begin = c * CODEC_CELL, end = begin + CODEC_CELL;
        /* the cell has at most two symbols if the second reaches its end */
        unsigned last = ends[rank] < end ? ends[rank] : end;

        if (last == end || ends[rank + 1] >= end) {
            cells->rank[c] = (uint8_t)rank;
            cells->last[c] = (uint8_t)(last - 1);
            rank += ends[rank] < end;
        } else {
            if (crowded == CODEC_CROWDED)
                return false;
            cells->rank[c] = (uint8_t)(0x80 | crowded << 5);
            cells->last[c] = (uint8_t)(end - 1);
            for (unsigned slot = begin; slot < end; slot++) {
                rank += slot == ends[rank];
                cells->crowded[crowded * CODEC_CELL + slot - begin] = (uint8_t)rank;
            }
            crowded++;
        }
        rank += ends[rank] == end && rank + 1 < used;
    }
    return true;
}
