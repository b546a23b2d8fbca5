/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/engine/cache.h"
#include "collectives/engine/run.h"

#include <stdlib.h>
#include <string.h>

enum { PLANS_KEPT = 128, PLANS_KEPT_BYTES = 16 << 20 /* if more than one is kept */ };

static bool is_same_array(const size_t *a, const size_t *b, int ranks)
{
    if (!a || !b)
        return a == b;
    return memcmp(a, b, (size_t)ranks * sizeof *a) == 0;
}

/* Whether the call asks for the cached plan, whatever is in fields that the kind does not use. */
static bool is_same(const struct cached_plan *cached, const struct collective_call *call,
                    bool in_place)
{
    const struct collective_call *a = &cached->call;
    const struct plan_shape *shape = &cached->shape;
    int ranks = shape->ranks;

    return a->kind == call->kind && a->type == call->type && a->count == call->count &&
           shape->in_place == in_place && a->algorithm == call->algorithm &&
           a->segment_bytes == call->segment_bytes && a->wire == call->wire &&
           (a->root == call->root || !collective_kind_has_root(a->kind)) &&
           is_same_array(a->counts, call->counts, ranks) &&
           is_same_array(a->offsets, call->offsets, ranks) &&
           is_same_array(a->send_counts, call->send_counts, ranks) &&
           is_same_array(a->send_offsets, call->send_offsets, ranks);
}

static void cached_destroy(struct cached_plan *cached)
{
    plan_clear(&cached->plan);
    while (cached->spare) {
        struct collective_request *run = cached->spare;

        cached->spare = run->next;
        free(run);
    }
    free(cached);
}

/* Copies an array to *to, moves *to behind the copy, and returns the copy. NULL for NULL. */
static const size_t *keep_array(const size_t *array, size_t ranks, size_t **to)
{
    size_t *copy = *to;

    if (!array)
        return NULL;
    *to += ranks;
    return memcpy(copy, array, ranks * sizeof *copy);
}

static void keep_arrays(struct cached_plan *cached)
{
    size_t *to = (size_t *)(cached + 1), ranks = (size_t)cached->shape.ranks;
    struct collective_call *call = &cached->call;

    call->counts = cached->shape.counts = keep_array(call->counts, ranks, &to);
    call->offsets = cached->shape.offsets = keep_array(call->offsets, ranks, &to);
    call->send_counts = cached->shape.send_counts = keep_array(call->send_counts, ranks, &to);
    call->send_offsets = cached->shape.send_offsets = keep_array(call->send_offsets, ranks, &to);
}

static struct cached_plan *cached_create(const struct collective_call *call,
                                         const struct plan_shape *shape,
                                         const struct algorithm *algorithm, struct error *err)
{
    enum { ARRAYS = 4 };
    size_t arrays_bytes = ARRAYS * (size_t)shape->ranks * sizeof(size_t), slot_bytes;
    struct cached_plan *cached = calloc(1, sizeof *cached + arrays_bytes);

    if (!cached) {
        error_set(err, "out of memory for the plan of a collective");
        return NULL;
    }
    cached->call = *call;
    cached->shape = *shape;
    cached->algorithm = algorithm;
    keep_arrays(cached);
    if (algorithm_plan(algorithm, &cached->shape, &cached->plan, err) < 0) {
        cached_destroy(cached);
        return NULL;
    }
    slot_bytes = wire_bound(call->wire, call->type, cached->plan.wire_count);
    cached->slot_bytes = (slot_bytes + SCRATCH_LINE - 1) / SCRATCH_LINE * SCRATCH_LINE;
    /* a step also has numbers in a stream and in plan.after; a large plan counts only half of the
     * bound, so that others, which it would evict each time, can stay */
    cached->bytes = cached->plan.step_count * (sizeof *cached->plan.steps + 4 * sizeof(unsigned));
    if (cached->bytes > PLANS_KEPT_BYTES / 2)
        cached->bytes = PLANS_KEPT_BYTES / 2;
    cached->scratch_bytes =
        cached->plan.scratch * shape->element_bytes + cached->plan.wire_slots * cached->slot_bytes;
    return cached;
}

/* Drops the least recently used plan that is not in use. false: all are in use. */
static bool forget_oldest(struct plan_cache *cache)
{
    struct cached_plan **oldest = NULL, *gone;

    for (struct cached_plan **link = &cache->first; *link; link = &(*link)->next)
        if ((*link)->users == 0)
            oldest = link;
    if (!oldest)
        return false;
    gone = *oldest;
    *oldest = gone->next;
    cache->count--;
    cache->bytes -= gone->bytes;
    cached_destroy(gone);
    return true;
}

struct cached_plan *plan_cache_find(struct plan_cache *cache, const struct collective_call *call,
                                    bool in_place)
{
    for (struct cached_plan **link = &cache->first; *link; link = &(*link)->next) {
        struct cached_plan *found = *link;

        if (is_same(found, call, in_place)) {
            *link = found->next;
            found->next = cache->first;
            cache->first = found;
            return found;
        }
    }
    return NULL;
}

struct cached_plan *plan_cache_add(struct plan_cache *cache, const struct collective_call *call,
                                   const struct plan_shape *shape,
                                   const struct algorithm *algorithm, struct error *err)
{
    struct cached_plan *made = cached_create(call, shape, algorithm, err);

    if (!made)
        return NULL;
    while (cache->count >= PLANS_KEPT ||
           (cache->count > 0 && cache->bytes + made->bytes > PLANS_KEPT_BYTES))
        if (!forget_oldest(cache))
            break;
    cache->count++;
    cache->bytes += made->bytes;
    made->next = cache->first;
    cache->first = made;
    return made;
}

void plan_cache_clear(struct plan_cache *cache)
{
    while (cache->first) {
        struct cached_plan *cached = cache->first;

        cache->first = cached->next;
        cached_destroy(cached);
    }
    cache->count = 0;
    cache->bytes = 0;
}
