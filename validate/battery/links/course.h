/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COURSE_H
#define MUSTER_COURSE_H

#include "validate/battery/links/path/path.h"
#include "validate/battery/links/rounds.h"
#include "validate/schedule/schedule.h"

/* One pass: who meets whom in which round, and how long each is measured. All leaders make the same
 * one. */

struct course {
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
int course_make(const struct program *program, const struct rounds_plan *options,
                enum pass_kind kind, int rails, struct course *course, struct error *err);
void course_clear(struct course *course);

/* Which of the first `once` rounds that one is: schedule_round_again(). */
int course_round(const struct course *course, int round);

/* How long the paths of that round are measured. */
const struct path_plan *course_plan(const struct course *course, int round);

/* The node's partner, SCHEDULE_BYE when it rests; whether it sends first, when it has one. */
int course_partner(const struct program *program, const struct course *course, int round, int node);
bool course_is_first(const struct program *program, const struct course *course, int round,
                     int node);

/* How many pairs at once cross the uplinks that the node's pair uses: schedule_pair_load() of those
 * in its sub-round. */
int course_pair_load(const struct program *program, const struct course *course, int round,
                     int node);

/* Pair number `index` of "A:B+C:D,E:F": its round from 0, -1: no more. A node that takes no part is
 * -1. */
int course_pair(const struct program *program, const char *pairs, int index, int nodes[2]);

#endif
