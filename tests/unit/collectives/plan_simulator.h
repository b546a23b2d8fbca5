/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_SIMULATOR_H
#define MUSTER_PLAN_SIMULATOR_H

#include "collectives/plan/plan.h"

/* Runs the plans of all ranks without MPI, under the rules of the engine but in a random order that
 * these rules allow: ranks and steps take turns at random, the buffer of a receive is overwritten
 * when it begins, a send reads its data as late as possible. So a step that does not wait for its
 * inputs changes the result. */

struct simulated_rank {
    const struct plan_shape *shape;
    const struct plan *plan;
    void *in, *out; /* in place: the same */
    size_t in_count, out_count;
};

struct simulation {
    enum element_type type;
    enum reduce_op op;
    unsigned messages_max; /* that a rank has under way at once, in each direction; 0: any number */
    bool is_buffered;      /* a send ends before its receive begins */
    uint64_t seed;
    bool has_corrupter; /* one bit of each message from corrupting_rank is flipped */
    int corrupting_rank;
};

struct simulated_work { /* each number: of the rank with the most */
    unsigned messages;
    size_t bytes_sent, bytes_received, bytes_reduced;
};

/* Returns 0, or -1 with err if the plans are wrong: no step can continue, the sizes of a message
 * differ, a message is left over, or a step accesses memory outside its buffer. work: or NULL. */
int simulate(const struct simulation *simulation, const struct simulated_rank *ranks, int count,
             struct simulated_work *work, struct error *err);

#endif
