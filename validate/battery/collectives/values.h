/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VALUES_H
#define MUSTER_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/reduce/reduce.h"
#include "collectives/wire/wire.h"

/* What ranks contribute to collectives, and the expected results, computed without MPI. All values
 * are whole numbers small enough that every type holds them and every partial result exactly, in
 * any order. No MPI here. */

enum value_type {
    TYPE_INT8,
    TYPE_UINT8,
    TYPE_INT16,
    TYPE_UINT16,
    TYPE_INT32,
    TYPE_UINT32,
    TYPE_INT64,
    TYPE_UINT64,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_OF_MPI, /* number of types that MPI has; the others only our algorithms have */
    TYPE_FP16 = TYPE_OF_MPI,
    TYPE_BF16,
    /* by wire format: fewer numbers stay exact in few bits; coded ones lose nothing */
    TYPE_FLOAT_AS_BF16,
    TYPE_FLOAT_AS_FP16,
    TYPE_FLOAT_AS_E4M3,
    TYPE_FLOAT_AS_E5M2,
    TYPE_FLOAT_AS_INT8,
    TYPE_FLOAT_CODED,
    TYPE_FP16_CODED,
    TYPE_BF16_CODED,
    TYPE_COUNT
};

/* The operations are those of MPI's that come before REDUCE_LXOR. */
#define OP_COUNT REDUCE_LXOR

const char *value_type_name(enum value_type type); /* "int8", "float as e4m3", ... */
enum element_type value_element(enum value_type type);
enum wire_format value_wire(enum value_type type);

/* Whether the operation is defined on the type. No products on the wire as int8, whose blocks have
 * one scale: a 3 is not exact beside a 1. */
bool value_op_applies(enum value_type type, enum reduce_op op);

/* Element i of the data that `from` sends to `to` (moving collectives). seed: the case. */
int64_t value_moved(enum value_type type, uint64_t seed, int from, int to, size_t i);

/* Element i of rank's contribution to a reduction over `size` ranks. */
int64_t value_contributed(enum value_type type, enum reduce_op op, uint64_t seed, int rank,
                          int size, size_t i);

/* Returns another value that the type holds exactly, next to `value` if possible, for
 * --inject=lie. */
int64_t value_damaged(enum value_type type, int64_t value);

/* a op b, as the type holds it. */
int64_t value_combine(enum value_type type, enum reduce_op op, int64_t a, int64_t b);

void value_put(enum value_type type, void *buffer, size_t i, int64_t value);
int64_t value_get(enum value_type type, const void *buffer, size_t i);

/* The same for any number, as a floating-point type holds it. */
void number_put(enum element_type type, void *buffer, size_t i, double value);
double number_get(enum element_type type, const void *buffer, size_t i);

#endif
