/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SUB_ROUNDS_H
#define MUSTER_SUB_ROUNDS_H

#include "validate/battery/links/pair/pair_run.h"
#include "validate/battery/links/pass_schedule.h"
#include "validate/schedule/split.h"

/* Which pairs of a round run at once, on the first node. These are all, or as many as the options
 * allow. If these set no limit and several nodes run on one machine, no more ranks run than it can
 * run. */
struct sub_rounds {
    struct split_limits limits;
    int node_count;
    struct machine *machines; /* node_count */
    int *hosts, *host_ranks;  /* node_count, as split_limits has them */
    int *partners, *numbers;  /* node_count, of the round: schedule_split() */
    int count;                /* of the round; all at once: 1 */
    bool is_split;            /* numbers is in use */
};

void sub_rounds_open(struct sub_rounds *subs, const struct rounds_plan *options, int node_count);
void sub_rounds_close(struct sub_rounds *subs);

/* Notes what a node says of the machine that it runs on. Call sub_rounds_ready() when all have. */
void sub_rounds_note(struct sub_rounds *subs, int node, const struct rail_infos *rail_infos);
void sub_rounds_ready(struct sub_rounds *subs);

/* Splits the round, and sets the sub-rounds of the pass schedule. Passes that need all nodes at
 * once are not split, nor is PASS_LOCAL. */
void sub_rounds_begin(struct sub_rounds *subs, const struct program *program,
                      struct pass_schedule *pass_schedule, int round);

/* Whether the node has a part in that sub-round. */
bool sub_rounds_includes(const struct sub_rounds *subs, int number, int node);

#endif
