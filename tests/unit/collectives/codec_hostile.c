/* SPDX-License-Identifier: Apache-2.0 */

/* Blocks that are truncated, altered or invalid. Every path must end with an error or with the same
 * values as the others, and must never access a byte outside the block and the values: both are
 * placed next to inaccessible pages, at their end or at their beginning. With FUZZER defined,
 * clang's libFuzzer supplies the input instead of random numbers; tests/unit/collectives/fuzz-codec
 * builds and runs that. */

#include "collectives/codec/block.h"
#include "tests/unit/collectives/gradients.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/clock.h"

/* An area between two inaccessible pages. */
struct guarded_area {
    uint8_t *bytes;
    size_t size;
};

static struct guarded_area guarded_area_create(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), inside = (size + page - 1) / page * page;
    uint8_t *all = mmap(NULL, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED || mprotect(all + page, inside, PROT_READ | PROT_WRITE) != 0)
        abort();
    return (struct guarded_area){all + page, inside};
}

/* Returns the address of `length` bytes at the end of the area, or at its beginning. */
static uint8_t *guarded_area_address(const struct guarded_area *area, size_t length, bool at_end)
{
    return at_end ? area->bytes + area->size - length : area->bytes;
}

enum { BLOCK_MAX = CODEC_BLOCK_ELEMENTS_MAX * 4 + 4096 };

static struct {
    struct guarded_area block, values, others, scratch_area;
    struct codec_scratch *scratch;
} arena;

static void arena_create(void)
{
    arena.block = guarded_area_create(BLOCK_MAX);
    arena.values = guarded_area_create(BLOCK_MAX);
    arena.others = guarded_area_create(BLOCK_MAX);
    arena.scratch_area = guarded_area_create(sizeof *arena.scratch);
    arena.scratch = (struct codec_scratch *)guarded_area_address(&arena.scratch_area,
                                                                 sizeof *arena.scratch, true);
}

static void require(bool condition, const char *message, const char *path)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", path, message);
    abort();
}

/* The type of codec_block_decode() and codec_blocks_decode(). */
typedef int (*decode_function)(const struct codec_path *path, enum codec_type type,
                               const void *block, size_t length, struct codec_scratch *scratch,
                               void *values, size_t count, struct error *err);

/* Decodes on every path. Returns whether the block decodes. Aborts if paths do not agree. */
static bool try_paths(decode_function decode, enum codec_type type, const uint8_t *block,
                      size_t length, size_t count, bool at_end)
{
    size_t value_bytes = count * codec_type_bytes(type);
    const struct codec_path *path;
    bool is_valid = false;

    for (unsigned number = 0; (path = codec_path_at(number)); number++) {
        const struct guarded_area *area = number == 0 ? &arena.values : &arena.others;
        uint8_t *values = guarded_area_address(area, value_bytes, at_end);
        struct error err = {""};
        int status = decode(path, type, block, length, arena.scratch, values, count, &err);

        require(status == 0 || err.text[0] != 0, "an error without a message",
                codec_path_name(path));
        if (number == 0)
            is_valid = status == 0;
        require((status == 0) == is_valid, "another result than the portable path",
                codec_path_name(path));
        if (is_valid && number > 0)
            require(memcmp(values, guarded_area_address(&arena.values, value_bytes, at_end),
                           value_bytes) == 0,
                    "other values than the portable path", codec_path_name(path));
    }
    return is_valid;
}

/* Decodes a copy of the block. Returns whether it is valid. */
static bool try_block(const uint8_t *bytes, size_t length, bool seal, bool at_end)
{
    uint8_t *block = guarded_area_address(&arena.block, length, at_end);
    struct codec_block_info info;
    struct error err;

    if (length > 0)
        memcpy(block, bytes, length);
    if (seal)
        codec_block_seal(block, length);
    if (codec_block_peek(block, length, &info, &err) != 0)
        return false;
    require(info.count <= CODEC_BLOCK_ELEMENTS_MAX, "too many elements are accepted", "peek");
    return try_paths(codec_block_decode, info.type, block, length, info.count, at_end);
}

