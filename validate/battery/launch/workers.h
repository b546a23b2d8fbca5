/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_WORKERS_H
#define MUSTER_BATTERY_WORKERS_H

#include "lib/base/hostlist.h"
#include "validate/harness/program.h"

/* Who takes part, and how long it took to get there. */

/* What is told of the launch by options; the first member of a program's own options. */
struct launch_wish {
    double started;           /* -1: not given */
    struct hostlist expected; /* to be cleared by the program */
};

/* Those options, for its table. */
#define LAUNCH_STARTED                                                                             \
    OPTION('\0', "started", "EPOCH",                                                               \
           "time of the launch request, in seconds since 1970; default: the start of the process", \
           DOUBLE, OPTION_FIELD(struct launch_wish, started), OPTION_RANGE(0, 1e11))
#define LAUNCH_EXPECT_NODES                                                                        \
    OPTION('\0', "expect-nodes", "LIST", "expected nodes: n[1-4]", CALL,                           \
           OPTION_FIELD(struct launch_wish, expected), .take = launch_take_expect_nodes)
int launch_take_expect_nodes(const char *value, void *expected, struct error *err);

/* One record per node: seconds from the asking (started, since the epoch; <= 0: from the process's
 * own start) to MPI_Init's return, the slowest rank of each node. All ranks call it. */
void workers_start(struct program *program, double started);

/* Every expected node is here with its ranks (0: any number of them), and no other; an empty list
 * expects nobody in particular. One record per node, by rank 0. */
void workers_check(const struct program *program, const struct hostlist *expected,
                   long ranks_per_node);

#endif
