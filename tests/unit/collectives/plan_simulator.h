/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_SIMULATOR_H
#define MUSTER_PLAN_SIMULATOR_H

#include "collectives/plan/plan.h"

/* Runs the plans of all ranks at once, without MPI, under the rules of the engine but in any order
 * that these rules allow: ranks and steps take turns at random, a receive's room is destroyed
 * when it begins, a send reads its data as late as it can. So a step that does not wait for what it
 * needs shows in the result. */

struct simulated_rank {
    const struct plan_shape *shape;
    const struct plan *plan;
    void *in, *out; /* in place: the same */
    size_t in_count, out_count;
};

struct simulation {
    enum element_type type;
    enum reduce_op op;
    unsigned messages_max; /* under way at once at a rank, in each direction; 0: any number */
    bool is_buffered;      /* a send ends before its receive begins */
    uint64_t seed;
    bool has_liar; /* a bit of each message that leaves the liar is turned */
    int liar;
};

struct simulated_work { /* of the rank with most of it */
    unsigned messages;
    size_t bytes_sent, bytes_received, bytes_reduced;
};

/* -1: no step can go on, sizes of a message differ, a message is left over, or a step is outside of
 * its buffer. work may be NULL. */
int simulate(const struct simulation *simulation, const struct simulated_rank *ranks, int count,
             struct simulated_work *work, struct error *err);

#endif