/* As try_block(), for two consecutive blocks of CODEC_BLOCK_ELEMENTS and of `second` elements. */
static bool try_two(enum codec_type type, uint8_t *const blocks[2], const size_t lengths[2],
                    size_t second, bool at_end)
{
    size_t length = lengths[0] + lengths[1];
    uint8_t *both = guarded_area_address(&arena.block, length, at_end);

    memcpy(both, blocks[0], lengths[0]);
    memcpy(both + lengths[0], blocks[1], lengths[1]);
    return try_paths(codec_blocks_decode, type, both, length, CODEC_BLOCK_ELEMENTS + second,
                     at_end);
}

#ifdef FUZZER

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!arena.scratch)
        arena_create();
    if (size < 1 || size > BLOCK_MAX)
        return 0;
    /* sets the length in the header to the real one, else most inputs would fail there */
    if (size > 1 + CODEC_BLOCK_HEADER_BYTES && data[0] & 1) {
        uint8_t *copy = malloc(size - 1);
        uint32_t length = (uint32_t)size - 1;

        memcpy(copy, data + 1, length);
        memcpy(copy + 8, &length, sizeof length);
        try_block(copy, length, true, data[0] & 2);
        free(copy);
    } else {
        try_block(data + 1, size - 1, true, data[0] & 2);
    }
    return 0;
}

#else

static void put32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

/* Makes one random change. Returns the new length. */
static size_t alter(uint8_t *block, size_t length, struct random_numbers *numbers)
{
    static const uint32_t edge_values[] = {0,     1,     2,          63,         64,
                                           127,   128,   255,        256,        65535,
                                           65536, 65537, 0x7fffffff, 0x80000000, 0xffffffff};
    size_t at = random_bits(numbers) % length;
    uint32_t value = edge_values[random_bits(numbers) % (sizeof edge_values / sizeof *edge_values)];

    switch (random_bits(numbers) % 13) {
    case 0:
    case 1:
        block[at] ^= (uint8_t)(1u << random_bits(numbers) % 8);
        return length;
    case 2:
        block[at] = (uint8_t)random_bits(numbers);
        return length;
    case 3: /* in the tail: frequencies and states */
        at = length - 1 - random_bits(numbers) % (length < 300 ? length : 300);
        block[at] ^= (uint8_t)(1 + random_bits(numbers) % 255);
        return length;
    case 4:
        for (size_t i = at; i < length && i < at + 40; i++)
            block[i] = (uint8_t)random_bits(numbers);
        return length;
    case 5: /* truncate, with the new length in the header */
        put32(block + 8, (uint32_t)at);
        return at;
    case 6: /* truncate only */
        return at;
    case 7: /* append */
        at = 1 + random_bits(numbers) % 300;
        memset(block + length, (int)random_bits(numbers) & 0xff, at);
        put32(block + 8, (uint32_t)(length + at));
        return length + at;
    case 8: /* set the count */
        put32(block + 12,
              random_bits(numbers) % 2 ? value : (uint32_t)random_bits(numbers) % 66000);
        return length;
    case 9: /* set the length */
        put32(block + 8, value);
        return length;
    case 10: /* set the length of the tail */
        block[6] = (uint8_t)value;
        block[7] = (uint8_t)(random_bits(numbers) % (random_bits(numbers) % 2 ? 4 : 48));
        return length;
    case 11: { /* remove a part of the middle, words if there are any */
        size_t out = 2 + random_bits(numbers) % 1500 * 2;

        at = length / 2 + random_bits(numbers) % (length / 2 + 1);
        if (length < 100 || at + out > length)
            return length;
        memmove(block + at, block + at + out, length - at - out);
        put32(block + 8, (uint32_t)(length - out));
        return length - out;
    }
    default: /* set the mode or the type */
        block[4 + random_bits(numbers) % 2] = (uint8_t)(random_bits(numbers) % 36);
        return length;
    }
}

static size_t make_block(uint8_t *block, uint8_t *values, struct random_numbers *numbers)
{
    enum gradients kind = (enum gradients)(random_bits(numbers) % GRADIENTS_KINDS);
    enum codec_type type = (enum codec_type)(random_bits(numbers) % CODEC_TYPES);
    size_t count = random_bits(numbers) % 3000;

    gradients_fill(kind, type, numbers, values, count);
    return codec_block_encode(codec_path_best(), type, values, count, arena.scratch, block);
}

