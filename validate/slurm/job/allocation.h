/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ALLOCATION_H
#define MUSTER_ALLOCATION_H

#include <signal.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "validate/slurm/job/user.h"

/* A request for whole nodes with all their resources. */
struct allocation_request {
    const char *job_name;
    const struct user *user;  /* the job's owner; NULL: the user of this process */
    uint32_t previous_job_id; /* canceled once this job is queued, to free its nodes; 0: none */
    const struct hostlist *nodes;
    const char *cluster;     /* keeps the job off other clusters of a federation */
    const char *partition;   /* NULL: Slurm's default */
    const char *reservation; /* NULL: none */
    /* with topology/block: all nodes of the reservation. Slurm starts no job that names nodes of
     * more blocks than it needs (eval_nodes_block.c), so the job excludes the other nodes. NULL:
     * the job names its own nodes */
    const struct hostlist *reservation_nodes;
    uint64_t memory; /* per node: memory.h; 0: all */
    /* per node, if a job of whole nodes gets only requested GPUs (gres_is_explicit()); 0: no
     * request */
    long gpus;
    int minutes;                       /* the job's time limit */
    double deadline_s;                 /* until the job is ready; more for prologs of many nodes */
    const volatile sig_atomic_t *stop; /* given up once not 0; may be NULL */
    void (*on_tick)(void *context);    /* called some ten times a second; may be NULL */
    void *context;
};

/* Allocates the nodes and waits until the prologs of all of them have ended. A later loss of a node
 * does not end the job. Queries the controller itself instead of using salloc, which looks for the
 * end of the prologs only every three seconds. Returns 0 with *job_id; 1 with err if the allocation
 * was not ready in time or was given up: the caller cancels the remaining job by name; 2 with err
 * if the controller lost the job (CLUSTER_JOB_LOST): request it again; -1 with err if Slurm refused
 * or removed it. */
int allocation_get(const struct allocation_request *request, uint32_t *job_id, struct error *err);

/* Queries whether Slurm would accept such a job of request->user (not NULL) at all, now or later:
 * account, QOS, limits, access to the partition. Allocates nothing. Returns 0, also if that is not
 * known, or -1 with err, which says what the site must change. */
int allocation_check(const struct allocation_request *request, struct error *err);

/* Sets err to Slurm's refusal, "WHAT NODES for USER: ...", and to the change that the site must
 * make, if known. The refusal may be temporary: slurmctld also refuses an account until it has
 * loaded the associations. Returns -1. */
int allocation_refused(struct error *err, const char *what, const char *nodes, const char *user,
                       int reason);

#endif
