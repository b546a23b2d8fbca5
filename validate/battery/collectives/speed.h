/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_SPEED_H
#define MUSTER_BATTERY_SPEED_H

#include "validate/harness/program.h"

/* Allreduce of float at a few sizes, for about seconds each: the bus bandwidth as nccl-tests
 * defines it, algbw x 2 (p - 1) / p, the median over iterations of the slowest rank. For
 * information: nobody judges it here. All ranks call it. */
void speed_measure(struct program *program, double seconds);

#endif
