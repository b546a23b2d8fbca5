/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_H
#define MUSTER_RUN_H

#include <mpi.h>

#include "collectives/engine/cache.h"
#include "collectives/engine/window.h"

/* One run of a plan: which steps have ended, which messages are under way. One thread at a time. */

struct collective_request {
    struct collective *collective;
    struct cached_plan *cached;
    struct scratch *scratch; /* NULL: not needed, or given back after a successful end */
    MPI_Comm comm;
    int tag;
    bool may_wait;  /* may wait inside MPI: no other thread calls MPI */
    unsigned polls; /* of the window per move, at least 1, while somebody waits for the run */
    enum element_type type;
    enum reduce_op op;
    char *buffers[PLAN_BUFFERS];
    struct window *window; /* used if the plan uses one */
    struct window_ticket ticket;
    struct codec_scratch *codec;

    bool has_entered; /* has entered the window's slot */
    size_t *filled;   /* [slots]: bytes in each */

    unsigned char *ended;         /* [steps] */
    unsigned begun[PLAN_STREAMS]; /* how many steps of each stream have begun */
    unsigned left;                /* steps that have not ended */
    MPI_Request requests[2 * PLAN_MESSAGES_UNDER_WAY];
    unsigned steps[2 * PLAN_MESSAGES_UNDER_WAY]; /* the step of each request */
    int under_way[PLAN_STREAMS];                 /* of sends and receives */
    bool has_failed;
    struct error err;

    unsigned long long bytes_sent;

    struct collective_request *next; /* of a list */
};

/* Creates a run; the caller frees it by free(). NULL: out of memory. */
struct collective_request *run_create(struct cached_plan *cached);

/* Sets the run to its beginning. The caller has set the fields before has_entered. */
void run_begin(struct collective_request *run);

static inline bool run_has_ended(const struct collective_request *run)
{
    return run->left == 0 || run->has_failed;
}

/* Advances the run: begins and ends messages, and computes one step, or all that it can if the plan
 * uses a window. is_waited_for: somebody waits for this run and nothing else is under way, so it
 * polls the window a few times, and if it may, and no computing steps with a window are left, waits
 * inside MPI for a message. Returns whether anything has happened. */
bool run_move(struct collective_request *run, bool is_waited_for);

#endif
