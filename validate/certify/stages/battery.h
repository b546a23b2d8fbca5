/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_BATTERY_H
#define MUSTER_CERTIFY_BATTERY_H

#include "lib/constants/certify_constants.h"
#include "validate/certify/state/run.h"

/* Applies the verdicts of the records since first, except deaths, to the outcomes of the nodes that
 * were asked, if at least as bad as `least`. */
void certify_apply_verdicts(struct certify *certify, enum stage stage, size_t first,
                            enum verdict least);

/* How often a step of a stage was tried (made), tried with nobody at fault (blameless), and lost
 * its job too early (jobs); zeros at first. begin: clock_s() of the first try. */
struct certify_tries {
    int made, blameless, jobs;
    double begin;
};
/* After a step that did not complete on all of names: finds the nodes at fault, by the records
 * since first or by querying the nodes. rv: the result of certify_step(); if it is 0, err is filled
 * in. Returns whether to try again; names are then the nodes that are still good. Tries end after
 * too many with nobody at fault, else after the stage's time limit, but not before CERTIFY_TRIES of
 * them. */
bool certify_once_more(struct certify *certify, enum stage stage, struct certify_tries *tries,
                       struct hostlist *names, size_t first, int rv, struct error *err);

/* A stage whose program reports who is at fault. */
struct battery {
    enum stage stage;
    bool is_fabric; /* its data goes over the rails */
    /* adds the program and its arguments for a step on these nodes */
    void (*build)(const struct certify *certify, const struct hostlist *names, double limit_s,
                  struct arguments *program);
    int tasks_per_node;    /* 0: certify_ranks_per_node() */
    const char *container; /* as in struct certify_step */
    long gpus;             /* GPUs per node that the step requests; 0: none */
    /* Whether the battery tests the node; NULL: it tests all. */
    bool (*takes)(const struct battery *battery, const struct node_run *node_run);
};
/* Runs the battery on the good nodes, again without the nodes at fault, and retests suspects. */
void certify_battery(struct certify *certify, const struct battery *battery);
int certify_ranks_per_node(const struct certify *certify);
/* Adds the program's path and the options that all battery programs take. */
void certify_program(const struct certify *certify, const char *name, double limit_s,
                     struct arguments *program);
/* Marks the stage as skipped for the nodes that passed it with nothing measured, by the suite's
 * records since first, and notes why: one note per reason. */
void certify_skip_unmeasured(struct certify *certify, enum stage stage, enum suite_id suite,
                             size_t first);
/* Notes what the stage could have tested and did not, by its newest record of metric coverage since
 * first. */
void certify_coverage_note(struct certify *certify, enum stage stage, size_t first);

#endif
