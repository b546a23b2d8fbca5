/* SPDX-License-Identifier: Apache-2.0 */
/* Binomial trees: in each round the ranks that have the data send it to as many others. The parent
 * of place v (counted from the root) is v without its lowest 1 bit; v has a child for each bit
 * below that. Segments follow each other down, or up, the tree. */
#include "collectives/algorithms/algorithm.h"

struct tree {
    int parent; /* -1: this is the root */
    int children[32];
    int count; /* of children; the one with the largest subtree first */
};

static struct tree tree_of(const struct plan_shape *shape)
{
    struct tree tree = {.parent = -1};
    int place = (shape->rank - shape->root + shape->ranks) % shape->ranks, bit = 1;

    while (bit < shape->ranks && !(place & bit))
        bit *= 2;
    if (place > 0)
        tree.parent = (place - bit + shape->root) % shape->ranks;
    for (bit /= 2; bit > 0; bit /= 2)
        if (place + bit < shape->ranks)
            tree.children[tree.count++] = (place + bit + shape->root) % shape->ranks;
    return tree;
}

void binomial_broadcast(const struct plan_shape *shape, struct plan *plan)
{
    struct tree tree = tree_of(shape);

    for (unsigned k = 0; k < plan_segments(shape, shape->count); k++) {
        struct plan_block part = plan_segment(shape, shape->count, k);

        if (tree.parent >= 0)
            plan_receive(plan, tree.parent, plan_out(part.offset), part.count);
        for (int c = 0; c < tree.count; c++)
            plan_share(plan, tree.children[c], plan_out(part.offset), part.count);
    }
}

/* Receives the children's sums from the smallest subtree to the largest, which is the order of
 * places: root + (the next place) + (the two behind it) + ... */
void binomial_reduce(const struct plan_shape *shape, struct plan *plan)
{
    struct tree tree = tree_of(shape);
    bool is_root = tree.parent < 0;
    size_t room = shape->count && plan_segments(shape, shape->count)
                      ? plan_segment(shape, shape->count, 0).count
                      : 0;
    struct plan_address by[2] = {{PLAN_SCRATCH, 0}}, sum = plan_out(0);

    if (tree.count > 0) {
        by[0] = plan_scratch(plan, room);
        by[1] = plan_scratch(plan, room);
        if (!is_root)
            sum = plan_scratch(plan, shape->count);
    } else {
        sum = plan_in(0);
    }
    for (unsigned k = 0, turn = 0; k < plan_segments(shape, shape->count); k++) {
        struct plan_block part = plan_segment(shape, shape->count, k);
        struct plan_address mine = plan_in(part.offset);

        for (int c = tree.count - 1; c >= 0; c--, turn ^= 1) {
            plan_receive(plan, tree.children[c], by[turn], part.count);
            plan_reduce(plan, mine, by[turn], plan_at(sum, part.offset), part.count);
            mine = plan_at(sum, part.offset);
        }
        if (!is_root)
            plan_send(plan, tree.parent, mine, part.count);
        else if (tree.count == 0)
            plan_copy(plan, mine, plan_out(part.offset), part.count);
    }
}

/* The root sends, or receives, depth times. */
struct algorithm_cost binomial_broadcast_cost(const struct plan_shape *shape)
{
    double depth = algorithm_rounds(shape->ranks), bytes = algorithm_bytes(shape);

    return (struct algorithm_cost){depth, depth * bytes, 0};
}

struct algorithm_cost binomial_reduce_cost(const struct plan_shape *shape)
{
    double depth = algorithm_rounds(shape->ranks), bytes = algorithm_bytes(shape);

    return (struct algorithm_cost){depth, depth * bytes, depth * bytes};
}
