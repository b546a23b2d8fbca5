/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_PATH_H
#define MUSTER_CODEC_PATH_H

#include "collectives/codec/codec.h"

#include <string.h>

/* What a path does in its own way. Words, lanes and groups are those of doc/codec-format.md: a
 * group is 64 elements; element n of a group belongs to lane 16 (n mod 4) + n / 4, so that a path
 * with vectors finds a lane's symbol in byte n mod 4 of a 32-bit number. */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the codec stores numbers as they are in memory and knows little-endian machines only"
#endif

enum {
    CODEC_GROUP = 64,       /* elements of a group, lanes of the coder */
    CODEC_PROBABILITY = 12, /* bits: frequencies of a block add up to 4096 */
    CODEC_SCALE = 1 << CODEC_PROBABILITY,
    CODEC_LOW_HALVES_BYTES = CODEC_GROUP * 2, /* of the states */
    /* the low halves, and of what follows at least 64 numbers of 4 bits */
    CODEC_BEHIND_WORDS_BYTES = CODEC_LOW_HALVES_BYTES + CODEC_GROUP / 2,
    CODEC_GROUPS_MAX = CODEC_BLOCK_ELEMENTS_MAX / CODEC_GROUP,
};

/* Vectors of an array stay in registers only where the loops over them are unrolled. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* a state is at least this between two symbols, and below 2^32 */
#define CODEC_STATE_LOW (1u << 16)

/* What coding a symbol takes; nothing is set for symbols of frequency 0. */
struct codec_coder {
    /* frequency << 16 | start, start being the sum of the frequencies of the symbols below */
    uint32_t span[256];
    /* a little less than 1 / frequency: times a state below frequency << 20, and cut, it is the
     * quotient or one less */
    float reciprocal[256];
    /* 2^44 / frequency, rounded up: times such a state, and shifted by 44, it is the quotient */
    uint64_t inverse[256];
    /* the symbols in use, in order, for paths that hold them in registers */
    unsigned used;
    uint8_t rank[256]; /* of a symbol among these */
    uint32_t used_span[64];
    float used_reciprocal[64];
};

enum {
    /* entries of the decoder's table that are written at a time */
    CODEC_TABLE_STEP = 16,
    CODEC_CELL = 32, /* values of the low 12 bits of a state that have a cell in common */
    CODEC_CELLS = CODEC_SCALE / CODEC_CELL,
    CODEC_CROWDED = 4,
    CODEC_RANKS = 32,
};

/* What symbol the low 12 bits of a state mean, in tables so small that registers hold them. A rank
 * is a symbol's place among those in use, which are at most CODEC_RANKS. */
struct codec_cells {
    /* Of the first symbol in a cell. Where a cell has more than two, it is 0x80 + 32 k, k being its
     * number among the at most CODEC_CROWDED such. */
    uint8_t rank[CODEC_CELLS];
    uint8_t last[CODEC_CELLS]; /* the low 8 bits with which that symbol ends in the cell */
    uint8_t crowded[CODEC_CROWDED * CODEC_CELL]; /* ranks in crowded cells */
    uint8_t symbol[2 * CODEC_RANKS];             /* of a rank; the second half is 0 */
    /* frequency - CODEC_SCALE, modulo 2^32: as a state's low 12 bits are what is left of it when
     * CODEC_SCALE times the others is taken away, that times the others plus the state is the
     * frequency times the others plus the low 12 bits */
    uint32_t factor[CODEC_RANKS];
    uint32_t start[CODEC_RANKS];
};

/* What decoding takes: cells where has_cells, which only paths that use them ask for; a table where
 * there are none and where a block's last group is not whole. */
struct codec_decoder {
    bool has_cells;
    struct codec_cells cells;
    /* codec_table_expand()'s */
    uint32_t table[CODEC_SCALE + CODEC_TABLE_STEP];
};

/* What will be read after this block, from memory: asked for while coding and decoding, which
 * compute more than they read, it is in the cache when its turn comes. May be empty. */
struct codec_ahead {
    const uint8_t *at, *end;
    unsigned lines; /* of 64 bytes, to ask for with each group */
};

static inline void codec_fetch_ahead(struct codec_ahead *ahead)
{
    for (unsigned i = 0; i < ahead->lines && ahead->at < ahead->end; i++, ahead->at += 64)
        __builtin_prefetch(ahead->at, 0, 2);
}

/* One of two blocks of which groups are decoded: as the arguments of decode(). words moves on. */
struct codec_run {
    const struct codec_decoder *decoder;
    uint32_t *states;
    const uint8_t *words, *words_end;
    const uint8_t *raw;
    uint8_t *values;
};

struct codec_path {
    const char *name;
    bool (*usable)(void);
    bool uses_cells;

