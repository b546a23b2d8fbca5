/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_MESSAGES_H
#define MUSTER_BATTERY_MESSAGES_H

#include "validate/harness/program.h"

/* So many ranks: all pairs. Above it fewer rounds name a bad rank as surely, and all of them would
 * take time that grows with the ranks. A number that --help can have in its text. */
#define MESSAGES_ALL_PAIRS_RANKS 16

/* Which pairs of ranks meet, and how long their messages are. */
struct messages_plan {
    int rounds;        /* at most; 0: not given */
    double confidence; /* schedule_rounds_for(); 0: not given */
    bool is_quick;     /* up to 64 KiB, else 1 MiB */
};

/* Pairs of ranks exchange checked messages in the rounds of a schedule: all pairs of up to
 * MESSAGES_ALL_PAIRS_RANKS, above that as many rounds as name a bad rank with a confidence of
 * 0.999, or 0.99 if quick, where the plan says nothing else. One record per node with the count,
 * one for each pair (sender, receiver) whose messages are not what was sent, one of each node with
 * an InfiniBand or RoCE fabric from which they left by TCP all the same, and one with the share of
 * all pairs that was tested. All ranks call it. */
void messages_exchange(struct program *program, const struct messages_plan *plan);

#endif
