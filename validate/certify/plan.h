/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_PLAN_H
#define MUSTER_CERTIFY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/base/record.h"
#include "validate/slurm/cluster.h"

/* The decisions of certify, without doing anything: pure. */

#define PLAN_PREFIX "muster:" /* begins each reason that is ours */

enum plan_role {
    ROLE_TEST,   /* free: test it */
    ROLE_RETEST, /* drained by muster: lift the drain, test it, release or drain it again */
    ROLE_FAULTY, /* Slurm itself took it away because of a fault: name it, do not touch it */
    ROLE_LEAVE,  /* somebody else's: not touched, its verdict is unknown */
};

struct plan {
    enum plan_role role;
    char part[32];     /* ROLE_FAULTY: "slurmd", "gres", ... */
    char message[256]; /* ROLE_FAULTY, ROLE_LEAVE: why, one line */
};

/* What is to be done with a node, from its state in Slurm. is_dry_run: nothing may be changed, so a
 * drain cannot be lifted. */
void plan_node(const struct cluster_node *node, bool is_dry_run, struct plan *plan);

/* The partition to allocate in: wanted when given, else of those that are up the one that has most
 * of the named nodes (the default one, then the first, where there are several). NULL when there is
 * none. */
const struct cluster_partition *plan_partition(const struct cluster *cluster, const char *wanted,
                                               const char *const *names, size_t count);

/* How many of `nodes` nodes may be drained in a run: percent of them, rounded up, at least one. */
size_t plan_drain_cap(size_t nodes, double percent);

/* The reason of a drain: "muster: links eth1 98 of 940 Mb/s 2026-11-20". The part is put before the
 * message unless the message names it. No character that Slurm's tools would split at. */
void plan_reason(const char *test, const char *part, const char *message, time_t now, char *reason,
                 size_t size);

/* Whether two such reasons say the same fault, dates and figures apart: then the older one stays,
 * so that it goes on saying since when. */
bool plan_is_same_reason(const char *then, const char *now);

/* One node's way through the stages. */
enum stage { STAGE_REACH, STAGE_CHECK, STAGE_LAUNCH, STAGE_LINKS, STAGE_COLLECTIVES, STAGE_COUNT };
const char *stage_name(enum stage stage); /* "reach", "check", ... */

struct outcome {
    enum verdict stages[STAGE_COUNT];      /* VERDICT_NONE: not run */
    char cells[STAGE_COUNT][24];           /* what the table shows; "" : the verdict's name */
    enum verdict verdict;                  /* worst so far */
    enum stage stage;                      /* where that was */
    char test[64], part[64], message[256]; /* of the worst, the first of several alike */
};

/* Notes a verdict of a stage. pass also where nothing is said. */
void outcome_note(struct outcome *outcome, enum stage stage, enum verdict verdict, const char *test,
                  const char *part, const char *message);

/* Whether the node is still without a fault and may take part in the next stage. */
bool outcome_is_good(const struct outcome *outcome);

/* The verdict of the node as a whole: PASS (certified) when each stage was passed (a warning does
 * not forbid it), FAIL when one failed, else UNKNOWN; message is set where it was empty. */
enum verdict outcome_conclude(struct outcome *outcome);

/* The exit status: 0 all certified, 1 something failed, 3 something could not be told. is_fault: a
 * fault that is no node's, a slow uplink. No node at all: 3. */
int plan_exit_status(const enum verdict *verdicts, size_t count, bool is_fault);

#endif
