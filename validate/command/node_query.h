/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NODE_QUERY_H
#define MUSTER_NODE_QUERY_H

#include <signal.h>
#include <stdbool.h>

#include "lib/base/hostlist.h"
#include "validate/slurm/cluster.h"

/* Has nodes run a muster command, each as a task of a small job beside whatever runs there. A node
 * that keeps a job from starting is found by halves (step_by_halves()). */
struct node_query {
    const struct cluster *cluster;
    char *const *program; /* path and arguments, ends with NULL */
    double deadline_s;    /* of a job */
    /* Takes a line that the node printed. Returns whether these were all of them. */
    bool (*take)(const char *node, const char *line, void *context);
    /* Gets each node whose lines are not all there once it is not asked any more, and why; "": not
     * known. */
    void (*on_silence)(const char *node, const char *why, void *context);
    void *context;
    bool retries_silent; /* asks those again that printed nothing in a job in which others did */
    bool is_at_once;     /* asks no node again: they are not expected to start a job */
    const volatile sig_atomic_t *stop; /* ends it, for nodes that were not asked without a word;
                                          NULL: nothing does */
};

/* Asks the nodes, which that partition has. */
void node_query_in(const struct node_query *query, const char *partition,
                   const struct hostlist *nodes);

/* Asks each in a partition that is up and has many of them. Returns 0, or -1 without memory. */
int node_query_run(const struct node_query *query, const struct hostlist *nodes);

#endif
