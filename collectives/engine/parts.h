/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ENGINE_PARTS_H
#define MUSTER_ENGINE_PARTS_H

#include "collectives/collective.h"
#include "collectives/engine/cache.h"
#include "collectives/engine/run.h"
#include "collectives/engine/window.h"

/* Shared by the engine's files: collective.c creates and destroys a communicator's collectives,
 * call.c turns a call into a request with all that it needs, progress.c moves requests. */

/* A scratch buffer; each call under way has its own. */
struct scratch {
    size_t bytes;
    char *memory;
    bool is_taken;
    struct scratch *next;
};

struct collective {
    MPI_Comm comm;
    int rank, ranks;
    struct plan_topology topology;
    int *node_of_rank, *ring; /* [ranks], behind the struct: arrays of topology */
    bool may_share;           /* threads may call MPI at once: none holds the lock while it waits */

    struct window *window; /* NULL: ranks are on several nodes, or cannot share memory */

    struct plan_cache cache;
    struct scratch *scratch_list;
    struct codec_scratch *codec; /* NULL until it is needed */
    unsigned sequence;
    struct collective_statistics statistics;
};

/* The functions below are called with the engine's lock held. Makes a request that can begin: its
 * plan is made, and it has memory for scratch. Returns -1 if the call is invalid or memory is
 * out. */
int request_prepare(struct collective *collective, const struct collective_call *call,
                    struct collective_request **request, struct error *err);

/* Release a request's scratch, and the request itself with its scratch. */
void request_release_scratch(struct collective_request *request);
void request_release(struct collective_request *request);

#endif
