/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/codec.h"
#include "collectives/codec/crc32c.h"
#include "collectives/codec/path.h"
#include "collectives/codec/table.h"
#include "tests/unit/collectives/gradients.h"
#include "tests/unit/tap.h"

#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>

static struct codec_scratch *scratch;

/* Guard bytes on either side of an area, which nobody may write to. */
enum { GUARD_BYTES = 64, GUARD_VALUE = 0xa5 };

static uint8_t *guarded(size_t bytes)
{
    uint8_t *all = malloc(bytes + 2 * GUARD_BYTES);

    memset(all, GUARD_VALUE, bytes + 2 * GUARD_BYTES);
    return all + GUARD_BYTES;
}

static bool guards_are_intact(const uint8_t *area, size_t bytes)
{
    for (size_t i = 1; i <= GUARD_BYTES; i++)
        if (area[-(ptrdiff_t)i] != GUARD_VALUE || area[bytes + i - 1] != GUARD_VALUE)
            return false;
    return true;
}

static void guarded_free(uint8_t *area)
{
    free(area - GUARD_BYTES);
}

/* Encodes and decodes on every path. shift moves all buffers off alignment. Returns the first
 * error, or NULL. */
static const char *round_trip(enum codec_type type, const void *values, size_t count, size_t shift)
{
    size_t width = codec_type_bytes(type), bound = codec_block_bound(type, count);
    uint8_t *first = guarded(bound + shift), *block = guarded(bound + shift);
    uint8_t *back = guarded(count * width + shift);
    size_t first_bytes = 0;
    const struct codec_path *path;
    const char *wrong = NULL;
    struct error err = {""};

    for (unsigned number = 0; !wrong && (path = codec_path_at(number)); number++) {
        uint8_t *into = number == 0 ? first : block;
        size_t bytes = codec_block_encode(path, type, values, count, scratch, into + shift);
        struct codec_block_info info;

        if (number == 0)
            first_bytes = bytes;
        if (bytes > bound || !guards_are_intact(into, bound + shift))
            wrong = "exceeds the bound";
        else if (bytes != first_bytes || memcmp(into + shift, first + shift, bytes) != 0)
            wrong = "paths write different bytes";
        else if (codec_block_peek(into + shift, bytes, &info, &err) != 0 || info.type != type ||
                 info.count != count || info.bytes != bytes)
            wrong = "the header is wrong";
    }
    for (unsigned number = 0; !wrong && (path = codec_path_at(number)); number++) {
        /* a copy of exact size, so that AddressSanitizer detects a read past the end */
        uint8_t *exact = malloc(first_bytes);

        memcpy(exact, first + shift, first_bytes);
        memset(back + shift, 0x5a, count * width);
        if (codec_block_decode(path, type, exact, first_bytes, scratch, back + shift, count,
                               &err) != 0) {
            tap_diag("%s: %s", codec_path_name(path), err.text);
            wrong = "does not decode";
        } else if (!guards_are_intact(back, count * width + shift)) {
            wrong = "writes beyond the values";
        } else if (count > 0 && memcmp(back + shift, values, count * width) != 0) {
            wrong = "decodes to other values";
        }
        free(exact);
        if (wrong)
            tap_diag("path %s", codec_path_name(path));
    }
    guarded_free(first);
    guarded_free(block);
    guarded_free(back);
    return wrong;
}

static void round_trips_are_exact(void)
{
    static const size_t counts[] = {0,    1,    2,    3,    7,     63,    64,    65,   127, 128,
                                    129,  191,  193,  255,  256,   257,   300,   320,  383, 1000,
                                    2049, 4095, 4096, 4160, 10000, 32768, 65535, 65536};
    struct random_numbers numbers = {20261121};
    uint8_t *values = malloc(4 * CODEC_BLOCK_ELEMENTS_MAX);

    for (int type = 0; type < CODEC_TYPES; type++)
        for (int kind = 0; kind < GRADIENTS_KINDS; kind++) {
            const char *wrong = NULL;
            size_t count = 0, tried = sizeof counts / sizeof *counts + 20;

            for (size_t c = 0; c < tried && !wrong; c++) {
                count =
                    c < sizeof counts / sizeof *counts ? counts[c] : random_bits(&numbers) % 9000;
                gradients_fill((enum gradients)kind, (enum codec_type)type, &numbers, values,
                               count);
                wrong = round_trip((enum codec_type)type, values, count, c % 2);
            }
            ok(!wrong, "%s, %s: %zu sizes on every path", codec_type_name((enum codec_type)type),
               gradients_name((enum gradients)kind), tried);
            if (wrong)
                tap_diag("%zu elements: %s", count, wrong);
        }
    free(values);
}

