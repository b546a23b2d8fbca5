/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_CLOCK_H
#define MUSTER_BATTERY_CLOCK_H

#include "validate/harness/program.h"

/* Compares the clock of each node with that of rank 0, one after the other, by the shortest of
 * several round trips (SKaMPI's method): the offset is wrong by at most half of that. Reports a
 * record per node, which fails above clock_offset_ms of the configuration. All ranks call it. */
void clock_compare(struct program *program);

#endif
