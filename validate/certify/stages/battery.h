/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_BATTERY_H
#define MUSTER_CERTIFY_BATTERY_H

#include "lib/constants/certify_constants.h"
#include "validate/certify/state/run.h"

/* Takes the verdicts about the nodes that were asked among the records since first: those that are
 * at least as bad as `least`. */
void certify_verdicts_take(struct certify *certify, enum stage stage, size_t first,
                           enum verdict least);

/* How often a step of a stage was tried, with nobody at fault, and for how many jobs that ended too
 * early; zeros at first. begin: clock_s() then. */
struct certify_tries {
    int made, blameless, jobs;
    double begin;
};
/* After a step that did not run to its end with all of names (rv: what certify_step() gave; 0: err
 * is filled in): finds who is at fault, by the records since first or by asking the nodes.
 * Returns whether another try is worth it, and then names are those that are still good: each is
 * without a node or more of the one before, as long as the stage's time limit is not over, and some
 * tries are made in any case. */
bool certify_once_more(struct certify *certify, enum stage stage, struct certify_tries *tries,
                       struct hostlist *names, size_t first, int rv, struct error *err);

/* A stage whose program says who is at fault. */
struct battery {
    enum stage stage;
    bool is_fabric; /* its data is to go over the rails */
    /* fills in the arguments for those nodes */
    void (*build)(const struct certify *certify, const struct hostlist *names, double limit_s,
                  struct arguments *program);
    int tasks_per_node;    /* 0: as the level has it */
    const char *container; /* as in struct certify_step */
    long gpus;             /* of each node, for the step; 0: it asks for none */
    /* Whether the node is one that it is for; NULL: all are. */
    bool (*takes)(const struct battery *battery, const struct node_run *node_run);
};
/* Runs it on the good nodes, once more without who is at fault, and measures suspects again. */
void certify_battery(struct certify *certify, const struct battery *battery);
int certify_ranks_per_node(const struct certify *certify);
/* Adds the program's path and what all of them take to its arguments. */
void certify_program(const struct certify *certify, const char *name, double limit_s,
                     struct arguments *program);
/* Makes the stage skipped for the nodes that passed it with nothing measured, by the suite's
 * records since first, and notes why: one note for all that say the same. */
void certify_skip_unmeasured(struct certify *certify, enum stage stage, enum suite_id suite,
                             size_t first);
/* Notes what the stage left out of what it could have tested, by its newest record of metric
 * coverage since first. */
void certify_coverage_note(struct certify *certify, enum stage stage, size_t first);

#endif
