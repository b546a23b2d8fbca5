/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_KEEPER_H
#define MUSTER_RUN_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* The keeper of a job with --no-kill: a step on a node other than the job script's. When that node
 * fails, Slurm takes it from the job and lets that run without its script: the keeper queues the
 * job again. `muster run` writes bytes to the step's standard input; the keeper asks the controller
 * only when they stop. decide.h has the rules. */

struct keeper {
    pid_t pid;   /* of the step's srun; 0: none */
    int beats;   /* its standard input */
    double beat; /* clock_s() of the last byte */
    uint32_t job_id;
};

/* Starts the step on that node, and does not wait for it. script: the node of the job script.
 * Returns 0, or -1 with err. */
int keeper_begin(struct keeper *keeper, uint32_t job_id, char *node, const char *script,
                 struct error *err);

/* Writes a byte where it is time to: to be called some times a minute. Returns false once the step
 * has ended, as it does with this process. Does not wait. */
bool keeper_beat(struct keeper *keeper);

/* The step itself, until its standard input ends. path: of the file that is told of a requeue, or
 * NULL. Returns the exit status. */
int keeper_run(const char *name, const char *script, const char *path);

#endif
