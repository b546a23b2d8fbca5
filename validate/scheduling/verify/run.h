/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERIFY_RUN_H
#define MUSTER_VERIFY_RUN_H

#include <signal.h>

#include "lib/base/hostlist.h"
#include "validate/scheduling/site.h"
#include "validate/scheduling/verify/kinds.h"

/* A run of muster policy verify: a reservation of its own and probe jobs in it. All of it is noted
 * in a journal (validate/slurm/undo/undo.h) before it is made. */

struct verify_setting {
    const struct site *site;
    const struct intent *intent;
    struct hostlist nodes;     /* given; none: idle ones are chosen */
    struct hostlist certified; /* nodes with a valid certificate */
    bool has_gate;             /* the plugin refuses jobs on the others: OnMissing=refuse */
    const char *directory;     /* of journals */
    const volatile sig_atomic_t *stop;
    void (*on_doing)(const char *text); /* gets the current activity, about 3 times a second */
    void (*on_result)(const struct intent_statement *statement, const struct verify_result *result);
    void (*on_leftover)(const char *text); /* what is left, as undo.h reports */
};

/* Fills capacity with the least that a node has: of the given nodes, else of those that are in
 * every partition of the Who= lines. Returns 0, or -1 with err if there is no such node. */
int verify_measure(const struct verify_setting *setting, struct verify_capacity *capacity,
                   struct error *err);

/* Verifies all statements, reports each result by on_result(), and removes what it made; also after
 * *stop, when the rest of the statements has no result. Needs root and cluster_open(). Returns 0,
 * or -1 with err. */
int verify_all(const struct verify_setting *setting, struct error *err);

/* ----------------------------------------------------------------- for probes */

struct verify_ask {
    const char *reservation; /* NULL: that of the run */
    const char *gres;        /* per node; NULL: none */
    int nodes, cpus;         /* 0: 1; cpus in all */
    int minutes;
    bool is_exclusive; /* the whole of the run's first node */
    bool is_later;
};

/* Returns the capacity of the run's nodes. */
const struct verify_capacity *verify_capacity_of(const struct verify_run *run);
/* Submits a job and adds it to seen. Returns the job; NULL if it could not be submitted, and
 * seen->not_shown says why. */
struct seen_job *verify_submit(struct verify_run *run, const struct intent_who *who,
                               const struct verify_ask *ask, struct verify_seen *seen);
/* Queries all jobs until is_so() holds, for most_s seconds at most; NULL: once. Returns whether it
 * holds. */
bool verify_wait(struct verify_run *run, double most_s, struct verify_seen *seen,
                 bool (*is_so)(const struct verify_seen *seen));
/* Submits a job for the whole of the run's first node and waits until it runs. Returns whether it
 * does; else seen->not_shown says why. */
bool verify_occupy(struct verify_run *run, const struct intent_who *who, int minutes,
                   struct verify_seen *seen);
/* Reads the priority factors of a job that waits. */
void verify_factors(struct seen_job *job);
/* Cancels the job, if it was accepted, and waits until it is over. What was seen of it stays. */
void verify_end(struct verify_run *run, struct seen_job *job);
/* Queries when and where a job would start on nodes of the partition that have no certificate. */
void verify_uncertified(struct verify_run *run, const struct intent_statement *statement,
                        struct verify_seen *seen);

#endif
