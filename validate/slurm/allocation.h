/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ALLOCATION_H
#define MUSTER_ALLOCATION_H

#include <signal.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "validate/slurm/user.h"

/* An allocation of whole nodes with all that is in them. */
struct allocation_request {
    const char *job_name;
    const struct user *user; /* whose job it is, and so all of its steps; NULL: our own */
    uint32_t before;         /* ends once this one is queued, and leaves it its nodes; 0: none */
    const struct hostlist *nodes;
    const char *cluster;               /* its name: no other of a federation is asked */
    const char *partition;             /* NULL: Slurm's default */
    const char *reservation;           /* NULL: none */
    const struct hostlist *among;      /* the reservation's nodes, where the topology is of blocks:
                                          Slurm then starts no job that names nodes of more blocks
                                          than would hold it (eval_nodes_block.c). It names the
                                          others, which it is to be without. NULL: it names its own */
    uint64_t memory;                   /* of each node: memory.h; 0: all */
    long gpus;                         /* of each node, where a job of whole nodes has those only
                                          that it asks for: gres_is_explicit(); 0: asks for none */
    int minutes;                       /* Slurm ends the job then, whatever became of us */
    double deadline_s;                 /* for the allocation to be there and usable; prologs of
                                          many nodes get more */
    const volatile sig_atomic_t *stop; /* given up once not 0; may be NULL */
    void (*on_tick)(void *context);    /* called some ten times a second; may be NULL */
    void *context;
};

/* Allocates and waits until the prologs of all nodes are through. The loss of a node later does not
 * end the job. Asks the controller itself rather than by salloc, which looks for the prologs' end
 * every three seconds only.
 * Returns 0 with *job_id; 1 with err when it did not come in time or was given up: the caller
 * cancels by name what is left; 2 with err when the controller lost it (CLUSTER_JOB_LOST), so that
 * asking again helps; -1 with err when Slurm refused it. */
int allocation_get(const struct allocation_request *request, uint32_t *job_id, struct error *err);

/* Asks whether such a job of that user's (not NULL) would be had at all, now or later: account,
 * QOS, limits, who may use the partition. Allocates nothing. Returns 0, also where that cannot be
 * told, or -1 with err, which says what the site has to do. */
int allocation_check(const struct allocation_request *request, struct error *err);

/* Sets err to Slurm's refusal, "WHAT NODES for USER: ...", and what the site has to do where that
 * is known. Whether it passes is not: slurmctld refuses an account, too, while it lacks its
 * associations. Returns -1. */
int allocation_refused(struct error *err, const char *what, const char *nodes, const char *user,
                       int reason);

#endif
