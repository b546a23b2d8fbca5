/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CONSTANT_H
#define MUSTER_CONSTANT_H

#include <stddef.h>

/* Tuned constants: timeouts, thresholds and costs that were chosen or measured. Each is one row in
 * the table of its directory:
 *
 *     ROW(kind, NAME, value, unit, origin, meaning)
 *
 * kind: integer (an enumeration constant), real (a double), or reals (an array of doubles, the
 * value in parentheses). unit: of the value; "ratio" for a ratio of two values of one unit. origin:
 * "chosen YYYY-MM", "measured YYYY-MM: on what" or "standard YYYY-MM: whose". A name is unique in
 * the tree.
 *
 * `muster conf --all` prints all tables (validate/command/constants.c). A value that a site may
 * want to change is a key of muster.conf instead. Sizes of buffers, and values fixed by a protocol
 * or another program's interface, are defined where they are used. */

/* For ROW: defines the constants. */
#define CONSTANT_DEFINE(kind, name, value, unit, origin, meaning)                                  \
    CONSTANT_DEFINE_##kind(name, value)
#define CONSTANT_DEFINE_integer(name, value) enum { name = (value) };
#define CONSTANT_DEFINE_real(name, value) static const double name = (value);
#define CONSTANT_DEFINE_reals(name, value) static const double name[] = {CONSTANT_LIST value};
#define CONSTANT_LIST(...) __VA_ARGS__

/* A row of the table. */
struct constant {
    const char *name;
    const double *values; /* value_count of them, 1 unless it is an array */
    size_t value_count;
    const char *unit, *origin, *meaning;
};

#endif
