/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_DECIDE_H
#define MUSTER_RUN_DECIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/slurm/job/own_job.h"

/* Decides what `muster run` does once its command has ended, from what was seen. Pure. */

struct run_seen {
    int status;         /* of the command; 0: it is done */
    bool is_stopped;    /* a signal from outside asked for the end */
    bool is_no_command; /* it could not be started */
    double left_s;      /* of the job's time limit */
    int restarts;       /* so far: in this allocation, and the job's requeues */
    int most_restarts;
    bool has_repeated; /* one of the restarts was on the same nodes */

    /* Known once the nodes are examined. Counts are of the nodes that the command ran on, except
     * good and wanted. lost: Slurm took them away from the job; faulty: they failed the preflight;
     * tested: they passed or failed it. */
    bool is_examined;
    size_t used, lost, faulty, tested;
    size_t blocking; /* neither lost nor faulty, but named by muster watch when the command hung */
    size_t good;     /* nodes of the job that are neither lost nor faulty, spares among them */
    size_t wanted;   /* nodes needed to go on */
    bool can_requeue;
};

enum run_action {
    RUN_END,     /* with the command's status */
    RUN_EXAMINE, /* find the node at fault, and decide again */
    RUN_REPLACE, /* go on in the allocation without the nodes at fault */
    RUN_REPEAT,  /* go on with the same nodes, once */
    RUN_REQUEUE, /* queue the job again without the nodes at fault */
};

enum run_reason {
    RUN_DONE,
    RUN_STOPPED,
    RUN_NO_COMMAND,
    RUN_NO_RESTART_LEFT,
    RUN_NO_TIME_LEFT,
    RUN_FAILED,          /* RUN_EXAMINE */
    RUN_NODES_AT_FAULT,  /* RUN_REPLACE, RUN_REQUEUE */
    RUN_HUNG,            /* RUN_REPLACE: a node that may be at fault, by a spare */
    RUN_NO_SPARE,        /* RUN_END: too few good nodes, and the job cannot be queued again */
    RUN_NODES_PASSED,    /* RUN_REPEAT, RUN_END: none at fault, so it is the program */
    RUN_NODES_UNKNOWN,   /* RUN_REPEAT, RUN_END: it is not known which is at fault */
    RUN_TOO_MANY_FAULTY, /* RUN_REPEAT, RUN_END: what most nodes fail is no node's */
};

struct run_decision {
    enum run_action action;
    enum run_reason reason;
};

/* Decides what to do. A node is at fault if Slurm took it away or it failed the preflight; failures
 * of more than half of the tested nodes are not believed. A node that could not be tested is not at
 * fault. A node that only blocked the command is replaced by a spare, if there is one. */
struct run_decision run_decide(const struct run_seen *seen);

/* Returns whether more nodes failed the preflight than are believed. */
bool run_is_many(const struct run_seen *seen);

/* "replace", "nodes-at-fault": for programs. */
const char *run_action_name(enum run_action action);
const char *run_reason_name(enum run_reason reason);

/* ---------------------------------------------------------------- the keeper, keeper.h */

/* Returns the keeper's node: the last node of the job that is not the script's, as the spares are
 * there. NULL: the job cannot be requeued (any more), has no such node, or does not have the
 * script's node (script, may be NULL). */
char *keeper_node(const struct own_job *job, const char *script, long most_restarts);

enum keeper_action { KEEPER_WAIT, KEEPER_END, KEEPER_REQUEUE };

/* Decides what the keeper does when muster run is silent. here: the keeper's node. A job is
 * requeued only if Slurm itself has taken the script's node from it. */
enum keeper_action keeper_decide(const struct own_job *job, const char *here, const char *script);

#endif
