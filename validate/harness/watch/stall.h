/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STALL_H
#define MUSTER_STALL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/constants/harness_constants.h"

/* Finds which ranks stall a job in which nothing moves: no rank does a step, and no byte goes over
 * any rank's sockets. Pure.
 *
 * Slow is not hung. Time counts against a rank only while its main thread ran or slept. Time in a
 * run queue, ready to run while others ran, counts against the machine. */

enum {
    STALL_WORKING = -2,  /* outside of MPI */
    STALL_WAIT_ALL = -1, /* in an operation of all ranks */
    /* >= 0: waits for this rank */
};

struct stall_rank {
    uint32_t progress; /* steps done */
    int waits_for;
    double counted_s; /* time without progress of the job in which the rank was not queued */
    double queued_s; /* time in a run queue; NAN if the kernel does not know: counted_s is 0 then */
};

enum stall_kind {
    STALL_SLOW,    /* not enough evidence yet: a rank that may be at fault was not scheduled */
    STALL_UNKNOWN, /* all ranks wait, none is behind */
    STALL_HUNG, /* the faulty ranks do not take part: they are outside of MPI, or behind the rest */
    STALL_PAIR, /* faulty_ranks[0] and [1] wait for each other */
    STALL_PAIRS, /* several pairs at once, [0] and [1], [2] and [3], ...: they have no rank in
                    common, so the cause is in none of them */
};

/* Finds the faulty ranks. allowed_s: the least counted_s of a rank that can be faulty. faulty_ranks
 * has room for count ranks. */
enum stall_kind stall_find(const struct stall_rank *ranks, size_t count, double allowed_s,
                           int *faulty_ranks, size_t *faulty_count);

/* Returns how long nothing may move in a job of `size` ranks: base_s, or with base_s 0 10 s or half
 * of a time limit below 20 s; more with many ranks. */
double stall_allowed_s(double base_s, double time_limit_s, int size);

/* Returns the silence from which on a rank counts as frozen. Heartbeats come every interval_s;
 * gap_s: the longest recent pause between two heartbeats, of this rank or at rank 0. */
double stall_silence_s(double interval_s, double gap_s);

/* Returns the new gap_s after one more pause; an old pause decays. */
double stall_gap_s(double gap_s, double pause_s);

/* Whether `silent` nodes of `others` (all nodes but rank 0's) are silent more likely by a fault of
 * the network or of rank 0's node than by their own. */
int stall_is_common(int silent, int others);

#endif
