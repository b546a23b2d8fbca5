/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_KEEPER_H
#define MUSTER_RUN_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "validate/slurm/own_job.h"

/* The keeper of a job with --no-kill: a step on a node other than the job script's. When that node
 * fails, Slurm takes it from the job and leaves the job running without its script: the keeper
 * queues it again. `muster run` writes a byte to the step's standard input now and then; the keeper
 * sleeps until one is missing, and asks the controller only then. */

/* ---------------------------------------------------------------- in muster run */

struct keeper {
    pid_t pid;   /* of the step's srun; 0: none */
    int beats;   /* its standard input */
    double beat; /* clock_s() of the last byte */
    uint32_t job_id;
    char node[256]; /* where it is */
};

/* Starts the step, and does not wait for it. `script`: that node; for its words of farewell the
 * keeper appends to the file that is our standard error. Returns 0, or -1 with err. */
int keeper_begin(struct keeper *keeper, uint32_t job_id, const struct own_job *job,
                 const char *node, const char *script, struct error *err);

/* Writes a byte where it is time to. Call it some times a minute. Returns false once the step has
 * ended, and none is there then. Does not wait. */
bool keeper_beat(struct keeper *keeper);

/* Ends the step, if one is there. */
void keeper_end(struct keeper *keeper);

/* ---------------------------------------------------------------- in the step */

/* Runs in the step until its standard input ends. script: the node of the job script; requeues: of
 * this start of the job; path: of a file that is told of a requeue, or "". Returns the exit status.
 */
int keeper_run(const char *name, const char *script, int requeues, const char *path);

#endif
