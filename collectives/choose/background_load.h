/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BACKGROUND_LOAD_H
#define MUSTER_BACKGROUND_LOAD_H

#include <stdbool.h>

#include "collectives/choose/machine.h"

/* The share of a node's processors that other processes used while the machine was measured.
 * Figures of a busy machine mislead later jobs. */

/* The counters of /proc/stat at one time, in seconds of one processor. */
struct background_load_mark {
    double busy_s; /* of all processors and all processes */
    double all_s;  /* busy and idle */
};

/* Reads ROOT/proc/stat; root "" is this machine. All zeros if it cannot be read. */
struct background_load_mark background_load_read(const char *root);

/* Returns the share of the node's processors, 0 to 1, that other processes used between two marks.
 * own_s: the processor time of the node's ranks, not counted. Returns 0 if a mark is unreadable. */
double background_load_share(struct background_load_mark before, struct background_load_mark after,
                             double own_s);

/* A machine is busy above this share. */
extern const double background_load_max;

/* Whether the figures are of a busy machine and have not been measured a second time. */
bool background_load_misled(const struct machine *machine);

/* Returns the one of two measurements with the lower background load, marked as measured twice, so
 * that no third follows. Clears the other. */
struct machine background_load_keep_better(struct machine *first, struct machine *second);

#endif
