/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/command/stream.h"
#include "collectives/codec/frame.h"
#include "lib/base/read_all.h"
#include "lib/base/write_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    GUESS_BYTES = 1 << 20,
    /* Bytes of values that are encoded or decoded at a time, several blocks of each type: they are
     * still in the second-level cache from reading when they are encoded. */
    PIECE_BYTES = 1 << 18,
    BLOCKS = PIECE_BYTES / (2 * CODEC_BLOCK_ELEMENTS),
    /* coded bytes that are read at a time */
    INPUT_BYTES = 1 << 19,
};

struct work {
    struct codec_scratch *scratch;
    uint8_t *values; /* GUESS_BYTES */
    uint8_t *blocks; /* the coded blocks of a piece */
    /* decoding: bytes that were read and are not decoded yet */
    uint8_t *input;
    size_t begin, end;
};

static int work_create(struct work *work, struct error *err)
{
    /* pieces are whole numbers of blocks; with the smallest elements they need the most room */
    _Static_assert(PIECE_BYTES % (4 * CODEC_BLOCK_ELEMENTS) == 0, "blocks of all types");
    _Static_assert(PIECE_BYTES >= 4 * CODEC_BLOCK_ELEMENTS_MAX, "the largest block");
    _Static_assert(INPUT_BYTES >= CODEC_BLOCK_HEADER_BYTES + 4 * CODEC_BLOCK_ELEMENTS_MAX,
                   "the largest coded block");
    work->scratch = codec_scratch_create();
    work->values = malloc(GUESS_BYTES);
    work->blocks = malloc(codec_blocks_bound(CODEC_BF16, PIECE_BYTES / 2));
    work->input = malloc(INPUT_BYTES);
    if (work->scratch && work->values && work->blocks && work->input)
        return 0;
    return error_set(err, "out of memory");
}

static void work_destroy(struct work *work)
{
    codec_scratch_destroy(work->scratch);
    free(work->values);
    free(work->blocks);
    free(work->input);
}

static int write_out(const struct stream *stream, const void *bytes, size_t size,
                     struct stream_totals *totals, struct error *err)
{
    totals->out += size;
    if (stream->out >= 0 && write_all(stream->out, bytes, size) != 0)
        return error_set(err, "writing: %m");
    if (stream->progress)
        stream->progress(stream->progress_argument, totals->in, totals->out);
    return 0;
}

enum codec_type stream_guess_type(const struct codec_path *path, const uint8_t *bytes, size_t size,
                                  struct codec_scratch *scratch)
{
    enum codec_type best = CODEC_BF16;
    size_t least = SIZE_MAX;
    uint8_t *block = malloc(codec_block_bound(CODEC_FP32, CODEC_BLOCK_ELEMENTS));

    for (int type = 0; type < CODEC_TYPES && block; type++) {
        size_t width = codec_type_bytes((enum codec_type)type), sum = 0;
        size_t step = CODEC_BLOCK_ELEMENTS * width;

        for (size_t at = 0; at < size; at += step) {
            size_t some = size - at < step ? size - at : step;

            sum += codec_block_encode(path, (enum codec_type)type, bytes + at, some / width,
                                      scratch, block);
        }
        if (sum < least) {
            least = sum;
            best = (enum codec_type)type;
        }
    }
    free(block);
    return best;
}

/* Adds contiguous blocks of `count` elements in all to the frame. */
static int add_blocks(struct codec_frame *frame, const uint8_t *blocks, size_t count,
                      struct error *err)
{
    while (count > 0) {
        struct codec_block_info info;

        if (codec_block_peek(blocks, CODEC_BLOCK_HEADER_BYTES, &info, err) != 0)
            return -1;
        codec_frame_add(frame, blocks, info.count);
        blocks += info.bytes;
        count -= info.count;
    }
    return 0;
}

/* Encodes the first `size` bytes of work->values, except bytes behind the last whole element. */
static int encode_some(const struct stream *stream, struct work *work, struct codec_frame *frame,
                       size_t size, struct stream_totals *totals, struct error *err)
{
    size_t width = codec_type_bytes(frame->type);

    for (size_t at = 0; at + width <= size; at += PIECE_BYTES) {
        size_t count = (size - at < PIECE_BYTES ? size - at : PIECE_BYTES) / width;
        size_t bytes = codec_blocks_encode(stream->path, frame->type, work->values + at, count,
                                           work->scratch, work->blocks);

        if (add_blocks(frame, work->blocks, count, err) != 0 ||
            write_out(stream, work->blocks, bytes, totals, err) != 0)
            return -1;
    }
    return 0;
}

