/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CONSTANT_H
#define MUSTER_CONSTANT_H

#include <stddef.h>

/* Tuned constants: time-outs, thresholds and costs that somebody chose or measured. Each stands
 * once, in the table of its room, as a row
 *
 *     ROW(kind, NAME, value, unit, origin, meaning)
 *
 * kind: integer (an enumeration constant), real (a double), or reals (an array of doubles, the
 * value in parentheses). unit: of the value; "ratio" where it is of two of the same. origin:
 * "chosen YYYY-MM", "measured YYYY-MM: on what" or "standard YYYY-MM: whose". A name is the
 * only one of its kind in the tree.
 *
 * `muster conf --all` prints all tables (validate/command/constants.c). What a site may want to be
 * different is a key of muster.conf instead. Sizes of buffers, and what a protocol or an
 * interface of others fixes, stand where they are used. */

/* As a ROW: defines the constants. */
#define CONSTANT_DEFINE(kind, name, value, unit, origin, meaning)                                  \
    CONSTANT_DEFINE_##kind(name, value)
#define CONSTANT_DEFINE_integer(name, value) enum { name = (value) };
#define CONSTANT_DEFINE_real(name, value) static const double name = (value);
#define CONSTANT_DEFINE_reals(name, value) static const double name[] = {CONSTANT_LIST value};
#define CONSTANT_LIST(...) __VA_ARGS__

/* A row of the table. */
struct constant {
    const char *name;
    const double *values; /* [value_count], 1 unless it is an array */
    size_t value_count;
    const char *unit, *origin, *meaning;
};

#endif
