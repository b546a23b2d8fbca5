/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ELEMENT_H
#define MUSTER_ELEMENT_H

#include <stdint.h>
#include <string.h>

#include "trainer/real.h"

/* The type of activations. The files cpu_*.c are built once with `real`, and once with bfloat16,
 * the upper half of a float, under other names. */
#ifdef MUSTER_ELEMENT_BF16

typedef uint16_t element;

static inline real element_get(element x)
{
    uint32_t bits = (uint32_t)x << 16;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounded to the nearest, ties to even. */
static inline element element_of(real x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (element)((bits & 0x7FFFFFFFu) > 0x7F800000u
                         ? 0x7FC0u /* not a number */
                         : (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}

#define cpu_layernorm bf16_layernorm
#define cpu_layernorm_backward bf16_layernorm_backward
#define cpu_attention bf16_attention
#define cpu_attention_backward bf16_attention_backward
#define cpu_gelu bf16_gelu
#define cpu_gelu_backward bf16_gelu_backward
#define cpu_add bf16_add
#define cpu_sum_rows bf16_sum_rows
#define cpu_embed bf16_embed
#define cpu_embed_backward bf16_embed_backward
#define cpu_cross_entropy bf16_cross_entropy

#else

typedef real element;

static inline real element_get(element x)
{
    return x;
}

static inline element element_of(real x)
{
    return x;
}

#endif
#endif
