/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_WORKERS_H
#define MUSTER_BATTERY_WORKERS_H

#include "lib/base/hostlist.h"
#include "validate/battery/program.h"

/* Who takes part, and how long it took to get there. */

/* One record per node: seconds from the asking (started, since the epoch; <= 0: from the process's
 * own start) to MPI_Init's return, the slowest rank of each node. All ranks call it. */
void workers_start(struct program *program, double started);

/* Every expected node is here with its ranks (0: any number of them), and no other; an empty list
 * expects nobody in particular. One record per node, by rank 0. */
void workers_check(const struct program *program, const struct hostlist *expected,
                   long ranks_per_node);

#endif
