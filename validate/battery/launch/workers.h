/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_WORKERS_H
#define MUSTER_BATTERY_WORKERS_H

#include "lib/base/hostlist.h"
#include "validate/harness/program.h"

/* Which nodes and ranks take part, and how long their start took. */

/* Options about the launch: the first member of the options of a program. */
struct launch_wish {
    double started;           /* -1: not given */
    struct hostlist expected; /* to be cleared by the program */
};

/* The rows of these options, for the table of the program. */
#define LAUNCH_STARTED                                                                             \
    OPTION('\0', "started", "EPOCH",                                                               \
           "time of the launch request, in seconds since 1970; default: the start of the process", \
           DOUBLE, OPTION_FIELD(struct launch_wish, started), OPTION_RANGE(0, 1e11))
#define LAUNCH_EXPECT_NODES                                                                        \
    OPTION('\0', "expect-nodes", "LIST", "expected nodes: n[1-4]", CALL,                           \
           OPTION_FIELD(struct launch_wish, expected), .take = launch_take_expect_nodes)
int launch_take_expect_nodes(const char *value, void *expected, struct error *err);

/* Reports one record per node: the seconds from the launch request to the return of MPI_Init, on
 * the slowest rank of the node. started: the request, since the epoch; <= 0: the start of the
 * process. All ranks call it. */
void workers_start(struct program *program, double started);

/* Checks that every expected node takes part with ranks_per_node ranks (0: any number), and no
 * other node. An empty list expects no node in particular. Rank 0 reports one record per node. */
void workers_check(const struct program *program, const struct hostlist *expected,
                   long ranks_per_node);

#endif
