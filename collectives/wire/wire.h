/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WIRE_H
#define MUSTER_WIRE_H

#include "collectives/codec/codec.h"
#include "collectives/precision/precision.h"
#include "collectives/reduce/reduce.h"
#include "lib/base/error.h"

/* How numbers travel in a message: as they are, in few bits, or coded without loss. */

enum wire_format {
    WIRE_AS_IS,
    WIRE_BF16, /* from here on fp32 numbers, rounded; what is too great becomes infinity or NaN */
    WIRE_FP16,
    WIRE_E4M3,
    WIRE_E5M2,
    WIRE_INT8,     /* with a scale for each PRECISION_INT8_BLOCK numbers */
    WIRE_LOSSLESS, /* fp32, bf16 or fp16 by the codec */
    WIRE_FORMATS
};

const char *wire_name(enum wire_format format); /* "as-is", "bf16", ..., "lossless" */
bool wire_parse(const char *name, enum wire_format *format);
bool wire_applies(enum wire_format format, enum element_type type);

/* What comes out may differ from what went in. */
bool wire_is_lossy(enum wire_format format);

/* How the codec calls fp32, bf16 or fp16: what WIRE_LOSSLESS applies to. */
enum codec_type wire_codec(enum element_type type);

/* Of a lossy format but int8: what precision_bound() wants. */
enum precision wire_precision(enum wire_format format);

/* The most bytes that count elements take; of all formats but the lossless one the exact number. */
size_t wire_bound(enum wire_format format, enum element_type type, size_t count);

/* Codes count elements into message, which has room for wire_bound() bytes and is aligned to 4.
 * Returns the bytes. codec: of the lossless format. Neither is called for WIRE_AS_IS. */
size_t wire_encode(enum wire_format format, enum element_type type, const void *values,
                   size_t count, struct codec_scratch *codec, void *message);

/* -1: the message of `bytes` bytes is not one of count elements. */
int wire_decode(enum wire_format format, enum element_type type, const void *message, size_t bytes,
                struct codec_scratch *codec, void *values, size_t count, struct error *err);

#endif
