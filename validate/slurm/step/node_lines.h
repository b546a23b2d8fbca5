/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NODE_LINES_H
#define MUSTER_NODE_LINES_H

#include "validate/slurm/cluster.h"
#include "validate/slurm/step/labels.h"
#include "validate/slurm/step/process.h"

/* Reads the labeled output of a step with one task per node. srun writes the labels, so no node can
 * forge another node's lines. */
typedef void node_lines_fn(size_t task, const char *node, const char *line, void *context);
struct node_lines {
    struct hostlist nodes; /* of the tasks */
    struct labels labels;
    struct error_line error_line; /* from standard error, without its label */
    node_lines_fn *on_line;       /* of standard output */
    node_lines_fn *on_error_line; /* of standard error, pieces not joined; error_line then has only
                                     srun's lines. NULL: error_line has all */
    void *context;
};

/* Prepares lines for a step on these nodes. Returns 0, or -1 if memory is out or a node is not the
 * cluster's. Release with node_lines_end() in any case. */
int node_lines_begin(const struct cluster *cluster, const struct hostlist *nodes,
                     node_lines_fn *on_line, void *context, struct node_lines *lines);
void node_lines_end(struct node_lines *lines);

/* For struct process: on_line, with the struct node_lines as its context. */
process_line_fn node_lines_read;

#endif