/* Compares several consecutive blocks, on every path, with each block encoded alone. Returns an
 * error, or NULL. */
static const char *round_trip_of_many(enum codec_type type, const uint8_t *values, size_t count)
{
    size_t width = codec_type_bytes(type), bound = codec_blocks_bound(type, count), bytes = 0;
    uint8_t *expected = guarded(bound), *blocks = guarded(bound), *back = guarded(count * width);
    const struct codec_path *path;
    const char *wrong = NULL;
    struct error err = {""};

    for (size_t done = 0; done < count; done += CODEC_BLOCK_ELEMENTS) {
        size_t some = count - done < CODEC_BLOCK_ELEMENTS ? count - done : CODEC_BLOCK_ELEMENTS;

        bytes += codec_block_encode(codec_path_best(), type, values + done * width, some, scratch,
                                    expected + bytes);
    }
    for (unsigned number = 0; !wrong && (path = codec_path_at(number)); number++) {
        uint8_t *exact = malloc(bytes), *more = malloc(bytes + 1);
        size_t at = bytes > 0 ? bytes - 1 - bytes / 3 : 0;

        if (codec_blocks_encode(path, type, values, count, scratch, blocks) != bytes ||
            (bytes > 0 && memcmp(blocks, expected, bytes) != 0) ||
            !guards_are_intact(blocks, bound))
            wrong = "other bytes than each block alone";
        if (bytes > 0)
            memcpy(exact, expected, bytes);
        memcpy(more, expected, bytes);
        more[bytes] = 0;
        memset(back, 0x5a, count * width);
        if (codec_blocks_decode(path, type, exact, bytes, scratch, back, count, &err) != 0)
            wrong = "does not decode";
        else if (!guards_are_intact(back, count * width) ||
                 memcmp(back, values, count * width) != 0)
            wrong = "decodes to other values";
        else if (codec_blocks_decode(path, type, more, bytes + 1, scratch, back, count, &err) == 0)
            wrong = "one byte too many is accepted";
        else if (bytes > 0 &&
                 codec_blocks_decode(path, type, exact, bytes - 1, scratch, back, count, &err) == 0)
            wrong = "one byte too few is accepted";
        else if (count > 0 &&
                 codec_blocks_decode(path, type, exact, bytes, scratch, back, count - 1, &err) == 0)
            wrong = "one element too few is accepted";
        if (bytes > 0)
            exact[at] ^= 4;
        if (bytes > 0 &&
            codec_blocks_decode(path, type, exact, bytes, scratch, back, count, &err) == 0)
            wrong = "a changed bit is accepted";
        if (wrong)
            tap_diag("path %s, %zu elements: %s", codec_path_name(path), count, err.text);
        free(exact);
        free(more);
    }
    guarded_free(expected);
    guarded_free(blocks);
    guarded_free(back);
    return wrong;
}

