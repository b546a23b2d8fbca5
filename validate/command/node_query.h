/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NODE_QUERY_H
#define MUSTER_NODE_QUERY_H

#include <signal.h>
#include <stdbool.h>

#include "lib/base/hostlist.h"
#include "validate/slurm/cluster.h"

/* Runs a muster command on nodes, each as a task of a small job that shares the node. A node that
 * keeps a job from starting is found by bisection (step_query_by_halves()). */
struct node_query {
    const struct cluster *cluster;
    char *const *program; /* path and arguments, ends with NULL */
    double deadline_s;    /* of a job */
    /* Takes a line that the node printed. Returns whether it was the last line of the node. */
    bool (*take)(const char *node, const char *line, void *context);
    /* Called for each node that is not queried again and whose lines are incomplete; why: the
     * reason, "" if unknown. */
    void (*on_silence)(const char *node, const char *why, void *context);
    void *context;
    bool retries_silent; /* queries nodes again that printed nothing in a job in which others did */
    bool is_at_once;     /* queries no node again: the nodes are not expected to start a job */
    const volatile sig_atomic_t *stop; /* non-zero ends the query; nodes that were not yet queried
                                          get no on_silence(); may be NULL */
};

/* Queries the nodes, which are all in the partition. */
void node_query_in(const struct node_query *query, const char *partition,
                   const struct hostlist *nodes);

/* Queries each node in a partition that is up and has many of the nodes. Returns 0, or -1 if memory
 * is out. */
int node_query_run(const struct node_query *query, const struct hostlist *nodes);

#endif
