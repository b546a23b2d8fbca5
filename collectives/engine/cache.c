/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/engine/cache.h"
#include "collectives/engine/run.h"

#include <stdlib.h>
#include <string.h>

enum { PLANS_KEPT = 128, ARRAYS = 4 };

static void arrays_of(const struct plan_shape *shape, const size_t *arrays[ARRAYS])
{
    arrays[0] = shape->counts;
    arrays[1] = shape->offsets;
    arrays[2] = shape->send_counts;
    arrays[3] = shape->send_offsets;
}

static bool is_same_array(const size_t *a, const size_t *b, int ranks)
{
    if (!a || !b)
        return a == b;
    return memcmp(a, b, (size_t)ranks * sizeof *a) == 0;
}

/* rank, ranks and topology are those of the collective. */
static bool is_same(const struct plan_shape *a, const struct plan_shape *b)
{
    const size_t *of_a[ARRAYS], *of_b[ARRAYS];

    if (a->kind != b->kind || a->op != b->op || a->element_bytes != b->element_bytes ||
        a->root != b->root || a->count != b->count || a->in_place != b->in_place ||
        a->segment != b->segment || a->wire != b->wire)
        return false;
    arrays_of(a, of_a);
    arrays_of(b, of_b);
    for (int i = 0; i < ARRAYS; i++)
        if (!is_same_array(of_a[i], of_b[i], a->ranks))
            return false;
    return true;
}

static void cached_destroy(struct cached_plan *cached)
{
    plan_clear(&cached->plan);
    while (cached->spare) {
        struct run *run = cached->spare;

        cached->spare = run->next;
        run_destroy(run);
    }
    free(cached);
}

static struct cached_plan *cached_create(const struct algorithm *algorithm,
                                         const struct plan_shape *shape, struct error *err)
{
    size_t ranks = (size_t)shape->ranks;
    struct cached_plan *cached = calloc(1, sizeof *cached + ARRAYS * ranks * sizeof(size_t));
    const size_t *from[ARRAYS], *copies[ARRAYS] = {NULL};
    size_t *to;

    if (!cached) {
        error_set(err, "out of memory for the plan of a collective");
        return NULL;
    }
    to = (size_t *)(cached + 1);
    arrays_of(shape, from);
    for (int i = 0; i < ARRAYS; i++, to += ranks)
        if (from[i])
            copies[i] = memcpy(to, from[i], ranks * sizeof *to);
    cached->shape = *shape;
    cached->shape.counts = copies[0];
    cached->shape.offsets = copies[1];
    cached->shape.send_counts = copies[2];
    cached->shape.send_offsets = copies[3];
    cached->algorithm = algorithm;
    if (algorithm_plan(algorithm, &cached->shape, &cached->plan, err) < 0) {
        cached_destroy(cached);
        return NULL;
    }
    return cached;
}

static void forget_oldest(struct plan_cache *cache)
{
    struct cached_plan **oldest = NULL, *gone;

    for (struct cached_plan **link = &cache->first; *link; link = &(*link)->next)
        if ((*link)->users == 0)
            oldest = link;
    if (!oldest)
        return;
    gone = *oldest;
    *oldest = gone->next;
    cached_destroy(gone);
    cache->count--;
}

int plan_cache_get(struct plan_cache *cache, const struct algorithm *algorithm,
                   const struct plan_shape *shape, struct cached_plan **cached, bool *made,
                   struct error *err)
{
    struct cached_plan *found = NULL;

    for (struct cached_plan **link = &cache->first; *link; link = &(*link)->next)
        if ((*link)->algorithm == algorithm && is_same(&(*link)->shape, shape)) {
            found = *link;
            *link = found->next;
            break;
        }
    *made = !found;
    if (!found) {
        found = cached_create(algorithm, shape, err);
        if (!found)
            return -1;
        if (cache->count >= PLANS_KEPT)
            forget_oldest(cache);
        cache->count++;
    }
    found->next = cache->first;
    cache->first = found;
    *cached = found;
    return 0;
}

void plan_cache_clear(struct plan_cache *cache)
{
    while (cache->first) {
        struct cached_plan *cached = cache->first;

        cache->first = cached->next;
        cached_destroy(cached);
    }
    cache->count = 0;
}
