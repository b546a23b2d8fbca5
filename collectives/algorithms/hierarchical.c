/* SPDX-License-Identifier: Apache-2.0 */
/* Hierarchical allreduce: the ranks of a node add up among themselves, each its own part of the
 * data; every part then goes round a ring of the nodes, all parts at once and each by another rank,
 * so that all rails of a node are busy; the ranks of the node send each other the results. Only
 * 2 (N - 1) / N of the data leave a node (N nodes), whatever the number of its ranks; and
 * these alone are coded on the wire. */
#include "collectives/algorithms/algorithm.h"

struct rank_location {
    int node;
    int index; /* among the ranks of the node */
    int size;  /* of the node */
    int parts; /* as many as the smallest node has ranks, so that each has an owner on every node */
};

static int node_of(const struct plan_shape *shape, int rank)
{
    return shape->topology->node_of_rank[rank];
}

/* Returns the rank with this index on the node, or -1 if the node has fewer ranks. */
static int rank_of(const struct plan_shape *shape, int node, int index)
{
    for (int r = 0; r < shape->ranks; r++)
        if (node_of(shape, r) == node && index-- == 0)
            return r;
    return -1;
}

static struct rank_location location_of(const struct plan_shape *shape, int *sizes)
{
    struct rank_location location = {.node = node_of(shape, shape->rank), .parts = shape->ranks};

    for (int r = 0; r < shape->ranks; r++) {
        location.index += node_of(shape, r) == location.node && r < shape->rank;
        sizes[node_of(shape, r)]++;
    }
    location.size = sizes[location.node];
    for (int n = 0; n < shape->topology->nodes; n++)
        location.parts = sizes[n] < location.parts ? sizes[n] : location.parts;
    return location;
}

bool hierarchical_applies(const struct plan_shape *shape)
{
    return shape->topology && shape->topology->nodes > 1 && shape->topology->nodes < shape->ranks;
}

void hierarchical_allreduce(const struct plan_shape *shape, struct plan *plan)
{
    int nodes = shape->topology->nodes;
    int *sizes = plan_ints(plan, (size_t)(nodes + shape->ranks)), *peers;
    struct plan_block mine;
    struct direct inside;
    struct rank_location location;

    if (!sizes)
        return;
    peers = sizes + nodes;
    location = location_of(shape, sizes);
    for (int i = 0; i < location.size; i++)
        peers[i] = rank_of(shape, location.node, i);
    inside = (struct direct){peers, location.size, location.index, location.parts, true};
    direct_reduce(shape, plan, &inside);
    mine = plan_part(shape->count, location.parts, location.index % location.parts);
    if (location.index < location.parts) {
        struct ring ring = {sizes, nodes, location.node};

        for (int n = 0; n < nodes; n++)
            sizes[n] = rank_of(shape, n, location.index);
        ring_among(shape, plan, &ring, plan_out(mine.offset), plan_out(mine.offset), mine.count);
    }
    direct_gather(shape, plan, &inside);
}

/* For nodes of equal size; counts messages within a node and between nodes alike. */
struct algorithm_cost hierarchical_allreduce_cost(const struct plan_shape *shape)
{
    double nodes = shape->topology->nodes, each = shape->ranks / nodes;
    double bytes = algorithm_bytes(shape), part = bytes / each;
    double inside = (each - 1) * part, round = (nodes - 1) * part / nodes;

    return (struct algorithm_cost){2 * (each - 1) + 2 * (nodes - 1), 2 * inside + 2 * round,
                                   inside + round};
}