static int encode_all(const struct stream *stream, const enum codec_type *type, struct work *work,
                      struct stream_totals *totals, struct error *err)
{
    uint8_t header[CODEC_FRAME_HEADER_BYTES], end[CODEC_FRAME_END_BYTES_MAX];
    struct codec_frame frame;
    size_t wanted = GUESS_BYTES, rest;
    ssize_t size = read_all(stream->in, work->values, wanted);

    if (size < 0)
        return error_set(err, "reading: %m");
    totals->type =
        type ? *type : stream_guess_type(stream->path, work->values, (size_t)size, work->scratch);
    codec_frame_begin(&frame, totals->type, CODEC_BLOCK_ELEMENTS, header);
    if (write_out(stream, header, sizeof header, totals, err) != 0)
        return -1;
    for (;;) {
        totals->in += (uint64_t)size;
        if (encode_some(stream, work, &frame, (size_t)size, totals, err) != 0)
            return -1;
        /* each read except the last is a whole number of blocks */
        if ((size_t)size < wanted)
            break;
        wanted = PIECE_BYTES;
        size = read_all(stream->in, work->values, wanted);
        if (size < 0)
            return error_set(err, "reading: %m");
    }
    rest = (size_t)size % codec_type_bytes(frame.type);
    return write_out(stream, end, codec_frame_end(&frame, work->values + size - rest, rest, end),
                     totals, err);
}

/* ---------------------------------------------------------------------------------- decoding */

static size_t at_hand(const struct work *work)
{
    return work->end - work->begin;
}

/* Reads until `wanted` bytes are in work->input or the input ends, as much as it can at a time. */
static int fetch(const struct stream *stream, struct work *work, size_t wanted,
                 struct stream_totals *totals, struct error *err)
{
    if (at_hand(work) >= wanted)
        return 0;
    memmove(work->input, work->input + work->begin, at_hand(work));
    work->end -= work->begin;
    work->begin = 0;
    while (work->end < wanted) {
        ssize_t some = read(stream->in, work->input + work->end, INPUT_BYTES - work->end);

        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0)
            return error_set(err, "reading: %m");
        if (some == 0)
            break;
        work->end += (size_t)some;
        totals->in += (uint64_t)some;
    }
    return 0;
}

static int fetch_all(const struct stream *stream, struct work *work, size_t wanted,
                     struct stream_totals *totals, struct error *err)
{
    if (fetch(stream, work, wanted, totals, err) != 0)
        return -1;
    return at_hand(work) < wanted ? error_set(err, "truncated: ends in the middle of a frame") : 0;
}

/* Contiguous blocks in work->input. */
struct batch {
    unsigned blocks;
    size_t elements[BLOCKS], bytes[BLOCKS]; /* of each */
    size_t all_elements, all_bytes;
};

/* Gathers as many blocks as codec_blocks_decode() can take at once: blocks of full size, and as the
 * last possibly a shorter one. The first of them is in work->input. */
static void gather(const struct codec_frame *frame, const struct work *work,
                   const struct codec_frame_next *first, struct batch *batch)
{
    size_t most = PIECE_BYTES / codec_type_bytes(frame->type);
    struct codec_frame_next next = *first;

    *batch = (struct batch){0};
    do {
        size_t left = at_hand(work) - batch->all_bytes;

        if (next.is_end || next.bytes > left || next.count > most - batch->all_elements)
            return;
        batch->elements[batch->blocks] = next.count;
        batch->bytes[batch->blocks++] = next.bytes;
        batch->all_elements += next.count;
        batch->all_bytes += next.bytes;
        if (next.count != CODEC_BLOCK_ELEMENTS || left - next.bytes < CODEC_BLOCK_HEADER_BYTES)
            return;
    } while (batch->blocks < BLOCKS &&
             codec_frame_peek(frame, work->input + work->begin + batch->all_bytes, &next, NULL) ==
                 0);
}

