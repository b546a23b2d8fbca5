/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SUMS_H
#define MUSTER_SUMS_H

#include "validate/battery/links/pass_schedule.h"
#include "validate/battery/links/pair/pair_run.h"

/* Flows that all went from one side to the other at once: from a block to another, from a half of
 * the nodes to the other. Prints a record of each sum, and gives each flow the figure of the time
 * in which all of them ran. */
void sums_report(const struct program *program, const struct pass_schedule *pass_schedule,
                 int round, struct link_results *results);

#endif
