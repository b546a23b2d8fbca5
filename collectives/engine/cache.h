/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_CACHE_H
#define MUSTER_PLAN_CACHE_H

#include "collectives/collective.h"

/* Keeps the plans of earlier calls, found by what a call asks for. Their number and size are
 * bounded: the least recently used plan that is not in use is dropped. */

enum { SCRATCH_LINE = 64 /* what scratch and slots are aligned to */ };

struct cached_plan {
    struct collective_call call; /* as it was given; its arrays are copies behind this struct */
    struct plan_shape shape;     /* of the call; with the same copies */
    const struct algorithm *algorithm;
    struct plan plan;
    size_t slot_bytes;                /* from one slot of PLAN_WIRE to the next */
    size_t scratch_bytes;             /* PLAN_SCRATCH, and the slots behind it */
    size_t bytes;                     /* of the plan, nearly, as counted for the bound */
    unsigned users;                   /* runs under way */
    struct collective_request *spare; /* runs of this plan that have ended */
    struct cached_plan *next;
};

struct plan_cache {
    struct cached_plan *first; /* the last used first */
    unsigned count;
    size_t bytes; /* of all plans */
};

/* Returns the plan kept for such a call, or NULL. in_place as in struct plan_shape. */
struct cached_plan *plan_cache_find(struct plan_cache *cache, const struct collective_call *call,
                                    bool in_place);

/* Makes and keeps a plan for the call; shape is the call's. NULL with err: as algorithm_plan(). */
struct cached_plan *plan_cache_add(struct plan_cache *cache, const struct collective_call *call,
                                   const struct plan_shape *shape,
                                   const struct algorithm *algorithm, struct error *err);

/* Drops all plans; none may be in use. */
void plan_cache_clear(struct plan_cache *cache);

#endif
