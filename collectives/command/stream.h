/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_STREAM_H
#define MUSTER_CODEC_STREAM_H

#include "collectives/codec/codec.h"

#include <stdint.h>
#include <sys/types.h>

/* From one file descriptor to another, block by block, in memory of a block's size. */

struct stream_totals {
    enum codec_type type;
    uint64_t in, out; /* bytes */
};

/* Told now and then how much was read; may be NULL. */
typedef void stream_progress(void *argument, uint64_t in, uint64_t out);

struct stream {
    const struct codec_path *path;
    int in;
    int out; /* -1: nowhere, to test only */
    stream_progress *progress;
    void *progress_argument;
};

/* Codes all that comes, or decodes frames until the end; at least one. Coding without a type takes
 * that with which the first MiB is shortest. */
int stream_convert(const struct stream *stream, bool decodes, const enum codec_type *type,
                   struct stream_totals *totals, struct error *err);

/* The type whose coding makes the most of these bytes. */
enum codec_type stream_guess_type(const struct codec_path *path, const uint8_t *bytes, size_t size,
                                  struct codec_scratch *scratch);

#endif
