/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BACKGROUND_LOAD_H
#define MUSTER_BACKGROUND_LOAD_H

#include <stdbool.h>

#include "collectives/choose/machine.h"

/* What others took of a node's processors while the machine was measured: figures of a busy one
 * mislead later jobs. */

/* From where /proc/stat counts, in seconds of one processor. */
struct background_load_mark {
    double busy_s; /* of all processors, whoever used them */
    double all_s;  /* idle ones too */
};

/* Reads ROOT/proc/stat; root "" is this machine. All zeros where it cannot be read. */
struct background_load_mark background_load_read(const char *root);

/* The share of the node's processors, 0 to 1, that others than the node's ranks, which took own_s
 * of them, used between two marks; 0 where that cannot be told. */
double background_load_share(struct background_load_mark before, struct background_load_mark after,
                             double own_s);

/* More than this share counts as busy. */
extern const double background_load_max;

/* Whether the figures are of a busy machine and were not measured a second time since. */
bool background_load_misled(const struct machine *machine);

/* Which of two measurements of a machine is kept: the one that others disturbed less. Clears the
 * other. It counts as measured twice, so that no third follows. */
struct machine background_load_keep_better(struct machine *first, struct machine *second);

#endif
