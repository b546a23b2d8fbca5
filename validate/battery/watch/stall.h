/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STALL_H
#define MUSTER_STALL_H

#include <stddef.h>
#include <stdint.h>

/* Who holds up a job in which nothing moves any more. Pure. */

enum {
    STALL_WORKING = -2,  /* outside of MPI */
    STALL_WAIT_ALL = -1, /* in an operation of all ranks */
    /* >= 0: waits for this rank */
};

struct stall_rank {
    uint32_t progress; /* steps done */
    int waits_for;
};

enum stall_kind {
    STALL_UNKNOWN, /* all wait, none is behind */
    STALL_HUNG,    /* the culprits do not take part: they are outside of MPI, or behind the rest */
    STALL_PAIR,    /* culprits[0] and [1], [2] and [3], ... wait for each other */
};

/* culprits holds up to count ranks. */
enum stall_kind stall_find(const struct stall_rank *ranks, size_t count, int *culprits,
                           size_t *culprit_count);

#endif
