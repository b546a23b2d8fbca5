/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ALLOCATION_H
#define MUSTER_ALLOCATION_H

#include <signal.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "validate/slurm/job/user.h"

/* A request for an allocation of whole nodes with all that is in them. */
struct allocation_request {
    const char *job_name;
    const struct user *user;  /* the job's owner; NULL: the user of this process */
    uint32_t previous_job_id; /* a job to cancel once this one is queued, which gets its nodes; 0:
                        none */
    const struct hostlist *nodes;
    const char *cluster;     /* its name: no other cluster of a federation gets it */
    const char *partition;   /* NULL: Slurm's default */
    const char *reservation; /* NULL: none */
    /* the reservation's nodes, in a topology of blocks: Slurm starts no job there that names nodes
     * of more blocks than would hold it (eval_nodes_block.c), so the job excludes the other nodes.
     * NULL: the job names its own nodes */
    const struct hostlist *reservation_nodes;
    uint64_t memory;                   /* per node: memory.h; 0: all */
    long gpus;                         /* per node, if a job of whole nodes has only those that
                                          it requests: gres_is_explicit(); 0: no request */
    int minutes;                       /* time limit, whatever happens to this process */
    double deadline_s;                 /* for it to be ready; prologs of many nodes get more */
    const volatile sig_atomic_t *stop; /* given up once not 0; may be NULL */
    void (*on_tick)(void *context);    /* called some ten times a second; may be NULL */
    void *context;
};

/* Allocates the nodes and waits until the prologs of all of them have ended. A later loss of a node
 * does not end the job. Queries the controller itself instead of using salloc, which looks for the
 * end of the prologs only every three seconds.
 * Returns 0 with *job_id; 1 with err if the allocation was not ready in time or was given up: the
 * caller cancels by name what is left; 2 with err if the controller lost the job
 * (CLUSTER_JOB_LOST), so that another request helps; -1 with err if Slurm refused or removed it. */
int allocation_get(const struct allocation_request *request, uint32_t *job_id, struct error *err);

/* Queries whether Slurm would accept such a job of request->user (not NULL) at all, now or later:
 * account, QOS, limits, access to the partition. Allocates nothing. Returns 0, also if that is not
 * known, or -1 with err, which says what the site must change. */
int allocation_check(const struct allocation_request *request, struct error *err);

/* Sets err to Slurm's refusal, "WHAT NODES for USER: ...", and to what the site must change, if
 * that is known. Whether the refusal will pass is not known: slurmctld also refuses an account
 * while it lacks its associations. Returns -1. */
int allocation_refused(struct error *err, const char *what, const char *nodes, const char *user,
                       int reason);

#endif
