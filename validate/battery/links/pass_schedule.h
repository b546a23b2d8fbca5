/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PASS_SCHEDULE_H
#define MUSTER_PASS_SCHEDULE_H

#include "validate/battery/links/path/path.h"
#include "validate/battery/links/rounds.h"
#include "validate/schedule/schedule.h"

/* One pass: which nodes are a pair in which round, and how long each pair is measured. All leaders
 * make the same one. */

struct pass_schedule {
    enum pass_kind kind;
    int rounds, once; /* once: the first ones, with all wanted pairs; others repeat these */
    int times;        /* how often all pairs are measured */
    int enough;       /* of `once`: these find a bad node well enough if time is short */
    struct path_plan plan, plan_again; /* of the first time; of repeats, which are as quick as
                                          can be: they find intermittent faults */
    int *partners; /* [once x nodes] of the pairs that options give; NULL: of schedule */
    struct schedule *schedule;
    const int *sub_rounds; /* [nodes] sub-round of the pair of each node in this round, on the
                              first node. NULL: all at once */
    int *blocks;           /* of each node, -1 in none; NULL: not known */
    char *const *block_names;
};

/* Makes the schedule of a pass. rails: the most of a node; a pass within nodes has a round for
 * each, or one if there is none. Returns 0, or -1 with err if there is nothing to measure. Call
 * pass_schedule_clear() in both cases. */
int pass_schedule_make(const struct program *program, const struct rounds_plan *options,
                       enum pass_kind kind, int rails, struct pass_schedule *pass_schedule,
                       struct error *err);
void pass_schedule_clear(struct pass_schedule *pass_schedule);

/* Returns how long the paths of that round are measured. */
const struct path_plan *pass_schedule_plan(const struct pass_schedule *pass_schedule, int round);

/* The node's partner, SCHEDULE_BYE when it rests; whether it sends first, when it has one. */
int pass_schedule_partner(const struct program *program, const struct pass_schedule *pass_schedule,
                          int round, int node);
bool pass_schedule_is_first(const struct program *program,
                            const struct pass_schedule *pass_schedule, int round, int node);

/* Returns how many pairs at once cross the uplinks that the pair of the node uses: as
 * schedule_pair_load(), but only of its sub-round. */
int pass_schedule_pair_load(const struct program *program,
                            const struct pass_schedule *pass_schedule, int round, int node);

/* Sets nodes to pair number `index` of "A:B+C:D,E:F". Returns its round, from 0, or -1 if there are
 * no more. A node that takes no part is -1. */
int pass_schedule_pair(const struct program *program, const char *pairs, int index, int nodes[2]);

#endif
