/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_CACHE_H
#define MUSTER_PLAN_CACHE_H

#include "collectives/collective.h"

/* Plans that were made already, by what a call asked for. A bounded number is kept, of bounded
 * size; the one that was used longest ago and is not in use goes. */

enum { SCRATCH_LINE = 64 /* what scratch and slots are aligned to */ };

struct cached_plan {
    struct collective_call call; /* as it was given; its arrays are copies behind this struct */
    struct plan_shape shape;     /* what that came to; with the same copies */
    const struct algorithm *algorithm;
    struct plan plan;
    size_t slot_bytes;                /* from one slot of PLAN_WIRE to the next */
    size_t scratch_bytes;             /* PLAN_SCRATCH, and the slots behind it */
    size_t bytes;                     /* of the plan, nearly, as they count */
    unsigned users;                   /* runs under way */
    struct collective_request *spare; /* runs of this plan that have ended */
    struct cached_plan *next;
};

struct plan_cache {
    struct cached_plan *first; /* the last used first */
    unsigned count;
    size_t bytes; /* of all plans */
};

/* The plan that was made for such a call, NULL: there is none. in_place as in struct plan_shape. */
struct cached_plan *plan_cache_find(struct plan_cache *cache, const struct collective_call *call,
                                    bool in_place);

/* Makes one, for the call's shape. NULL: as algorithm_plan(). */
struct cached_plan *plan_cache_add(struct plan_cache *cache, const struct collective_call *call,
                                   const struct plan_shape *shape,
                                   const struct algorithm *algorithm, struct error *err);

/* Nothing may be in use. */
void plan_cache_clear(struct plan_cache *cache);

#endif
