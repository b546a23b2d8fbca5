/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SHAPE_H
#define MUSTER_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "trainer/real.h"

/* The size of a GPT-2, its tensors, and their layout.
 *
 * Parameters are stored in units, one behind the other: the ends (wte, wpe and the final norm,
 * which embed and head share), then each layer. Units are gathered, reduced and freed as a whole.
 */

struct shape {
    int layers, heads, channels, context, vocabulary;
};

/* In the order in which the weights are drawn (parameters_fill). */
enum tensor {
    WTE,      /* vocabulary x channels, also the head */
    WPE,      /* context x channels */
    LN1W,     /* channels */
    LN1B,     /* channels */
    QKVW,     /* 3 channels x channels; row = output feature */
    QKVB,     /* 3 channels */
    ATTPROJW, /* channels x channels */
    ATTPROJB, /* channels */
    LN2W,     /* channels */
    LN2B,     /* channels */
    FCW,      /* 4 channels x channels */
    FCB,      /* 4 channels */
    FCPROJW,  /* channels x 4 channels */
    FCPROJB,  /* channels */
    LNFW,     /* channels */
    LNFB,     /* channels */
    TENSOR_COUNT
};

enum unit_kind { UNIT_ENDS, UNIT_LAYER };
enum tensor_start { START_ZERO, START_ONE, START_DRAWN, START_DRAWN_RESIDUAL };

struct tensor_kind {
    const char *name;
    enum unit_kind unit;
    enum tensor_start start; /* DRAWN_RESIDUAL: smaller by sqrt(2 layers) */
    bool is_factor;          /* a factor of matrix products; its gradient is a product, too */
};
extern const struct tensor_kind tensor_kinds[TENSOR_COUNT];

/* 124M, 350M, 774M, 1558M: layers, heads, channels, 1024 of context, 50257 tokens (Radford et al.
 * 2019, table 2; OpenAI's released sizes). Returns false if there is no such name. */
bool shape_named(const char *name, struct shape *shape);

/* Returns 0, or -1 with err: channels must be a multiple of heads, vocabulary at least 2, all
 * others at least 1. */
int shape_check(const struct shape *shape, struct error *err);

/* Returns the elements of the tensor in one layer, or of the whole tensor if no layer has it. */
size_t shape_tensor_size(const struct shape *shape, enum tensor tensor);

/* Returns the number of units: 0 the ends, 1 ... layers. */
int shape_units(const struct shape *shape);
size_t shape_unit_size(const struct shape *shape, int unit);   /* elements */
size_t shape_unit_offset(const struct shape *shape, int unit); /* elements before it */
size_t shape_parameters(const struct shape *shape);            /* elements in all */

/* Returns the offset of the tensor in its unit, in elements. */
size_t shape_tensor_offset(const struct shape *shape, enum tensor tensor);

/* Whether that unit has a part of the tensor. */
bool shape_unit_has(const struct shape *shape, int unit, enum tensor tensor);

#endif