static void many_blocks(void)
{
    enum { COUNT_MAX = 5 * CODEC_BLOCK_ELEMENTS + 777 };
    static const size_t counts[] = {0,     1,     40000,           32768,     65536,
                                    65600, 65537, 2 * 32768 + 300, 4 * 32768, COUNT_MAX};
    struct random_numbers numbers = {5};
    uint8_t *values = malloc((size_t)4 * COUNT_MAX);

    for (int type = 0; type < CODEC_TYPES; type++)
        for (int first = 0; first < GRADIENTS_KINDS; first++) {
            size_t width = codec_type_bytes((enum codec_type)type), c;
            const char *wrong = NULL;

            /* blocks of this kind beside one of the next kind, and two of the same kind */
            for (int b = 0; b < 6; b++)
                gradients_fill((enum gradients)((first + b % 3 / 2) % GRADIENTS_KINDS),
                               (enum codec_type)type, &numbers,
                               values + (size_t)b * CODEC_BLOCK_ELEMENTS * width,
                               b < 5 ? CODEC_BLOCK_ELEMENTS : 777);
            /* all sizes for the most common kind, one for the others */
            for (c = first == GRADIENTS_NORMAL ? 0 : 9; !wrong && c < 10; c++)
                wrong = round_trip_of_many((enum codec_type)type, values, counts[c]);
            ok(!wrong, "%s, consecutive blocks of %s: %s", codec_type_name((enum codec_type)type),
               gradients_name((enum gradients)first), wrong ? wrong : "as each block alone");
        }
    free(values);
}

/* Returns the coded bits per element in blocks of CODEC_BLOCK_ELEMENTS, without sign, mantissa. */
static double exponent_bits(enum codec_type type, const uint8_t *values, size_t count)
{
    uint8_t *block = malloc(codec_block_bound(type, CODEC_BLOCK_ELEMENTS));
    size_t bytes = 0, width = codec_type_bytes(type);

    for (size_t n = 0; n < count; n += CODEC_BLOCK_ELEMENTS)
        bytes += codec_block_encode(codec_path_best(), type, values + n * width,
                                    CODEC_BLOCK_ELEMENTS, scratch, block);
    free(block);
    return 8.0 * (double)bytes / (double)count - (type == CODEC_BF16   ? 8
                                                  : type == CODEC_FP16 ? 11
                                                                       : 24);
}

static void size_is_near_entropy(void)
{
    static const enum gradients kinds[] = {GRADIENTS_NORMAL, GRADIENTS_LAPLACE};
    const size_t count = 8 * CODEC_BLOCK_ELEMENTS;
    uint8_t *values = malloc(4 * count);
    struct random_numbers numbers = {7};

    for (int type = 0; type < CODEC_TYPES; type++)
        for (size_t k = 0; k < 2; k++) {
            double bound, bits;

            gradients_fill(kinds[k], (enum codec_type)type, &numbers, values, count);
            bound = gradients_exponent_entropy((enum codec_type)type, values, count);
            bits = exponent_bits((enum codec_type)type, values, count);
            ok(bits >= 0.998 * bound && bits <= 1.01 * bound,
               "%s, %s: %.4f bits per exponent, within 1 %% of the entropy, %.4f",
               codec_type_name((enum codec_type)type), gradients_name(kinds[k]), bits, bound);
        }
    gradients_fill(GRADIENTS_NORMAL, CODEC_BF16, &numbers, values, count);
    /* COLLECTIVES.md: the entropy for a normal variable, with any sigma */
    is_near(gradients_exponent_entropy(CODEC_BF16, values, count), 2.544, 0.01,
            "the exponent of a normal variable has 2.544 bits");
    free(values);
}

static void modes_are_named(void)
{
    static const struct {
        enum gradients kind;
        size_t count;
        const char *mode;
        size_t bytes_max;
    } cases[] = {
        {GRADIENTS_ZEROS, 32768, "fill", 18},      {GRADIENTS_CONSTANT, 32768, "fill", 18},
        {GRADIENTS_BITS, 32768, "stored", 65552},  {GRADIENTS_BINADE, 32768, "single", 32785},
        {GRADIENTS_NORMAL, 32768, "coded", 43500}, {GRADIENTS_NORMAL, 255, "stored", 526},
        {GRADIENTS_NORMAL, 1000, "coded", 1600},   {GRADIENTS_ROWS, 32768, "coded", 12500},
        {GRADIENTS_LAST, 32768, "coded", 400},     {GRADIENTS_ZEROS, 0, "stored", 16},
    };
    uint8_t *values = malloc(65536), *block = malloc(codec_block_bound(CODEC_BF16, 32768));
    struct random_numbers numbers = {3};

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct codec_block_info info = {.mode = ""};
        size_t bytes;

        gradients_fill(cases[c].kind, CODEC_BF16, &numbers, values, cases[c].count);
        bytes = codec_block_encode(codec_path_best(), CODEC_BF16, values, cases[c].count, scratch,
                                   block);
        codec_block_peek(block, bytes, &info, NULL);
        is_str(info.mode, cases[c].mode, "%zu of %s", cases[c].count,
               gradients_name(cases[c].kind));
        ok(bytes <= cases[c].bytes_max, "... in %zu bytes, at most %zu", bytes, cases[c].bytes_max);
    }
    free(values);
    free(block);
}

