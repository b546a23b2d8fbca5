/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_PATH_H
#define MUSTER_CODEC_PATH_H

#include "collectives/codec/codec.h"

#include <string.h>

/* The functions that each path implements. Words, lanes and groups are those of
 * doc/codec-format.md: a group is 64 elements; element n of a group belongs to lane 16 (n mod 4) +
 * n / 4, so that a path with vectors finds a lane's symbol in byte n mod 4 of a 32-bit number. */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the codec stores numbers as they are in memory and knows little-endian machines only"
#endif

enum {
    CODEC_GROUP = 64,       /* elements of a group, lanes of the coder */
    CODEC_PROBABILITY = 12, /* bits: frequencies of a block add up to 4096 */
    CODEC_SCALE = 1 << CODEC_PROBABILITY,
    CODEC_LOW_HALVES_BYTES = CODEC_GROUP * 2, /* of the states */
    /* the low halves, and at least 64 numbers of 4 bits of what follows */
    CODEC_BEHIND_WORDS_BYTES = CODEC_LOW_HALVES_BYTES + CODEC_GROUP / 2,
    CODEC_GROUPS_MAX = CODEC_BLOCK_ELEMENTS_MAX / CODEC_GROUP,
};

/* An array of vectors stays in registers only if the loops over it are unrolled. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* a state is at least this between two symbols, and below 2^32 */
#define CODEC_STATE_LOW (1u << 16)

/* What encoding a symbol needs; not set for symbols of frequency 0. */
struct codec_coder {
    /* frequency << 16 | start; start is the sum of the frequencies of the symbols below */
    uint32_t span[256];
    /* a little less than 1 / frequency: its product with a state below frequency << 20, truncated,
     * is the quotient or one less */
    float reciprocal[256];
    /* 2^44 / frequency, rounded up: its product with such a state, shifted by 44, is the
     * quotient */
    uint64_t inverse[256];
    /* the symbols in use, in order, for paths that hold them in registers */
    unsigned used;
    uint8_t rank[256]; /* index of a symbol among these */
    uint32_t used_span[64];
    float used_reciprocal[64];
};

enum {
    /* entries of the decoder's table that are written at a time */
    CODEC_TABLE_STEP = 16,
    CODEC_CELL = 32, /* values of a state's low 12 bits that share a cell */
    CODEC_CELLS = CODEC_SCALE / CODEC_CELL,
    CODEC_CROWDED = 4,
    CODEC_RANKS = 32,
};

/* Maps the low 12 bits of a state to a symbol, in tables so small that registers hold them. A rank
 * is a symbol's index among those in use, which are at most CODEC_RANKS. */
struct codec_cells {
    /* Rank of the first symbol in a cell. For a crowded cell, which has more than two symbols, it
     * is 0x80 + 32 k, where k is its index among the at most CODEC_CROWDED crowded cells. */
    uint8_t rank[CODEC_CELLS];
    uint8_t last[CODEC_CELLS]; /* the low 8 bits of that symbol's last value in the cell */
    uint8_t crowded[CODEC_CROWDED * CODEC_CELL]; /* ranks in crowded cells */
    uint8_t symbol[2 * CODEC_RANKS];             /* of a rank; the second half is 0 */
    /* frequency - CODEC_SCALE, modulo 2^32. A state is CODEC_SCALE times its upper bits plus its
     * low 12 bits, so factor times the upper bits plus the state is frequency times the upper bits
     * plus the low 12 bits. */
    uint32_t factor[CODEC_RANKS];
    uint32_t start[CODEC_RANKS];
};

/* What decoding needs: cells if has_cells, only for paths that use them; the table if there are no
 * cells, or a block's last group is not whole. */
struct codec_decoder {
    bool has_cells;
    struct codec_cells cells;
    /* set by codec_table_expand() */
    uint32_t table[CODEC_SCALE + CODEC_TABLE_STEP];
};

/* Memory that will be read after this block. It is prefetched during coding, which computes more
 * than it reads, so that it is in the cache when it is needed. May be empty. */
struct codec_ahead {
    const uint8_t *at, *end;
    unsigned lines; /* of 64 bytes, to prefetch with each group */
};

static inline void codec_fetch_ahead(struct codec_ahead *ahead)
{
    for (unsigned i = 0; i < ahead->lines && ahead->at < ahead->end; i++, ahead->at += 64)
        __builtin_prefetch(ahead->at, 0, 2);
}

/* One of two blocks that are decoded together: the arguments of decode(). words, raw and values
 * advance. */
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

    /* Splits count elements: symbols get the exponents, raw the rest of each, a chunk per group
     * (codec_raw_bytes()). Groups of zeros are left out of both, and have their bit set in zeros,
     * which has (count + 63) / 64 bits and is 0 before. symbols has room for whole groups, raw for
     * codec_raw_bytes(count) bytes. Returns the number of elements kept, and sets counts to how
     * often each symbol occurs in these. */
    size_t (*split)(enum codec_type type, const uint8_t *values, size_t count, uint8_t *symbols,
                    uint8_t *raw, uint8_t *zeros, uint32_t counts[256]);

    /* Encodes symbols from the last to the first, writing words downwards from end. Returns the
     * lowest word written. There is room for one word per symbol and 64 more. */
    uint16_t *(*encode)(const uint8_t *symbols, size_t count, const struct codec_coder *coder,
                        uint32_t states[CODEC_GROUP], uint16_t *end, struct codec_ahead *ahead);

    /* Decodes whole groups and merges them with their raw chunks, or, if raw is NULL, writes the
     * bare symbols, a byte each. The words begin at words; at least CODEC_BEHIND_WORDS_BYTES behind
     * words_end are readable. Returns where the next words begin, or NULL if they are beyond
     * words_end. */
    const uint8_t *(*decode)(enum codec_type type, const struct codec_decoder *decoder,
                             uint32_t states[CODEC_GROUP], const uint8_t *words,
                             const uint8_t *words_end, const uint8_t *raw, size_t groups,
                             uint8_t *values, struct codec_ahead *ahead);

    /* Decodes `groups` groups of each of two blocks in turn, as decode() does; their decoders have
     * cells. The states of one block need not wait for those of the other. Returns false if the
     * words of one reach beyond its words_end. NULL if it is not faster on a path. */
    bool (*decode_two)(enum codec_type type, struct codec_run runs[2], size_t groups,
                       struct codec_ahead *ahead);

    /* The inverse of split for count elements without groups of zeros. */
    void (*merge)(enum codec_type type, const uint8_t *symbols, const uint8_t *raw, size_t count,
                  uint8_t *values);

    /* As crc32c(). */
    uint32_t (*crc)(uint32_t crc, const uint8_t *bytes, size_t length);
};

extern const struct codec_path codec_path_portable;
#ifdef __x86_64__
extern const struct codec_path codec_path_avx2;
extern const struct codec_path codec_path_avx512;
#endif

/* Returns function(type, ...) with the type as a constant, so that each type has its own loop. */
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

/* Bytes of the raw chunks of count elements; elements beyond whole groups have their own chunk. */
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

/* Functions of path_portable.c that other paths use, too. */
size_t codec_portable_split(enum codec_type type, const uint8_t *values, size_t count,
                            uint8_t *symbols, uint8_t *raw, uint8_t *zeros); /* without counts */
/* adds to counts */
void codec_portable_count(const uint8_t *symbols, size_t count, uint32_t counts[256]);
__typeof__(*((const struct codec_path *)0)->encode) codec_portable_encode;
__typeof__(*((const struct codec_path *)0)->merge) codec_portable_merge;

/* Define codec_load16() etc. for numbers at any alignment. */
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
