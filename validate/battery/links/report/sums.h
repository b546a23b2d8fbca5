/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SUMS_H
#define MUSTER_SUMS_H

#include "validate/battery/links/pair/pair_run.h"
#include "validate/battery/links/pass_schedule.h"

/* Reports a record of each sum of flows that went from one side to the other at once: from a block
 * to another, or from a half of the nodes to the other. Sets the bandwidth of each flow to that of
 * the time in which all of them ran. */
void sums_report(const struct program *program, const struct pass_schedule *pass_schedule,
                 int round, struct link_results *results);

#endif
