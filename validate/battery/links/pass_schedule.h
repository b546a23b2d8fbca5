/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PASS_SCHEDULE_H
#define MUSTER_PASS_SCHEDULE_H

#include "validate/battery/links/path/path.h"
#include "validate/battery/links/rounds.h"
#include "validate/schedule/schedule.h"

/* One pass: who meets whom in which round, and how long each is measured. All leaders make the same
 * one. */

struct pass_schedule {
    enum pass_kind kind;
    int rounds, once; /* once: of these, all pairs that are wanted; the others are more of them */
    int times;        /* that all are wanted */
    int enough; /* of `once`: so many name a bad node well enough when there is no time for all */
    struct path_plan plan, plan_again; /* of the first time; of the others, which are as quick as
                                          can be: they are for what comes and goes */
    int *partners; /* [once x nodes] of the pairs that were asked for, or NULL: as schedule says */
    struct schedule *schedule;
    const int *sub_rounds; /* [nodes] of the round that runs, of each one's pair; the first node's.
                              NULL: all at once */
    int *blocks;           /* of each node, -1 in none; NULL: not known */
    char *const *block_names;
};

/* A pass within nodes has a round for each of so many rails, and one where there is none. Returns
 * 0, or -1 with err: why there is nothing to measure. To be cleared in either case. */
int pass_schedule_make(const struct program *program, const struct rounds_plan *options,
                       enum pass_kind kind, int rails, struct pass_schedule *pass_schedule,
                       struct error *err);
void pass_schedule_clear(struct pass_schedule *pass_schedule);

/* How long the paths of that round are measured. */
const struct path_plan *pass_schedule_plan(const struct pass_schedule *pass_schedule, int round);

/* The node's partner, SCHEDULE_BYE when it rests; whether it sends first, when it has one. */
int pass_schedule_partner(const struct program *program, const struct pass_schedule *pass_schedule,
                          int round, int node);
bool pass_schedule_is_first(const struct program *program,
                            const struct pass_schedule *pass_schedule, int round, int node);

/* How many pairs at once cross the uplinks that the node's pair uses: schedule_pair_load() of those
 * in its sub-round. */
int pass_schedule_pair_load(const struct program *program,
                            const struct pass_schedule *pass_schedule, int round, int node);

/* Pair number `index` of "A:B+C:D,E:F": its round from 0, -1: no more. A node that takes no part is
 * -1. */
int pass_schedule_pair(const struct program *program, const char *pairs, int index, int nodes[2]);

#endif