/* Decodes the first block in work->input. */
static int decode_one(const struct stream *stream, struct codec_frame *frame, struct work *work,
                      size_t elements, size_t bytes, struct stream_totals *totals,
                      struct error *err)
{
    const uint8_t *block = work->input + work->begin;

    if (codec_block_decode(stream->path, frame->type, block, bytes, work->scratch, work->values,
                           elements, err) != 0)
        return -1;
    codec_frame_add(frame, block, elements);
    work->begin += bytes;
    return write_out(stream, work->values, elements * codec_type_bytes(frame->type), totals, err);
}

static int decode_batch(const struct stream *stream, struct codec_frame *frame, struct work *work,
                        const struct batch *batch, struct stream_totals *totals, struct error *err)
{
    const uint8_t *blocks = work->input + work->begin;

    if (batch->blocks > 1 &&
        codec_blocks_decode(stream->path, frame->type, blocks, batch->all_bytes, work->scratch,
                            work->values, batch->all_elements, NULL) == 0) {
        for (unsigned b = 0; b < batch->blocks; blocks += batch->bytes[b++])
            codec_frame_add(frame, blocks, batch->elements[b]);
        work->begin += batch->all_bytes;
        return write_out(stream, work->values, batch->all_elements * codec_type_bytes(frame->type),
                         totals, err);
    }
    /* one of them is damaged: decodes those before it, and reports the error in it */
    for (unsigned b = 0; b < batch->blocks; b++)
        if (decode_one(stream, frame, work, batch->elements[b], batch->bytes[b], totals, err) != 0)
            return -1;
    return 0;
}

/* Decodes the blocks and the end of one frame. */
static int decode_frame(const struct stream *stream, struct codec_frame *frame, struct work *work,
                        struct stream_totals *totals, struct error *err)
{
    uint8_t rest[CODEC_FRAME_REST_MAX];
    struct codec_frame_next next;
    struct batch batch;
    size_t rest_bytes;

    for (;;) {
        if (fetch_all(stream, work, CODEC_BLOCK_HEADER_BYTES, totals, err) != 0 ||
            codec_frame_peek(frame, work->input + work->begin, &next, err) != 0 ||
            fetch_all(stream, work, next.bytes, totals, err) != 0)
            return -1;
        if (next.is_end)
            break;
        gather(frame, work, &next, &batch);
        if (decode_batch(stream, frame, work, &batch, totals, err) != 0)
            return -1;
    }
    if (codec_frame_close(frame, work->input + work->begin, next.bytes, rest, &rest_bytes, err) !=
        0)
        return -1;
    work->begin += next.bytes;
    return write_out(stream, rest, rest_bytes, totals, err);
}

static int decode_all(const struct stream *stream, struct work *work, struct stream_totals *totals,
                      struct error *err)
{
    for (bool is_first = true;; is_first = false) {
        struct codec_frame frame;
        const uint8_t *header;
        size_t got;

        if (fetch(stream, work, CODEC_FRAME_HEADER_BYTES, totals, err) != 0)
            return -1;
        header = work->input + work->begin;
        got = at_hand(work);
        if (got == 0 && !is_first)
            return 0;
        if (got < CODEC_FRAME_HEADER_BYTES && codec_frame_is_one(header, got))
            return error_set(err, "truncated: ends in the middle of a frame");
        if (got < CODEC_FRAME_HEADER_BYTES || !codec_frame_is_one(header, got))
            return is_first ? error_set(err, "not in muster-codec's format")
                            : error_set(err, "found extra bytes after the end record");
        if (codec_frame_open(&frame, header, err) != 0)
            return -1;
        work->begin += CODEC_FRAME_HEADER_BYTES;
        if (decode_frame(stream, &frame, work, totals, err) != 0)
            return -1;
        totals->type = frame.type;
    }
}

int stream_convert(const struct stream *stream, bool decodes, const enum codec_type *type,
                   struct stream_totals *totals, struct error *err)
{
    struct work work = {0};
    int status;

    *totals = (struct stream_totals){0};
    status = work_create(&work, err);
    if (status == 0)
        status = decodes ? decode_all(stream, &work, totals, err)
                         : encode_all(stream, type, &work, totals, err);
    work_destroy(&work);
    return status;
}
