/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_STEP_H
#define MUSTER_CERTIFY_STEP_H

#include "validate/certify/state/run.h"
#include "validate/certify/step/step_setup.h"

struct certify_step {
    enum stage stage;
    const struct hostlist *nodes;
    int tasks_per_node;
    long gpus; /* as in struct step */
    bool is_mpi;
    bool keeps_order; /* as in struct step */
    char *const *program;
    const char *const *environment;
    const char *input;
    const char
        *container; /* GpuContainer, whose command, if it is one, begins program; NULL: none */
    double deadline_s;
    bool survives_loss; /* its program goes on without a node that is lost: muster-links */
    double held_s;      /* its tasks may be silent so much longer than others */
};
/* Runs a step; its records are added, *first is the index of the first. While a step goes on for
 * longer than a few seconds its nodes are asked whether they are still there; one that does not
 * answer fails in this stage and the step is ended, at once or, where it survives that, when it has
 * had nothing to say for some seconds. Then all of its nodes are asked, before any of them is
 * judged: many that go at once are of one outage. An MPI step that says nothing at all is ended
 * once a node tells that it cannot start the program (program_probe.h). Returns 0 when it ended by
 * itself with a status of the battery's (0, 1, 3), 1 when it did not (err says what was seen), -1
 * when it could not be started. */
int certify_step(struct certify *certify, const struct certify_step *step, size_t *first,
                 struct error *err);
/* Runs "muster WORDS..." (step_muster()) as one task on each of the nodes: certify_step() with the
 * step's stage, nodes, input, held_s and deadline. It survives the loss of a node: no task needs
 * another. program is cleared. */
int certify_muster(struct certify *certify, const struct certify_step *step,
                   struct arguments *program, size_t *first, struct error *err);

#endif
