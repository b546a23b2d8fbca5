/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_MADE_CONTROLLER_H
#define MUSTER_TESTS_MADE_CONTROLLER_H

/* A controller with nodes n1, n2 ... in one partition. It replaces libslurm's and counts what a
 * node's health check asks and does. In tests linked with --wrap=getrandom samples of nodes are
 * reproducible. */

#include "validate/slurm/cluster.h"

enum { CONTROLLER_NODES = 2000, CONTROLLER_TEXT = 200 };

extern struct controller {
    struct cluster_node nodes[CONTROLLER_NODES]; /* extra and reason have CONTROLLER_TEXT bytes */
    size_t node_count, peers;                    /* peers: in the partition, which repeats nodes */
    bool lacks_topology, is_silent;              /* is_silent: does not answer about one node */
    bool is_slow;                                /* ... and is not given up at once */
    int loads, singles; /* number of queries so far: of all nodes, and of one node */
    int fails_at;       /* number of the query of all nodes that fails; 0: none */
    char done[400];     /* operations so far, such as "drain n1;" */
} controller;

/* Makes this many nodes in service, each without Extra. */
void controller_make(size_t node_count);
/* Drains a node (index from 0) for this reason since then. An empty reason puts it in service. */
void controller_put(size_t node, const char *reason, time_t when);

#endif
