/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_STEP_H
#define MUSTER_CERTIFY_STEP_H

#include "validate/certify/state/run.h"

struct certify_step {
    enum stage stage;
    const struct hostlist *nodes;
    int tasks_per_node;
    bool is_mpi;
    char *const *program;
    const char *const *environment;
    const char *input;
    double deadline_s;
    bool survives_loss; /* its program goes on without a node that is lost: muster-links */
};
/* Runs a step; its records are added, *first is the index of the first. While a step goes on for
 * longer than a few seconds its nodes are asked whether they are still there; one that does not
 * answer fails in this stage and the step is ended, at once or, where it survives that, when it has
 * had nothing to say for some seconds. Returns 0 when it ended by itself with a status
 * of the battery's (0, 1, 3), 1 when it did not (err says what was seen), -1 when it could not be
 * started. */
int certify_step(struct certify *certify, const struct certify_step *step, size_t *first,
                 struct error *err);
/* The nodes in the order of their tasks, where there is one on each: that of Slurm's own table of
 * nodes. Returns 0, or -1 when memory is out or a node is not the cluster's. */
int certify_task_nodes(const struct certify *certify, const struct hostlist *nodes,
                       struct hostlist *tasks);
/* Runs "muster WORDS..." (step_muster()) as one task on each of the nodes: certify_step() with the
 * step's stage, nodes, input and deadline. program is cleared. */
int certify_muster(struct certify *certify, const struct certify_step *step,
                   struct arguments *program, size_t *first, struct error *err);
/* The deadline of a step of so many nodes that takes a node less than seconds: Slurm starts the
 * tasks, and their output is read, at some 50 nodes a second at least. */
double certify_deadline_s(double seconds, size_t nodes);
/* The battery's environment, ends with NULL: control traffic on the management network; is_fabric:
 * data on the rails. Points into itself: not to be copied. */
struct certify_environment {
    const char *entries[10];
    char management[1024], oob[128], run[96];
};
void certify_environment(const struct certify *certify, bool is_fabric,
                         struct certify_environment *environment);

#endif
