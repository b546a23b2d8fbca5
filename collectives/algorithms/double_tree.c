/* SPDX-License-Identifier: Apache-2.0 */
/* Double binary tree (P. Sanders, J. Speck, J. Träff: Two-tree algorithms for full bandwidth
 * broadcast, reduction and scan, Parallel Computing 2009): half of the data goes up and down one
 * tree, half through another, in which the leaves of the first are inner ranks, so that no rank has
 * much more to send than another. Segments follow each other, up and down at the same time. */
#include "collectives/algorithms/algorithm.h"

enum { NONE = -1 };

struct node {
    int parent; /* NONE: the root */
    int children[2], count;
    struct plan_block half;
};

/* The parent of a place in the tree whose root is 0, whose inner places are even and leaves odd. */
static int parent_of(int place, int ranks)
{
    int bit = place & -place, up = (place ^ bit) | bit << 1;

    if (place == 0)
        return NONE;
    return up < ranks ? up : place ^ bit;
}

/* Sets children to the places whose parent this one is; returns their number, at most two. It has
 * no loop over ranks, since the cost formula calls it for each rank. */
static int children_of(int place, int ranks, int children[2])
{
    int below = place == 0 ? 1 << 30 : (place & -place) / 2, count = 0;

    if (place != 0 && below > 0)
        children[count++] = place - below;
    while (below > 0 && place + below >= ranks)
        below /= 2;
    if (below > 0)
        children[count++] = place + below;
    return count;
}

/* The second tree is the first one mirrored, or with an odd number of ranks shifted by one rank. */
static int place_in(int tree, int rank, int ranks)
{
    return tree == 0 ? rank : ranks % 2 == 0 ? ranks - 1 - rank : (rank + ranks - 1) % ranks;
}

static int rank_at(int tree, int place, int ranks)
{
    return tree == 0 ? place : ranks % 2 == 0 ? ranks - 1 - place : (place + 1) % ranks;
}

static struct node node_of(const struct plan_shape *shape, int tree)
{
    int place = place_in(tree, shape->rank, shape->ranks), parent;
    struct node node = {.half = plan_part(shape->count, 2, tree)};

    parent = parent_of(place, shape->ranks);
    node.parent = parent == NONE ? NONE : rank_at(tree, parent, shape->ranks);
    node.count = children_of(place, shape->ranks, node.children);
    for (int c = 0; c < node.count; c++)
        node.children[c] = rank_at(tree, node.children[c], shape->ranks);
    return node;
}

static void reduce_up(struct plan *plan, const struct node *node, struct plan_block part,
                      const struct plan_address by[2])
{
    struct plan_address own = plan_in(node->half.offset + part.offset);
    struct plan_address sum = plan_out(node->half.offset + part.offset);

    for (int c = 0; c < node->count; c++) {
        plan_receive(plan, node->children[c], by[c], part.count);
        plan_reduce(plan, own, by[c], sum, part.count);
        own = sum;
    }
    if (node->parent != NONE)
        plan_send(plan, node->parent, own, part.count);
}

static void broadcast_down(struct plan *plan, const struct node *node, struct plan_block part)
{
    struct plan_address result = plan_out(node->half.offset + part.offset);

    if (node->parent != NONE)
        plan_receive(plan, node->parent, result, part.count);
    for (int c = 0; c < node->count; c++)
        plan_share(plan, node->children[c], result, part.count);
}

/* A segment goes down `behind` segments after it goes up: the time that it needs to come back. All
 * ranks order their messages this way. */
void double_tree_allreduce(const struct plan_shape *shape, struct plan *plan)
{
    struct node nodes[2] = {node_of(shape, 0), node_of(shape, 1)};
    unsigned segments = plan_segments(shape, nodes[0].half.count);
    unsigned behind = 2 * (unsigned)algorithm_rounds(shape->ranks);
    size_t most = plan_segment_most(shape, nodes[0].half.count);
    struct plan_address by[2][2];

    if (shape->ranks == 1) {
        plan_copy(plan, plan_in(0), plan_out(0), shape->count);
        return;
    }
    for (int tree = 0; tree < 2; tree++)
        for (int c = 0; c < 2; c++)
            by[tree][c] = plan_scratch(plan, most);
    for (unsigned k = 0; k < segments + behind; k++)
        for (int tree = 0; tree < 2; tree++) {
            size_t count = nodes[tree].half.count;

            if (k < plan_segments(shape, count))
                reduce_up(plan, &nodes[tree], plan_segment(shape, count, k), by[tree]);
            if (k >= behind && k - behind < plan_segments(shape, count))
                broadcast_down(plan, &nodes[tree], plan_segment(shape, count, k - behind));
        }
}

/* An inner rank of one tree is a leaf of the other. In each tree it receives one half of the data
 * per child and one from its parent, and sends as much. */
struct algorithm_cost double_tree_allreduce_cost(const struct plan_shape *shape)
{
    struct algorithm_cost cost = {4.0 * algorithm_rounds(shape->ranks), 0, 0};
    double half = algorithm_bytes(shape) / 2;

    for (int rank = 0; rank < shape->ranks; rank++) {
        struct plan_shape other = *shape;
        double sent = 0, received = 0, reduced = 0;

        other.rank = rank;
        for (int tree = 0; tree < 2 && shape->ranks > 1; tree++) {
            struct node node = node_of(&other, tree);

            sent += half * (node.count + (node.parent != NONE));
            received += half * (node.count + (node.parent != NONE));
            reduced += half * node.count;
        }
        cost.bytes = sent > cost.bytes ? sent : cost.bytes;
        cost.bytes = received > cost.bytes ? received : cost.bytes;
        cost.reduced = reduced > cost.reduced ? reduced : cost.reduced;
    }
    return cost;
}
