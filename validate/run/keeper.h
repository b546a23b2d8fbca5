/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_KEEPER_H
#define MUSTER_RUN_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* The keeper of a job with --no-kill: a step on a node other than the job script's. If the script's
 * node fails, Slurm removes it from the job, which goes on without its script: then the keeper
 * requeues the job. `muster run` writes bytes to the step's standard input; the keeper queries the
 * controller only when they stop. decide.h has the rules. */

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

/* Writes a byte if it is time to; call it some times a minute. Returns false once the step has
 * ended, as it does with this process. Does not wait. */
bool keeper_beat(struct keeper *keeper);

/* Runs the step itself, until its standard input ends. path: the file to which a requeue is
 * reported, or NULL. Returns the exit status. */
int keeper_run(const char *name, const char *script, const char *path);

#endif
