/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/command/bench.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/read_all.h"
#include "lib/base/statistics.h"

enum { VALUES_MAX = 256 << 20, ROUNDS_MAX = 1001, ROUNDS_MIN = 5 };

struct memory {
    struct codec_scratch *scratch;
    uint8_t *values, *coded, *back;
    size_t count, blocks; /* elements; blocks of CODEC_BLOCK_ELEMENTS, the last may be shorter */
    double *coding_s, *decoding_s;
};

static size_t elements_of(const struct memory *memory, size_t block)
{
    size_t begin = block * CODEC_BLOCK_ELEMENTS;

    return memory->count - begin < CODEC_BLOCK_ELEMENTS ? memory->count - begin
                                                        : CODEC_BLOCK_ELEMENTS;
}

static int measure(const struct codec_path *path, double limit_s, struct memory *memory,
                   struct bench *bench, struct error *err)
{
    struct bench_rate *rate = &bench->rates[bench->paths++];
    double end = clock_thread_s() + limit_s, bytes;
    unsigned rounds = 0;

    while (rounds < ROUNDS_MIN || (rounds < ROUNDS_MAX && clock_thread_s() < end)) {
        double begin = clock_thread_s(), middle;

        bench->coded_bytes = codec_blocks_encode(path, bench->type, memory->values, memory->count,
                                                 memory->scratch, memory->coded);
        middle = clock_thread_s();
        if (codec_blocks_decode(path, bench->type, memory->coded, bench->coded_bytes,
                                memory->scratch, memory->back, memory->count, err) != 0)
            return -1;
        memory->coding_s[rounds] = middle - begin;
        memory->decoding_s[rounds++] = clock_thread_s() - middle;
    }
    bytes = (double)memory->count * (double)codec_type_bytes(bench->type);
    if (memcmp(memory->values, memory->back, (size_t)bytes) != 0)
        return error_set(err, "path %s decodes to different values", codec_path_name(path));
    rate->path = codec_path_name(path);
    rate->rounds = rounds;
    rate->coding_GBps = bytes / statistics_median(memory->coding_s, rounds) * 1e-9;
    rate->decoding_GBps = bytes / statistics_median(memory->decoding_s, rounds) * 1e-9;
    return 0;
}

/* ------------------------------------------------------------------------------------ entropy */

static double entropy_bits(const uint64_t counts[256])
{
    double bits = 0, all = 0;

    for (unsigned s = 0; s < 256; s++)
        all += (double)counts[s];
    for (unsigned s = 0; s < 256; s++)
        if (counts[s] > 0)
            bits -= (double)counts[s] * log2((double)counts[s] / all);
    return bits;
}

static void find_bounds(const struct memory *memory, struct bench *bench)
{
    unsigned width = (unsigned)codec_type_bytes(bench->type);
    unsigned mantissa = bench->type == CODEC_BF16 ? 7 : bench->type == CODEC_FP16 ? 10 : 23;
    unsigned mask = bench->type == CODEC_FP16 ? 31 : 255;
    uint64_t all[256] = {0};
    double blocks_bits = 0, other_bits;

    for (size_t b = 0; b < memory->blocks; b++) {
        const uint8_t *values = memory->values + b * CODEC_BLOCK_ELEMENTS * width;
        uint64_t counts[256] = {0};

        for (size_t n = 0; n < elements_of(memory, b); n++) {
            uint32_t word = 0;

            memcpy(&word, values + n * width, width);
            counts[word >> mantissa & mask]++;
        }
        blocks_bits += entropy_bits(counts);
        for (unsigned s = 0; s < 256; s++)
            all[s] += counts[s];
    }
    other_bits = (double)memory->count * (bench->type == CODEC_FP16 ? 11 : 1 + mantissa);
    bench->bound_bytes = (entropy_bits(all) + other_bits) / 8;
    bench->block_bound_bytes = (blocks_bits + other_bits) / 8;
}

/* ---------------------------------------------------------------------------------------- all */

static int read_values(const char *input, struct memory *memory, size_t *size, struct error *err)
{
    int fd = strcmp(input, "-") == 0 ? 0 : open(input, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return error_set(err, "%s: %m", input);
    memory->values = malloc(VALUES_MAX);
    got = memory->values ? read_all(fd, memory->values, VALUES_MAX) : -1;
    if (got < 0)
        error_set(err, "%s: %m", input);
    if (fd > 0)
        close(fd);
    *size = (size_t)got;
    return got < 0 ? -1 : 0;
}

static int bench_in(struct memory *memory, const char *input, const enum codec_type *type,
                    const struct codec_path *only, double limit_s, struct bench *bench,
                    struct error *err)
{
    const struct codec_path *path;
    size_t size = 0, width;

    memory->scratch = codec_scratch_create();
    if (read_values(input, memory, &size, err) != 0)
        return -1;
    if (!memory->scratch)
        return error_set(err, "out of memory");
    bench->type = type ? *type
                       : stream_guess_type(codec_path_best(), memory->values,
                                           size < 1 << 20 ? size : 1 << 20, memory->scratch);
    width = codec_type_bytes(bench->type);
    memory->count = size / width;
    if (memory->count == 0)
        return error_set(err, "%s: has no element of %s", input, codec_type_name(bench->type));
    bench->values_bytes = memory->count * width;
    memory->blocks = (memory->count + CODEC_BLOCK_ELEMENTS - 1) / CODEC_BLOCK_ELEMENTS;
    memory->coded = malloc(codec_blocks_bound(bench->type, memory->count));
    memory->back = malloc(bench->values_bytes);
    memory->coding_s = calloc(ROUNDS_MAX, sizeof *memory->coding_s);
    memory->decoding_s = calloc(ROUNDS_MAX, sizeof *memory->decoding_s);
    if (!memory->coded || !memory->back || !memory->coding_s || !memory->decoding_s)
        return error_set(err, "out of memory");
    find_bounds(memory, bench);
    for (unsigned number = 0; (path = codec_path_at(number)); number++)
        if ((!only || path == only) && measure(path, limit_s, memory, bench, err) != 0)
            return error_prefix(err, "%s", input);
    return 0;
}

int bench_run(const char *input, const enum codec_type *type, const struct codec_path *only,
              double limit_s, struct bench *bench, struct error *err)
{
    struct memory memory = {0};
    int status;

    *bench = (struct bench){0};
    status = bench_in(&memory, input, type, only, limit_s, bench, err);
    codec_scratch_destroy(memory.scratch);
    free(memory.values);
    free(memory.coded);
    free(memory.back);
    free(memory.coding_s);
    free(memory.decoding_s);
    return status;
}
