/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_PREFLIGHT_H
#define MUSTER_SPANK_PREFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/conf/conf.h"
#include "spank/options.h"

/* Before a step's tasks start, srun runs `muster preflight` as its user, on exactly the step's
 * nodes, as a second step. The step exists by then, so the controller can report its nodes, and
 * none of its tasks has started. */

/* Set in the environment of all that muster preflight starts: its own steps have no preflight. */
#define PREFLIGHT_GUARD "MUSTER_IN_PREFLIGHT"

/* Set in the environment of a step whose preflight found a fault or was interrupted: its tasks end
 * before their program begins. If srun gives up in local_user_init, the step keeps its GPUs and
 * CPUs until the job ends. Neither scancel nor libslurm can end it (seen with Slurm 22.05
 * and 24.11; only srun and slurmstepd send the REQUEST_STEP_COMPLETE that would). If srun has its
 * own allocation, the job ends at once; inside another allocation the next step would wait forever.
 * The name begins with SLURM, because --export=NONE passes no other name. */
#define PREFLIGHT_FAILED_VARIABLE "SLURM_MUSTER_PREFLIGHT_FAILED"

struct preflight_step {
    uint32_t job_id, step_id;
    bool is_inside; /* in an allocation that srun did not make itself */
};

enum preflight_answer {
    PREFLIGHT_START,     /* passed, not wanted, or inconclusive; or a step without user's tasks */
    PREFLIGHT_REFUSE,    /* a fault was found, or the user interrupted the preflight */
    PREFLIGHT_FAIL_TASKS /* the same, and PREFLIGHT_FAILED_VARIABLE must end the step */
};

/* Runs the preflight if the options, their variables or muster.conf ask for it. It takes
 * PreflightBudget at most, and a few seconds to end. The result is on the user's standard error. */
enum preflight_answer preflight_test_step(const struct options *options,
                                          const struct arguments *arguments,
                                          const struct preflight_step *step);

#endif
