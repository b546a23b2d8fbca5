/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_STREAM_H
#define MUSTER_CODEC_STREAM_H

#include "collectives/codec/codec.h"

#include <stdint.h>
#include <sys/types.h>

/* Converts from one file descriptor to another, piece by piece, in memory of constant size. */

struct stream_totals {
    enum codec_type type;
    uint64_t in, out; /* bytes */
};

/* Called after each write with the bytes read and written so far; may be NULL. */
typedef void stream_progress(void *argument, uint64_t in, uint64_t out);

struct stream {
    const struct codec_path *path;
    int in;
    int out; /* -1: no output, to test only */
    stream_progress *progress;
    void *progress_argument;
};

/* Encodes all input, or decodes frames, at least one, until the end of the input. Encoding without
 * a type chooses the one that makes the first MiB shortest. */
int stream_convert(const struct stream *stream, bool decodes, const enum codec_type *type,
                   struct stream_totals *totals, struct error *err);

/* Returns the type that makes these bytes shortest. */
enum codec_type stream_guess_type(const struct codec_path *path, const uint8_t *bytes, size_t size,
                                  struct codec_scratch *scratch);

#endif
