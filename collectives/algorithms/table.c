/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algorithms/algorithm.h"

#include <string.h>

int algorithm_rounds(int ranks)
{
    int rounds = 0;

    while (1 << rounds < ranks)
        rounds++;
    return rounds;
}

/* ---------------------------------------------------------------------------- how often rounded */

static unsigned never(const struct plan_shape *shape)
{
    (void)shape;
    return 0;
}

/* Numbers that are not summed are rounded at their source; rounding them again changes nothing. */
static unsigned once(const struct plan_shape *shape)
{
    (void)shape;
    return 1;
}

static unsigned twice(const struct plan_shape *shape)
{
    (void)shape;
    return 2;
}

/* Partial sums are rounded at each hop of a ring; in by_ranks() the result, which also goes round,
 * once more. */
static unsigned by_hops(const struct plan_shape *shape)
{
    return (unsigned)shape->ranks - 1;
}

static unsigned by_ranks(const struct plan_shape *shape)
{
    return (unsigned)shape->ranks;
}

static unsigned by_nodes(const struct plan_shape *shape)
{
    return (unsigned)shape->topology->nodes;
}

/* The depth of a tree, or the exchanges among a power of two of ranks, and one before them if there
 * are more ranks. */
static unsigned by_rounds(const struct plan_shape *shape)
{
    return (unsigned)algorithm_rounds(shape->ranks);
}

static unsigned by_rounds_and_once(const struct plan_shape *shape)
{
    return by_rounds(shape) + 1;
}

/* --------------------------------------------------------------------------------------- table */

#define ROW(name, kind, ...) {name, COLLECTIVE_##kind, __VA_ARGS__},
const struct algorithm algorithms[] = {ALGORITHMS(ROW){NULL, 0, NULL, NULL, NULL, NULL, false}};

const struct algorithm *algorithm_find(enum collective_kind kind, const char *name)
{
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->kind == kind && strcmp(a->name, name) == 0)
            return a;
    return NULL;
}

bool algorithm_applies(const struct algorithm *algorithm, const struct plan_shape *shape)
{
    return algorithm->kind == shape->kind && (!algorithm->applies || algorithm->applies(shape));
}

const struct algorithm *algorithm_default(const struct plan_shape *shape)
{
    size_t bytes = shape->count * shape->element_bytes;
    const char *name = NULL;
    bool is_small = bytes <= 16384;

    switch (shape->kind) {
    case COLLECTIVE_ALLREDUCE:
        name = is_small ? "recursive-doubling" : "ring";
        break;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE:
        name = bytes <= 262144 ? "binomial" : "chain";
        break;
    case COLLECTIVE_ALL_GATHER:
        name = bytes <= 2048 && bruck_applies(shape) ? "bruck" : "ring";
        break;
    case COLLECTIVE_ALL_TO_ALL:
        name = bytes <= 256 && bruck_applies(shape) ? "bruck" : "pairwise";
        break;
    default:
        name = "ring";
    }
    return algorithm_find(shape->kind, name);
}

size_t algorithm_default_segment(const struct plan_shape *shape)
{
    return 262144 / shape->element_bytes;
}

int algorithm_plan(const struct algorithm *algorithm, const struct plan_shape *shape,
                   struct plan *plan, struct error *err)
{
    if (!algorithm_applies(algorithm, shape)) {
        *plan = (struct plan){0};
        return error_set(err, "%s does not support this %s", algorithm->name,
                         collective_kind_name(shape->kind));
    }
    plan_begin(plan, shape);
    algorithm->plan(shape, plan);
    return plan_end(plan, err);
}
