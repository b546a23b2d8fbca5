/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_H
#define MUSTER_RUN_H

#include <mpi.h>

#include "collectives/engine/cache.h"
#include "collectives/engine/window.h"

/* A plan on its way: which steps have ended, which messages are under way. One thread at a time. */

struct collective_request {
    struct collective *collective;
    struct cached_plan *cached;
    struct room *room; /* its scratch; NULL: it needs none, or has ended well and gave it back */
    MPI_Comm comm;
    int tag;
    bool may_wait;  /* inside MPI: no other thread calls it */
    unsigned polls; /* at what is awaited in the window, at least 1, where it is waited for */
    enum element_type type;
    enum reduce_op op;
    char *buffers[PLAN_BUFFERS];
    struct window *window; /* where the plan uses one */
    struct window_ticket ticket;
    struct codec_scratch *codec;

    bool has_entered; /* the window's slot */
    size_t *filled;   /* [slots]: bytes in each */

    unsigned char *ended;         /* [steps] */
    unsigned begun[PLAN_STREAMS]; /* the first in each stream that has not begun */
    unsigned left;                /* steps that have not ended */
    MPI_Request requests[2 * PLAN_MESSAGES_UNDER_WAY];
    unsigned steps[2 * PLAN_MESSAGES_UNDER_WAY]; /* whose messages they are */
    int under_way[PLAN_STREAMS];                 /* of sends and receives */
    bool has_failed;
    struct error err;

    unsigned long long messages_sent, bytes_sent, bytes_reduced, bytes_coded;

    struct collective_request *next; /* of a list */
};

/* To be freed. NULL: out of memory. */
struct collective_request *run_create(struct cached_plan *cached);

/* To the beginning. The caller has set what stands before has_entered. */
void run_begin(struct collective_request *run);

static inline bool run_has_ended(const struct collective_request *run)
{
    return run->left == 0 || run->has_failed;
}

/* Does what can be done now, computing one step, or of a plan with a window all that can be.
 * is_waited_for: somebody waits for this run and nothing else is under way, so it polls the
 * window a few times, and of a plan without one waits for a message where it may. Returns whether
 * anything has happened. */
bool run_move(struct collective_request *run, bool is_waited_for);

#endif
