/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_OWN_JOB_H
#define MUSTER_OWN_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

/* Loads a job, and requeues it as its user. cluster_open() must have succeeded. */

struct own_job {
    char name[32];            /* names this job alone in requests: "7", or "36_3" of an array */
    struct hostlist nodes;    /* its current nodes; with --no-kill, without the failed ones */
    struct hostlist excluded; /* its ExcNodeList */
    bool can_requeue;         /* a batch job without --no-requeue */
    bool is_heterogeneous, is_running;
    uid_t uid;
    int requeues; /* how often it was queued again */
    double end_s; /* clock_s() at the end of its time limit; INFINITY: it has none */
};

/* Returns 0, or -1 with err and job empty. Release with own_job_clear(). */
int own_job_load(uint32_t id, struct own_job *job, struct error *err);
void own_job_clear(struct own_job *job);

/* Requeues the job, with its list of excluded nodes as ExcNodeList. Slurm ends the batch script
 * meanwhile: the caller lets no signal end it. Returns 0; 1 with err if the job is queued and the
 * list could not be set; -1 with err if it is not queued. */
int own_job_requeue(const struct own_job *job, struct error *err);

/* Name of the keeper's step (run/keeper.h), which does not count as the user's, and of a variable
 * in its environment. */
#define OWN_JOB_KEEPER "MUSTER_KEEPER"

/* Sets *last to the greatest number of the user's srun steps that the controller has of the job;
 * -1: none. Returns 0, or -1 with err. */
int own_job_last_step(uint32_t id, long *last, struct error *err);

#endif
