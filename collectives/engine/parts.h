/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ENGINE_PARTS_H
#define MUSTER_ENGINE_PARTS_H

#include "collectives/collective.h"
#include "collectives/engine/cache.h"
#include "collectives/engine/run.h"
#include "collectives/engine/window.h"

/* What the engine's files share: collective.c makes and ends a communicator's collectives, call.c
 * turns a call into a request with all that it needs, progress.c moves requests. */

/* Memory for scratch: one per call under way. */
struct room {
    size_t bytes;
    char *memory;
    bool is_taken;
    struct room *next;
};

struct collective {
    MPI_Comm comm;
    int rank, ranks;
    struct plan_topology topology;
    int *node_of_rank, *ring; /* [ranks], behind the struct: topology's */
    bool may_share;           /* threads may call MPI at once: none may hold the lock in a wait */

    struct window *window; /* NULL: ranks are on several nodes, or cannot share memory */

    struct plan_cache cache;
    struct room *rooms;
    struct codec_scratch *codec; /* once it is needed */
    unsigned sequence;
    struct collective_statistics statistics;
};

/* With the engine's lock held, both. A request that can begin: the plan is made, there is memory
 * for scratch; -1: the call makes no sense, or memory is out. */
int request_prepare(struct collective *collective, const struct collective_call *call,
                    struct collective_request **request, struct error *err);

/* Its scratch goes back to where it came from; and itself. */
void request_release(struct collective_request *request);
void request_give_back(struct collective_request *request);

#endif
