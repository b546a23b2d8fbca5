/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_MADE_CONTROLLER_H
#define MUSTER_TESTS_MADE_CONTROLLER_H

/* A controller of nodes n1, n2 ... in one partition, linked in the place of libslurm's: what the
 * health check of a node asks and has done. A sample of nodes is the same at each run of a test
 * that is linked with --wrap=getrandom. */

#include "validate/slurm/cluster.h"

enum { CONTROLLER_NODES = 2000, CONTROLLER_TEXT = 200 };

extern struct controller {
    struct cluster_node nodes[CONTROLLER_NODES]; /* extra, reason: of CONTROLLER_TEXT bytes */
    size_t node_count, peers; /* peers: in the partition, the nodes again and again */
    bool lacks_topology;
    int loads, singles; /* of all nodes, and of one, so far */
    int fails_at;       /* which of all nodes does not succeed; 0: none */
    char done[400];     /* "drain n1;" */
} controller;

/* So many nodes in service, each without Extra. */
void controller_make(size_t node_count);
/* A node, from 0, is drained for that since then; "": it is in service. */
void controller_put(size_t node, const char *reason, time_t when);

#endif
