/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_CLOCK_H
#define MUSTER_BATTERY_CLOCK_H

#include "validate/harness/program.h"

/* Each node's clock against rank 0's, one after the other, by the round trip that took the least
 * time (SKaMPI's method): the offset is wrong by at most half of that. One record per node; fails
 * above the configuration's clock_offset_ms. All ranks call it. */
void clock_compare(struct program *program);

#endif