/* Tests that every path refuses the block, after its length and its checksum are corrected. */
static void is_refused(uint8_t *block, size_t bytes, enum codec_type type, size_t count,
                       const char *what)
{
    const struct codec_path *path;
    uint8_t *values = malloc(count * codec_type_bytes(type));
    struct error err = {""};

    codec_store32(block + 8, (uint32_t)bytes);
    codec_block_seal(block, bytes);
    for (unsigned number = 0; (path = codec_path_at(number)); number++) {
        is_int(codec_block_decode(path, type, block, bytes, scratch, values, count, &err), -1,
               "path %s refuses %s", codec_path_name(path), what);
        has_str(err.text, "inconsistent block", "... with this message");
    }
    free(values);
}

static void inconsistent_blocks_are_refused(void)
{
    enum { COUNT = 3000, LOW_HALVES = 128 };
    struct random_numbers numbers = {23};
    uint8_t good[2 * COUNT + 16], block[2 * COUNT + 64], values[2 * COUNT];
    size_t bytes, words_end;

    gradients_fill(GRADIENTS_NORMAL, CODEC_BF16, &numbers, values, COUNT);
    bytes = codec_block_encode(codec_path_best(), CODEC_BF16, values, COUNT, scratch, good);
    words_end = bytes - codec_load16(good + 6) - LOW_HALVES;
    for (size_t more = 1; more <= 2; more++) {
        memcpy(block, good, words_end);
        memset(block + words_end, 0, more);
        memcpy(block + words_end + more, good + words_end, bytes - words_end);
        is_refused(block, bytes + more, CODEC_BF16, COUNT,
                   more == 1 ? "half a word too many" : "a word too many");
    }
    memcpy(block, good, words_end - 2);
    memcpy(block + words_end - 2, good + words_end, bytes - words_end);
    is_refused(block, bytes - 2, CODEC_BF16, COUNT, "a word too few");
    memcpy(block, good, bytes);
    block[6]++;
    block[bytes] = 0;
    is_refused(block, bytes + 1, CODEC_BF16, COUNT, "a byte after the tail");

    /* one group with two symbols in 64 states, whose final values equal the initial ones */
    gradients_fill(GRADIENTS_LAST, CODEC_BF16, &numbers, values, COUNT);
    bytes = codec_block_encode(codec_path_best(), CODEC_BF16, values, COUNT, scratch, good);
    memcpy(block, good, bytes);
    block[bytes - (COUNT / 64 + 8) / 8 - codec_load16(good + 6) - LOW_HALVES] ^= 1;
    is_refused(block, bytes, CODEC_BF16, COUNT, "states with a wrong final value");

    gradients_fill(GRADIENTS_BITS, CODEC_BF16, &numbers, values, COUNT);
    bytes = codec_block_encode(codec_path_best(), CODEC_BF16, values, COUNT, scratch, good);
    is_refused(good, bytes - 2, CODEC_BF16, COUNT, "a stored element too few");
    gradients_fill(GRADIENTS_CONSTANT, CODEC_BF16, &numbers, values, COUNT);
    bytes = codec_block_encode(codec_path_best(), CODEC_BF16, values, COUNT, scratch, good);
    is_refused(good, bytes + 1, CODEC_BF16, COUNT, "a byte too many in a fill block");
    gradients_fill(GRADIENTS_BINADE, CODEC_FP16, &numbers, values, COUNT);
    bytes = codec_block_encode(codec_path_best(), CODEC_FP16, values, COUNT, scratch, good);
    good[bytes - 1] = 32;
    is_refused(good, bytes, CODEC_FP16, COUNT, "an exponent that fp16 does not have");
}

