/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REDUCE_H
#define MUSTER_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements of collectives, and the operations that reduce two arrays of them. Pure functions that
 * do not allocate or fail; every path of instructions gives the same bits. */

enum element_type {
    ELEMENT_INT8,
    ELEMENT_UINT8,
    ELEMENT_INT16,
    ELEMENT_UINT16,
    ELEMENT_INT32,
    ELEMENT_UINT32,
    ELEMENT_INT64,
    ELEMENT_UINT64,
    ELEMENT_FP16,
    ELEMENT_BF16,
    ELEMENT_FP32,
    ELEMENT_FP64,
    ELEMENT_TYPES
};

enum reduce_op {
    REDUCE_SUM,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_PRODUCT,
    REDUCE_BAND,
    REDUCE_BOR,
    REDUCE_BXOR,
    REDUCE_LAND, /* logical: 1 or 0 */
    REDUCE_LOR,
    REDUCE_LXOR,
    REDUCE_OPS
};

size_t element_bytes(enum element_type type);
const char *element_name(enum element_type type); /* "int8", "fp32", ... */
bool element_parse(const char *name, enum element_type *type);
bool element_is_float(enum element_type type);

const char *reduce_name(enum reduce_op op); /* "sum", "min", ... */

/* Whether the operation is defined on the type: bitwise and logical ones only on integers. */
bool reduce_applies(enum element_type type, enum reduce_op op);

/* Sets out[i] = left[i] op right[i], count elements, aligned to their size. out may be left or
 * right, and must not overlap them otherwise. Integers wrap around. fp16 and bf16 are computed in
 * fp32 and rounded once, to the nearest, ties to even. For min and max -0 is less than +0, and the
 * result is NaN if either number is. */
void reduce_pair(enum element_type type, enum reduce_op op, const void *left, const void *right,
                 void *out, size_t count);

/* -------------------------------------------------------------------------------------- paths */

/* An implementation of reduce_pair(), which uses the fastest path. For tests. */
struct reduce_path {
    const char *name; /* "portable", "avx2", "avx512" */
    void (*pair)(enum element_type type, enum reduce_op op, const void *left, const void *right,
                 void *out, size_t count);
};

/* Returns the path of a number, from 0 up, slowest first; NULL behind this machine's last. */
const struct reduce_path *reduce_path_at(unsigned number);

#endif
