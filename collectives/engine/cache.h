/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_CACHE_H
#define MUSTER_PLAN_CACHE_H

#include "collectives/algorithms/algorithm.h"

/* Plans that were made already, by what was asked for. A bounded number is kept; the one that was
 * used longest ago and is not in use goes. */

struct run; /* the engine's, kept with the plan it runs */

struct cached_plan {
    struct plan_shape shape; /* its arrays are copies behind this struct */
    const struct algorithm *algorithm;
    struct plan plan;
    unsigned users;    /* runs under way */
    struct run *spare; /* runs of this plan that have ended */
    struct cached_plan *next;
};

struct plan_cache {
    struct cached_plan *first; /* the last used first */
    unsigned count;
};

/* The plan for the shape, made if need be; *made: whether it was. -1: as algorithm_plan(). */
int plan_cache_get(struct plan_cache *cache, const struct algorithm *algorithm,
                   const struct plan_shape *shape, struct cached_plan **cached, bool *made,
                   struct error *err);

/* Nothing may be in use. */
void plan_cache_clear(struct plan_cache *cache);

#endif