/* Decodes two blocks, and again with one of them altered and its checksum corrected. Adds to *valid
 * the pairs that decode, to altered[0] the altered pairs and to altered[1] those of them that
 * decode. */
static void try_pairs(uint8_t *const blocks[2], uint8_t *values, struct random_numbers *numbers,
                      size_t *valid, size_t altered[2])
{
    enum codec_type type = (enum codec_type)(random_bits(numbers) % CODEC_TYPES);
    size_t second = 1 + random_bits(numbers) % CODEC_BLOCK_ELEMENTS, lengths[2];
    size_t which = random_bits(numbers) % 2;

    for (size_t b = 0; b < 2; b++) {
        size_t count = b ? second : CODEC_BLOCK_ELEMENTS;

        gradients_fill((enum gradients)(random_bits(numbers) % (GRADIENTS_ROWS + 1)), type, numbers,
                       values, count);
        lengths[b] =
            codec_block_encode(codec_path_best(), type, values, count, arena.scratch, blocks[b]);
    }
    *valid += try_two(type, blocks, lengths, second, random_bits(numbers) % 2);
    for (int round = 0; round < 4 && lengths[which] > CODEC_BLOCK_HEADER_BYTES; round++) {
        lengths[which] = alter(blocks[which], lengths[which], numbers);
        codec_block_seal(blocks[which], lengths[which]);
        altered[0]++;
        altered[1] += try_two(type, blocks, lengths, second, random_bits(numbers) % 2);
    }
}

/* Usage: codec_hostile.t [SECONDS [SEED]] */
int main(int argc, char **argv)
{
    double end = clock_s() + (argc > 1 ? atof(argv[1]) : 3);
    struct random_numbers numbers = {argc > 2 ? strtoull(argv[2], NULL, 0) : 20261121};
    uint8_t *block = malloc(BLOCK_MAX), *values = malloc(BLOCK_MAX), *original = malloc(BLOCK_MAX);
    size_t tried = 0, unsealed = 0, passed = 0, passed_unsealed = 0, unaltered = 0,
           unaltered_valid = 0;
    size_t pairs = 0, pairs_valid = 0, altered[2] = {0};

    arena_create();
    while (clock_s() < end || tried < 1000) {
        size_t length = make_block(block, values, &numbers), original_length = length;

        if (unaltered % 64 == 0) {
            try_pairs((uint8_t *[]){block, original}, values, &numbers, &pairs_valid, altered);
            pairs++;
            length = original_length = make_block(block, values, &numbers);
        }
        memcpy(original, block, length);
        unaltered++;
        unaltered_valid += try_block(block, length, false, unaltered % 2);
        for (int round = 0; round < 10; round++) {
            bool seal = random_bits(&numbers) % 4 > 0;

            length = alter(block, length, &numbers);
            if (random_bits(&numbers) % 4 == 0 && length > CODEC_BLOCK_HEADER_BYTES)
                length = alter(block, length, &numbers);
            if (length == original_length && memcmp(block, original, length) == 0)
                continue;
            tried++;
            unsealed += !seal;
            if (try_block(block, length, seal, random_bits(&numbers) % 2)) {
                passed += seal;
                passed_unsealed += !seal;
            }
            /* restore the block, or alter it further */
            if (length <= CODEC_BLOCK_HEADER_BYTES || random_bits(&numbers) % 2) {
                length = original_length;
                memcpy(block, original, length);
            }
        }
    }
    tap_diag("%zu altered blocks, %zu of them decode once their checksum is corrected", tried,
             passed);
    tap_diag("%zu pairs of which one is altered, %zu of them decode", altered[0], altered[1]);
    is_int(unaltered_valid, unaltered, "unaltered blocks decode");
    is_int(pairs_valid, pairs, "... and so do two consecutive ones");
    ok(altered[0] > altered[1],
       "two blocks, one of them altered, have the same result on every path");
    ok(tried >= 1000, "altered blocks give an error or the same values on every path");
    ok(passed > 0, "... some are valid");
    ok(unsealed > 0, "... some have a wrong checksum");
    is_int(passed_unsealed, 0, "... and none of these decodes");
    free(block);
    free(values);
    free(original);
    return tap_done();
}

#endif
