/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/wire/wire.h"
#include "lib/base/parse_name.h"

static const struct {
    const char *name;
    enum precision precision;
} formats[WIRE_FORMATS] = {
    [WIRE_AS_IS] = {"as-is", PRECISION_COUNT},       [WIRE_BF16] = {"bf16", PRECISION_BF16},
    [WIRE_FP16] = {"fp16", PRECISION_FP16},          [WIRE_E4M3] = {"e4m3", PRECISION_E4M3},
    [WIRE_E5M2] = {"e5m2", PRECISION_E5M2},          [WIRE_INT8] = {"int8", PRECISION_COUNT},
    [WIRE_LOSSLESS] = {"lossless", PRECISION_COUNT},
};

const char *wire_name(enum wire_format format)
{
    return formats[format].name;
}

PARSE_NAME(wire_parse, enum wire_format, wire_name, WIRE_FORMATS)

bool wire_applies(enum wire_format format, enum element_type type)
{
    if (format == WIRE_LOSSLESS)
        return type == ELEMENT_FP32 || type == ELEMENT_BF16 || type == ELEMENT_FP16;
    return format == WIRE_AS_IS || type == ELEMENT_FP32;
}

bool wire_is_lossy(enum wire_format format)
{
    return format != WIRE_AS_IS && format != WIRE_LOSSLESS;
}

enum precision wire_precision(enum wire_format format)
{
    return formats[format].precision;
}

enum codec_type wire_codec(enum element_type type)
{
    return type == ELEMENT_BF16 ? CODEC_BF16 : type == ELEMENT_FP16 ? CODEC_FP16 : CODEC_FP32;
}

/* In an int8 message the scales come first, so that they are aligned. */
static size_t int8_bytes(size_t count)
{
    return precision_int8_scales(count) * sizeof(float) + count;
}

size_t wire_bound(enum wire_format format, enum element_type type, size_t count)
{
    switch (format) {
    case WIRE_AS_IS:
        return count * element_bytes(type);
    case WIRE_INT8:
        return int8_bytes(count);
    case WIRE_LOSSLESS:
        return codec_blocks_bound(wire_codec(type), count);
    default:
        return count * precision_bytes(formats[format].precision);
    }
}

size_t wire_encode(enum wire_format format, enum element_type type, const void *values,
                   size_t count, struct codec_scratch *codec, void *message)
{
    if (format == WIRE_LOSSLESS)
        return codec_blocks_encode(codec_path_best(), wire_codec(type), values, count, codec,
                                   message);
    if (format == WIRE_INT8)
        precision_int8_narrow(values, count,
                              (int8_t *)message + precision_int8_scales(count) * sizeof(float),
                              message);
    else
        precision_narrow(formats[format].precision, values, count, message);
    return wire_bound(format, type, count);
}

int wire_decode(enum wire_format format, enum element_type type, const void *message, size_t bytes,
                struct codec_scratch *codec, void *values, size_t count, struct error *err)
{
    if (format == WIRE_LOSSLESS)
        return codec_blocks_decode(codec_path_best(), wire_codec(type), message, bytes, codec,
                                   values, count, err);
    if (bytes != wire_bound(format, type, count))
        return error_set(err, "found %zu bytes of %s, expected %zu", bytes, wire_name(format),
                         wire_bound(format, type, count));
    if (format == WIRE_INT8)
        precision_int8_widen((const int8_t *)message + precision_int8_scales(count) * sizeof(float),
                             message, count, values);
    else
        precision_widen(formats[format].precision, message, count, values);
    return 0;
}
