/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WIRE_H
#define MUSTER_WIRE_H

#include "collectives/codec/codec.h"
#include "collectives/precision/precision.h"
#include "collectives/reduce/reduce.h"
#include "lib/base/error.h"

/* How numbers travel in a message: as they are, in fewer bits, or coded without loss. */

enum wire_format {
    WIRE_AS_IS,
    WIRE_BF16, /* this and the next four: fp32 rounded; overflow becomes infinity or NaN */
    WIRE_FP16,
    WIRE_E4M3,
    WIRE_E5M2,
    WIRE_INT8,     /* with a scale per PRECISION_INT8_BLOCK numbers */
    WIRE_LOSSLESS, /* fp32, bf16 or fp16 by the codec */
    WIRE_FORMATS
};

const char *wire_name(enum wire_format format); /* "as-is", "bf16", ..., "lossless" */
bool wire_parse(const char *name, enum wire_format *format);
bool wire_applies(enum wire_format format, enum element_type type);

/* Whether decoded numbers may differ from the original ones. */
bool wire_is_lossy(enum wire_format format);

/* Returns the codec's name of fp32, bf16 or fp16, the types to which WIRE_LOSSLESS applies. */
enum codec_type wire_codec(enum element_type type);

/* Returns the precision of a lossy format except int8, for precision_bound(). */
enum precision wire_precision(enum wire_format format);

/* Returns the most bytes that count elements take; exact for all formats except the lossless
 * one. */
size_t wire_bound(enum wire_format format, enum element_type type, size_t count);

/* Encodes count elements into message, which has room for wire_bound() bytes and is aligned to 4.
 * Returns the number of bytes. codec: used by the lossless format. Neither this nor wire_decode()
 * is called for WIRE_AS_IS. */
size_t wire_encode(enum wire_format format, enum element_type type, const void *values,
                   size_t count, struct codec_scratch *codec, void *message);

/* Decodes a message of `bytes` bytes. Returns -1 if it does not hold count elements. */
int wire_decode(enum wire_format format, enum element_type type, const void *message, size_t bytes,
                struct codec_scratch *codec, void *values, size_t count, struct error *err);

#endif
