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
        *container; /* GpuContainer; if it is a command, program begins with it; NULL: none */
    double deadline_s;
    bool survives_loss; /* its program goes on without a node that is lost: muster-links */
    double held_s;      /* how much longer than others its tasks may be silent */
};
/* Runs a step and adds its records; *first is the index of the first. If the step takes longer than
 * a few seconds, its nodes are queried from time to time. A node that does not answer fails in this
 * stage, and the step is ended: at once or, with survives_loss, after some seconds without output.
 * Then all of its nodes are queried before any is judged: many that vanish at once belong to one
 * outage. An MPI step without any output is ended if a node reports that it cannot start the
 * program (program_probe.h). Returns 0 if the step ended by itself with a status of the battery (0,
 * 1, 3), 1 if it did not (err says what was seen), -1 with err if it could not be started or memory
 * is out. */
int certify_step(struct certify *certify, const struct certify_step *step, size_t *first,
                 struct error *err);
/* Runs "muster WORDS..." (step_add_muster()) as one task on each of the nodes: certify_step() with
 * the step's stage, nodes, input, held_s and deadline. It survives the loss of a node: no task
 * needs another. program is cleared. */
int certify_muster(struct certify *certify, const struct certify_step *step,
                   struct arguments *program, size_t *first, struct error *err);

#endif
