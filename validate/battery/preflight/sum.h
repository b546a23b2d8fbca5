/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_SUM_H
#define MUSTER_BATTERY_SUM_H

#include "validate/harness/program.h"

/* Runs an allreduce of 64-bit integers over all ranks, and checks each sum. Rank 0 reports one
 * record. A wrong sum fails without naming a node, as any contributor or any observer may have
 * damaged it. All ranks call it. */
void sum_check(struct program *program);

#endif