/* ---------------------------------------------------------------------------------- the parts */

/* Encodes one symbol of frequency f in all 64 lanes, on every path and in every rounding mode, and
 * compares the states with the definition, which divides. */
static bool division_is_exact(unsigned f, struct random_numbers *numbers)
{
    static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    uint16_t frequencies[256] = {0};
    struct codec_coder coder;
    uint8_t symbols[CODEC_GROUP] = {0};
    struct codec_ahead none = {0};
    uint32_t states[CODEC_GROUP], expected[CODEC_GROUP];
    bool same = true;
    const struct codec_path *path;

    frequencies[0] = (uint16_t)f;
    frequencies[1] = (uint16_t)(CODEC_SCALE - f);
    codec_table_coder(frequencies, &coder);
    for (unsigned lane = 0; lane < CODEC_GROUP; lane++) {
        uint32_t x = (uint32_t)random_bits(numbers) | CODEC_STATE_LOW, multiple;

        if (lane < 8)
            x = (f << 20) - 1 - lane;
        else if (lane < 12)
            x = UINT32_MAX - lane;
        /* a multiple of f, or one less */
        multiple = x - x % f - (lane % 3 == 0);
        if (lane % 3 < 2 && multiple >= CODEC_STATE_LOW)
            x = multiple;
        states[lane] = x;
        if (x >= (uint64_t)f << 20)
            x >>= 16;
        expected[lane] = x / f * CODEC_SCALE + x % f;
    }
    for (unsigned number = 0; (path = codec_path_at(number)); number++)
        for (size_t r = 0; r < 4; r++) {
            uint32_t found[CODEC_GROUP];
            uint16_t words[3 * CODEC_GROUP];

            memcpy(found, states, sizeof found);
            fesetround(roundings[r]);
            path->encode(symbols, CODEC_GROUP, &coder, found, words + 3 * CODEC_GROUP, &none);
            fesetround(FE_TONEAREST);
            if (memcmp(found, expected, sizeof found) != 0) {
                tap_diag("frequency %u, path %s, rounding %zu", f, path->name, r);
                same = false;
            }
        }
    return same;
}

static void all_divisions_are_exact(void)
{
    struct random_numbers numbers = {11};
    unsigned exact = 0;

    for (unsigned f = 1; f < CODEC_SCALE; f++)
        exact += division_is_exact(f, &numbers);
    is_int(exact, CODEC_SCALE - 1, "states are divided exactly by every frequency");
}

static void scales_tables(void)
{
    struct random_numbers numbers = {5};
    unsigned good = 0, read_back = 0;
    enum { TABLES = 500 };

    for (int t = 0; t < TABLES; t++) {
        uint32_t counts[256] = {0};
        uint16_t frequencies[256], back[256];
        uint8_t bytes[CODEC_TABLE_BITS_MAX / 8 + 16] = {0};
        struct bits bits = {bytes, 0};
        unsigned symbols = 2 + (unsigned)(random_bits(&numbers) % 255), sum = 0, wrong = 0;

        for (unsigned i = 0; i < symbols; i++)
            counts[t % 3 == 0 ? i : random_bits(&numbers) % 256] =
                1 + (uint32_t)(random_bits(&numbers) >> (20 + random_bits(&numbers) % 40)) % 60000;
        counts[7]++;
        counts[200]++;
        codec_table_scale(counts, frequencies);
        for (unsigned s = 0; s < 256; s++) {
            sum += frequencies[s];
            wrong += (counts[s] > 0) != (frequencies[s] > 0) || frequencies[s] >= CODEC_SCALE;
        }
        good += sum == CODEC_SCALE && wrong == 0;
        codec_table_write(frequencies, &bits);
        bits.position = 0;
        read_back +=
            codec_table_read(&bits, 255, back) == 0 && memcmp(back, frequencies, sizeof back) == 0;
    }
    is_int(good, TABLES, "frequencies add up, and none is 0 for a symbol that occurs");
    is_int(read_back, TABLES, "tables are read back as written");
}

/* Returns the entry for the low 12 bits of a state, found in cells, in the format of
 * codec_table_expand(). */
