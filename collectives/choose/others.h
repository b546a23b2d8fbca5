/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_OTHERS_H
#define MUSTER_OTHERS_H

#include <stdbool.h>

#include "collectives/choose/machine.h"

/* What others took of a node's processors while the machine was measured: figures of a busy one
 * mislead later jobs. */

/* From where /proc/stat counts, in seconds of one processor. */
struct others_mark {
    double busy_s; /* of all processors, whoever used them */
    double all_s;  /* idle ones too */
};

/* Reads ROOT/proc/stat; root "" is this machine. All zeros where it cannot be read. */
struct others_mark others_read(const char *root);

/* The share of the node's processors, 0 to 1, that others than the node's ranks, which took own_s
 * of them, used between two marks; 0 where that cannot be told. */
double others_share(struct others_mark before, struct others_mark after, double own_s);

/* More than this share counts as busy. */
extern const double others_most;

/* Whether the figures are of a busy machine and were not measured a second time since. */
bool others_misled(const struct machine *machine);

/* Of the load of the last minute, per processor: whether it is worth measuring now. */
bool others_are_gone(double load);

/* Which of two measurements of a machine is kept: the one that others disturbed less. Clears the
 * other. It counts as measured twice, so that no third follows. */
struct machine others_keep_better(struct machine *first, struct machine *second);

#endif
