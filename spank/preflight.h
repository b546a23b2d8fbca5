/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_PREFLIGHT_H
#define MUSTER_SPANK_PREFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/conf/conf.h"
#include "spank/options.h"

/* Before a step's tasks start, in srun and as its user: `muster preflight` on exactly the step's
 * nodes, as a step beside it. The step exists by then, so that the controller can tell its nodes,
 * and nothing of it has been started. */

/* In the environment of what muster preflight starts: its own steps have none. */
#define PREFLIGHT_GUARD "MUSTER_IN_PREFLIGHT"

/* In the environment of a step whose preflight found a fault: its tasks end before their program
 * begins. A srun that gives up in local_user_init leaves the step as it is, with the GPUs and CPUs
 * that it holds, until the job ends, and neither scancel nor anything of libslurm's takes it away
 * (seen with Slurm 22.05 and 24.11; what would, REQUEST_STEP_COMPLETE, only srun and slurmstepd
 * send). Where srun has its own allocation the job ends at once; inside another's the next step
 * would wait for ever. The name begins with SLURM, as --export=NONE lets no other through. */
#define PREFLIGHT_MARK "SLURM_MUSTER_PREFLIGHT_FAILED"

struct preflight_step {
    uint32_t job_id, step_id;
    bool is_inside; /* in an allocation that srun did not make itself */
};

enum preflight_answer {
    PREFLIGHT_START,     /* passed, not wanted, or it cannot be told; the shell of salloc */
    PREFLIGHT_REFUSE,    /* a fault was found, or the user has interrupted it */
    PREFLIGHT_FAIL_TASKS /* a fault was found, and the step is to end by PREFLIGHT_MARK */
};

/* Runs it when the options, their twins or muster.conf want it, for no longer than PreflightBudget
 * and a few seconds to end. The user has read the answer on standard error. */
enum preflight_answer preflight_hold(const struct options *options,
                                     const struct arguments *arguments,
                                     const struct preflight_step *step);

#endif