static uint32_t look_up_cell(const struct codec_cells *cells, uint32_t slot)
{
    unsigned cell = slot / CODEC_CELL, rank = cells->rank[cell];

    if (rank >= 0x80)
        rank = cells->crowded[(rank & 0x7f) + slot % CODEC_CELL];
    else
        rank += slot % 256 > cells->last[cell];
    return cells->symbol[rank] | (cells->factor[rank] + CODEC_SCALE) << 8 |
           (slot - cells->start[rank]) << 20;
}

static void cells_match_the_table(void)
{
    enum { TABLES = 2000 };
    static uint32_t table[CODEC_SCALE + CODEC_TABLE_STEP];
    struct random_numbers numbers = {23};
    unsigned with_cells = 0, same = 0, crowded = 0;

    for (unsigned t = 0; t < TABLES; t++) {
        uint32_t counts[256] = {0};
        uint16_t frequencies[256];
        struct codec_cells cells;
        unsigned symbols = 2 + (unsigned)random_bits(&numbers) % 36, wrong = 0;

        for (unsigned i = 0; i < symbols; i++)
            counts[random_bits(&numbers) % 256] =
                1 + (uint32_t)(random_bits(&numbers) % (UINT64_C(1) << (t % 2 ? 16 : i % 20)));
        counts[7]++;
        counts[200]++;
        codec_table_scale(counts, frequencies);
        if (!codec_table_cells(frequencies, &cells))
            continue;
        codec_table_expand(frequencies, table);
        for (uint32_t slot = 0; slot < CODEC_SCALE; slot++)
            wrong += look_up_cell(&cells, slot) != table[slot];
        for (unsigned c = 0; c < CODEC_CELLS; c++)
            crowded += cells.rank[c] >= 0x80;
        with_cells++;
        same += wrong == 0;
    }
    ok(with_cells > TABLES / 4 && with_cells < TABLES && crowded > TABLES / 4,
       "%u of %d tables have cells, of which %u are crowded", with_cells, TABLES, crowded);
    is_int(same, with_cells, "cells give the same symbols as the table");
}

static void refuses_tables(void)
{
    static const struct {
        const char *what;
        unsigned first, last, highest;
        uint32_t numbers[4]; /* ended by 0; 65536 + n: n symbols that do not occur */
    } cases[] = {
        {"too little", 3, 4, 255, {4000, 95}},
        {"too much", 3, 4, 255, {4000, 97}},
        {"above fp16's", 3, 32, 31, {4000, 65564, 96}},
        {"beyond the last", 3, 4, 255, {4000, 65538}},
        {"4096 in one", 3, 3, 255, {4096}},
        {"no symbol", 9, 3, 255, {0}},
    };
    uint16_t frequencies[256];

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint8_t bytes[64] = {0};
        struct bits bits = {bytes, 0};

        bits_put(&bits, 8, cases[c].first);
        bits_put(&bits, 8, cases[c].last);
        for (size_t i = 0; i < 4 && cases[c].numbers[i] != 0; i++)
            if (cases[c].numbers[i] > 65536)
                bits_put(&bits, 12, 15 | (cases[c].numbers[i] - 65537) << 4);
            else
                bits_put_number(&bits, cases[c].numbers[i]);
        bits.position = 0;
        is_int(codec_table_read(&bits, cases[c].highest, frequencies), -1, "a table is refused: %s",
               cases[c].what);
    }
}

