/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_MESSAGES_H
#define MUSTER_BATTERY_MESSAGES_H

#include "validate/harness/program.h"

/* Up to so many ranks all pairs exchange messages. With more, fewer rounds find a bad rank as
 * surely, and all of them would take time that grows with the ranks. A macro, so that --help can
 * have it in its text. */
#define MESSAGES_ALL_PAIRS_RANKS 16

/* Which pairs of ranks exchange messages, and how long these are. */
struct messages_plan {
    int rounds;        /* at most; 0: not given */
    double confidence; /* schedule_rounds_for(); 0: not given */
    bool is_quick;     /* up to 64 KiB, else 1 MiB */
};

/* Exchanges checked messages between pairs of ranks, in the rounds of a schedule. Unless the plan
 * says otherwise, these are all pairs of up to MESSAGES_ALL_PAIRS_RANKS ranks, and of more ranks as
 * many rounds as find a bad rank with a confidence of 0.999, or 0.99 if quick. Reports one record
 * per node with the count, one for each pair (sender, receiver) with damaged messages, one for each
 * node with an InfiniBand or RoCE fabric from which they left by TCP all the same, and one with the
 * share of all pairs that was tested. All ranks call it. */
void messages_exchange(struct program *program, const struct messages_plan *plan);

#endif