    /* Takes count elements apart: symbols get the exponents, raw the rest of each, a chunk per
     * group (codec_raw_bytes()). Groups of zeros are left out of both and have their bit set in
     * zeros, which has (count + 63) / 64 bits and is 0 before. symbols has room for whole groups,
     * raw for codec_raw_bytes(count) bytes. Returns how many elements are left. counts is set to
     * how often each symbol occurs in these. */
    size_t (*split)(enum codec_type type, const uint8_t *values, size_t count, uint8_t *symbols,
                    uint8_t *raw, uint8_t *zeros, uint32_t counts[256]);

    /* Codes symbols from the last to the first, writing words downwards from end. Returns the
     * lowest word written. There is room for one word per symbol and 64 more. */
    uint16_t *(*encode)(const uint8_t *symbols, size_t count, const struct codec_coder *coder,
                        uint32_t states[CODEC_GROUP], uint16_t *end, struct codec_ahead *ahead);

    /* Decodes whole groups and puts them together with their raw chunks, or, where raw is NULL,
     * writes the bare symbols, a byte each. The words begin at words; there are at least
     * CODEC_BEHIND_WORDS_BYTES readable bytes behind words_end. Returns where the next words begin,
     * or NULL when they reach beyond words_end. */
    const uint8_t *(*decode)(enum codec_type type, const struct codec_decoder *decoder,
                             uint32_t states[CODEC_GROUP], const uint8_t *words,
                             const uint8_t *words_end, const uint8_t *raw, size_t groups,
                             uint8_t *values, struct codec_ahead *ahead);

    /* decode() of as many groups of two blocks, whose decoders have cells, by turns: the states of
     * one need not wait for those of the other. False when the words of one reach beyond its
     * words_end. NULL where a path is no faster so. */
    bool (*decode_two)(enum codec_type type, struct codec_run runs[2], size_t groups,
                       struct codec_ahead *ahead);

    /* The opposite of split for count elements without groups of zeros. */
    void (*merge)(enum codec_type type, const uint8_t *symbols, const uint8_t *raw, size_t count,
                  uint8_t *values);

    /* CRC-32C of length bytes after those that gave crc; 0 to begin with. */
    uint32_t (*crc)(uint32_t crc, const uint8_t *bytes, size_t length);
};

extern const struct codec_path codec_path_portable;
#ifdef __x86_64__
extern const struct codec_path codec_path_avx2;
extern const struct codec_path codec_path_avx512;
#endif

/* Returns function(type, ...), the type being a constant: of each there is a loop of its own. */
#define CODEC_BY_TYPE(type, function, ...)                                                         \
    do {                                                                                           \
        switch (type) {                                                                            \
        case CODEC_BF16:                                                                           \
            return function(CODEC_BF16, __VA_ARGS__);                                              \
        case CODEC_FP16:                                                                           \
            return function(CODEC_FP16, __VA_ARGS__);                                              \
        default:                                                                                   \
            return function(CODEC_FP32, __VA_ARGS__);                                              \
        }                                                                                          \
    } while (0)

/* Bytes of the raw chunks of count elements; count beyond whole groups is a chunk of its own. */
static inline size_t codec_raw_bytes(enum codec_type type, size_t count)
{
    switch (type) {
    case CODEC_BF16:
        return count;
    case CODEC_FP16:
        return count + 3 * (count / CODEC_GROUP * 8 + (count % CODEC_GROUP + 7) / 8);
    default:
        return 3 * count;
    }
}

/* Parts that paths share; path_portable.c. */
size_t codec_portable_split(enum codec_type type, const uint8_t *values, size_t count,
                            uint8_t *symbols, uint8_t *raw, uint8_t *zeros); /* without counts */
/* counts is added to */
void codec_portable_count(const uint8_t *symbols, size_t count, uint32_t counts[256]);
__typeof__(*((const struct codec_path *)0)->encode) codec_portable_encode;
__typeof__(*((const struct codec_path *)0)->merge) codec_portable_merge;

/* codec_load16() and so on: numbers that need no alignment. */
#define CODEC_ACCESS(bits)                                                                         \
    static inline uint##bits##_t codec_load##bits(const uint8_t *bytes)                            \
    {                                                                                              \
        uint##bits##_t value;                                                                      \
                                                                                                   \
        memcpy(&value, bytes, sizeof value);                                                       \
        return value;                                                                              \
    }                                                                                              \
    static inline void codec_store##bits(uint8_t *bytes, uint##bits##_t value)                     \
    {                                                                                              \
        memcpy(bytes, &value, sizeof value);                                                       \
    }
CODEC_ACCESS(16)
CODEC_ACCESS(32)
CODEC_ACCESS(64)

static inline uint16_t codec_rotate16(uint16_t value)
{
    return (uint16_t)(value << 1 | value >> 15);
}

static inline uint32_t codec_rotate32(uint32_t value)
{
    return value << 1 | value >> 31;
}

#endif