static void counts_symbols(void)
{
    struct random_numbers numbers = {17};
    uint8_t *symbols = malloc(65536), *found_symbols = malloc(65536 + CODEC_GROUP);
    uint8_t *values = malloc(2 * 65536), *raw = malloc(65536);
    const struct codec_path *path;

    for (unsigned number = 0; (path = codec_path_at(number)); number++) {
        unsigned same = 0, is_kept = 0, tries = 0;

        for (size_t length = 0; length <= 65536; length = length * 3 / 2 + 61)
            for (unsigned spread = 1; spread <= 16; spread += 5) {
                uint32_t expected[256] = {0}, found[256];
                uint8_t zeros[65536 / CODEC_GROUP / 8] = {0};

                for (size_t n = 0; n < length; n++) {
                    symbols[n] = (uint8_t)(250 + 9 * random_normal(&numbers) / spread);
                    expected[symbols[n]]++;
                    /* a bf16 number with this exponent that is not zero */
                    values[2 * n] = (uint8_t)(symbols[n] << 7 | 1);
                    values[2 * n + 1] = symbols[n] >> 1;
                }
                is_kept += path->split(CODEC_BF16, values, length, found_symbols, raw, zeros,
                                       found) == length;
                same += memcmp(found, expected, sizeof found) == 0 &&
                        memcmp(found_symbols, symbols, length) == 0;
                tries++;
            }
        is_int(same, tries, "%s counts the symbols", path->name);
        is_int(is_kept, tries, "%s leaves out no element", path->name);
    }
    free(symbols);
    free(found_symbols);
    free(values);
    free(raw);
}

static void checksums(void)
{
    uint8_t bytes[20000];
    struct random_numbers numbers = {13};
    const struct codec_path *path;

    is_int(crc32c(0, "123456789", 9), 0xe3069283, "CRC-32C of 123456789");
    memset(bytes, 0, 32);
    is_int(crc32c(0, bytes, 32), 0x8a9136aa, "CRC-32C of 32 zeros, RFC 3720 B.4");
    memset(bytes, 0xff, 32);
    is_int(crc32c(0, bytes, 32), 0x62a8ab43, "CRC-32C of 32 ones, RFC 3720 B.4");
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)random_bits(&numbers);
    for (unsigned number = 0; (path = codec_path_at(number)); number++) {
        unsigned same = 0, tries = 0;

        for (size_t length = 0; length < sizeof bytes; length += 1 + length / 9) {
            size_t cut = length / 3;
            uint32_t whole = crc32c_portable(0, bytes, length);

            same += path->crc(path->crc(0, bytes, cut), bytes + cut, length - cut) == whole &&
                    crc32c(0, bytes, length) == whole;
            tries++;
        }
        is_int(same, tries, "CRC-32C of path %s, in two parts", path->name);
    }
}

/* ------------------------------------------------------------------------------------ threads */

struct worker {
    pthread_t thread;
    uint64_t seed;
    bool is_correct;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct codec_scratch *own = codec_scratch_create();
    struct random_numbers numbers = {worker->seed};
    uint16_t values[5000], back[5000];
    uint8_t block[10016];
    struct error err;

    worker->is_correct = true;
    for (int round = 0; round < 50; round++) {
        size_t bytes;

        gradients_fill(GRADIENTS_NORMAL, CODEC_BF16, &numbers, values, 5000);
        bytes = codec_block_encode(codec_path_best(), CODEC_BF16, values, 5000, own, block);
        if (codec_block_decode(codec_path_best(), CODEC_BF16, block, bytes, own, back, 5000,
                               &err) != 0 ||
            memcmp(values, back, sizeof back) != 0)
            worker->is_correct = false;
    }
    codec_scratch_destroy(own);
    return NULL;
}

static void threads_are_independent(void)
{
    struct worker workers[4];

    for (unsigned i = 0; i < 4; i++) {
        workers[i].seed = i + 1;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(workers[i].thread, NULL);
        ok(workers[i].is_correct, "thread %u of 4 gets its own values back", i);
    }
}

static void names_paths(void)
{
    is_str(codec_path_name(codec_path_at(0)), "portable", "the first path is the portable one");
    ok(codec_path_named("portable") == codec_path_at(0), "... and is found by its name");
    ok(!codec_path_named("neon"), "there is no path neon");
    tap_diag("fastest path here: %s", codec_path_name(codec_path_best()));
    codec_scratch_destroy(NULL);
}

int main(void)
{
    scratch = codec_scratch_create();
    checksums();
    names_paths();
    counts_symbols();
    scales_tables();
    cells_match_the_table();
    refuses_tables();
    all_divisions_are_exact();
    round_trips_are_exact();
    many_blocks();
    size_is_near_entropy();
    modes_are_named();
    inconsistent_blocks_are_refused();
    threads_are_independent();
    codec_scratch_destroy(scratch);
    return tap_done();
}
