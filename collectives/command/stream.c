/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/command/stream.h"
#include "collectives/codec/frame.h"
#include "lib/base/write_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GUESS_BYTES = 1 << 20 };

struct work {
    struct codec_scratch *scratch;
    uint8_t *values, *block;
};

static int work_create(struct work *work, struct error *err)
{
    work->scratch = codec_scratch_create();
    work->values = malloc(GUESS_BYTES);
    work->block = malloc(codec_block_bound(CODEC_FP32, CODEC_BLOCK_ELEMENTS_MAX));
    if (work->scratch && work->values && work->block)
        return 0;
    return error_set(err, "out of memory");
}

static void work_destroy(struct work *work)
{
    codec_scratch_destroy(work->scratch);
    free(work->values);
    free(work->block);
}

ssize_t stream_read(int fd, void *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t some = read(fd, (char *)bytes + done, size - done);

        if (some < 0 && errno == EINTR)
            continue;
        if (some < 0)
            return -1;
        if (some == 0)
            break;
        done += (size_t)some;
    }
    return (ssize_t)done;
}

static int put(const struct stream *stream, const void *bytes, size_t size,
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

/* Codes the first `size` bytes of work->values; what is no whole element is left. */
static int encode_some(const struct stream *stream, struct work *work, struct codec_frame *frame,
                       size_t size, struct stream_totals *totals, struct error *err)
{
    size_t width = codec_type_bytes(frame->type), step = frame->block_elements * width;

    for (size_t at = 0; at + width <= size; at += step) {
        size_t count = (size - at < step ? size - at : step) / width;
        size_t bytes = codec_block_encode(stream->path, frame->type, work->values + at, count,
                                          work->scratch, work->block);

        codec_frame_add(frame, work->block, count);
        if (put(stream, work->block, bytes, totals, err) != 0)
            return -1;
    }
    return 0;
}

static int encode_all(const struct stream *stream, const enum codec_type *type, struct work *work,
                      struct stream_totals *totals, struct error *err)
{
    uint8_t header[CODEC_FRAME_HEADER_BYTES], end[CODEC_FRAME_END_BYTES_MAX];
    struct codec_frame frame;
    ssize_t size = stream_read(stream->in, work->values, GUESS_BYTES);
    size_t rest;

    if (size < 0)
        return error_set(err, "reading: %m");
    totals->type =
        type ? *type : stream_guess_type(stream->path, work->values, (size_t)size, work->scratch);
    codec_frame_begin(&frame, totals->type, CODEC_BLOCK_ELEMENTS, header);
    if (put(stream, header, sizeof header, totals, err) != 0)
        return -1;
    for (;;) {
        totals->in += (uint64_t)size;
        if (encode_some(stream, work, &frame, (size_t)size, totals, err) != 0)
            return -1;
        /* what is read at once is a whole number of blocks, unless it is the last */
        if (size < GUESS_BYTES)
            break;
        size = stream_read(stream->in, work->values, GUESS_BYTES);
        if (size < 0)
            return error_set(err, "reading: %m");
    }
    rest = (size_t)size % codec_type_bytes(frame.type);
    return put(stream, end, codec_frame_end(&frame, work->values + size - rest, rest, end), totals,
               err);
}

int stream_encode(const struct stream *stream, const enum codec_type *type,
                  struct stream_totals *totals, struct error *err)
{
    struct work work = {0};
    int status;

    *totals = (struct stream_totals){0};
    status = work_create(&work, err);
    if (status == 0)
        status = encode_all(stream, type, &work, totals, err);
    work_destroy(&work);
    return status;
}

/* Reads exactly size bytes. */
static int take(const struct stream *stream, void *bytes, size_t size, struct stream_totals *totals,
                struct error *err)
{
    ssize_t got = stream_read(stream->in, bytes, size);

    if (got < 0)
        return error_set(err, "reading: %m");
    totals->in += (uint64_t)got;
    if ((size_t)got < size)
        return error_set(err, "cut: ends in the middle of a frame");
    return 0;
}

/* The blocks and the end of one frame. */
static int decode_frame(const struct stream *stream, struct codec_frame *frame, struct work *work,
                        struct stream_totals *totals, struct error *err)
{
    size_t width = codec_type_bytes(frame->type), rest_bytes;
    uint8_t rest[CODEC_FRAME_REST_MAX];

    for (;;) {
        struct codec_frame_next next;

        if (take(stream, work->block, CODEC_BLOCK_HEADER_BYTES, totals, err) != 0 ||
            codec_frame_peek(frame, work->block, &next, err) != 0 ||
            take(stream, work->block + CODEC_BLOCK_HEADER_BYTES,
                 next.bytes - CODEC_BLOCK_HEADER_BYTES, totals, err) != 0)
            return -1;
        if (next.is_end)
            return codec_frame_close(frame, work->block, next.bytes, rest, &rest_bytes, err) != 0
                       ? -1
                       : put(stream, rest, rest_bytes, totals, err);
        if (codec_block_decode(stream->path, frame->type, work->block, next.bytes, work->scratch,
                               work->values, next.count, err) != 0)
            return -1;
        codec_frame_add(frame, work->block, next.count);
        if (put(stream, work->values, next.count * width, totals, err) != 0)
            return -1;
    }
}

static int decode_all(const struct stream *stream, struct work *work, struct stream_totals *totals,
                      struct error *err)
{
    for (;;) {
        uint8_t header[CODEC_FRAME_HEADER_BYTES];
        uint64_t before = totals->in;
        struct codec_frame frame;
        ssize_t got = stream_read(stream->in, header, sizeof header);

        if (got < 0)
            return error_set(err, "reading: %m");
        if (got == 0 && before > 0)
            return 0;
        totals->in += (uint64_t)got;
        if ((size_t)got < sizeof header && codec_frame_is_one(header, (size_t)got))
            return error_set(err, "cut: ends in the middle of a frame");
        if ((size_t)got < sizeof header || !codec_frame_is_one(header, (size_t)got))
            return before == 0 ? error_set(err, "not in muster-codec's format")
                               : error_set(err, "more bytes follow the end");
        if (codec_frame_open(&frame, header, err) != 0 ||
            decode_frame(stream, &frame, work, totals, err) != 0)
            return -1;
        totals->type = frame.type;
    }
}

int stream_decode(const struct stream *stream, struct stream_totals *totals, struct error *err)
{
    struct work work = {0};
    int status;

    *totals = (struct stream_totals){0};
    status = work_create(&work, err);
    if (status == 0)
        status = decode_all(stream, &work, totals, err);
    work_destroy(&work);
    return status;
}
