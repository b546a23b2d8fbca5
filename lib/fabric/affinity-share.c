/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fabric/affinity-share.h"
#include "lib/base/sysfs.h"

#include <string.h>

/* First each GPU takes one rail, then each rail that is left takes one GPU. Both are optimal
 * semi-matchings, which minimize the greatest load: sources are added one after the other, each by
 * the alternating path to the least loaded target in reach (Harvey, Ladner, Lovasz, Tamir,
 * "Semi-matchings for bipartite graphs and load balancing", 2003, algorithm ASM2). */

enum { NONE = -1, MOST = INVENTORY_NICS > INVENTORY_GPUS ? INVENTORY_NICS : INVENTORY_GPUS };

struct matching {
    const struct affinity *affinity;
    bool has_gpu_targets; /* the sources are rails, the targets GPUs; else the reverse */
    const size_t *sources, *targets;
    size_t source_count, target_count;
    int target_of[MOST]; /* of each source: an index in targets, or NONE */
    int load[MOST];      /* of each target: its number of sources */
};

static bool can_serve(const struct affinity *affinity, size_t gpu, size_t rail)
{
    return affinity->is_known[gpu] && !affinity->is_coarse[gpu] && affinity->serves[gpu][rail];
}

static bool can_match(const struct matching *matching, size_t source, size_t target)
{
    size_t one = matching->sources[source], other = matching->targets[target];

    return matching->has_gpu_targets ? can_serve(matching->affinity, other, one)
                                     : can_serve(matching->affinity, one, other);
}

/* Adds a source: each source on the path to the least loaded target moves on to the next target of
 * the path. */
static void augment(struct matching *matching, size_t newcomer)
{
    int reached_by[MOST], best = NONE;
    size_t queue[MOST], queued = 0;

    for (size_t i = 0; i < matching->target_count; i++)
        reached_by[i] = NONE;
    queue[queued++] = newcomer;
    for (size_t i = 0; i < queued; i++) {
        for (size_t target = 0; target < matching->target_count; target++) {
            if (reached_by[target] != NONE || !can_match(matching, queue[i], target))
                continue;
            reached_by[target] = (int)queue[i];
            if (best == NONE || matching->load[target] < matching->load[best])
                best = (int)target;
            for (size_t source = 0; source < matching->source_count; source++)
                if (matching->target_of[source] == (int)target)
                    queue[queued++] = source;
        }
    }
    if (best == NONE)
        return;
    matching->load[best]++;
    for (int target = best; target != NONE;) {
        int source = reached_by[target], before = matching->target_of[source];

        matching->target_of[source] = target;
        target = before;
    }
}

static void match_all(struct matching *matching)
{
    for (size_t i = 0; i < matching->source_count; i++)
        matching->target_of[i] = NONE;
    for (size_t i = 0; i < matching->source_count; i++)
        augment(matching, i);
}

/* A location without an address is last. */
static int compare_locations(const struct location *a, const struct location *b)
{
    if (!a->pci[0] || !b->pci[0])
        return !a->pci[0] - !b->pci[0];
    return location_compare(a->pci, b->pci);
}

static int compare_rails(const struct rail *a, const struct rail *b)
{
    return compare_locations(rail_location(a), rail_location(b)) ?: sysfs_compare(a->name, b->name);
}

struct order {
    size_t gpus[INVENTORY_GPUS], rails[INVENTORY_NICS];
    size_t gpu_count, rail_count;
};

static void sort_devices(const struct inventory *inventory, const struct fabric *fabric,
                         struct order *order)
{
    size_t at;

    order->gpu_count = inventory->gpu_count;
    for (size_t i = 0; i < order->gpu_count; i++) {
        for (at = i; at > 0 && compare_locations(&inventory->gpus[order->gpus[at - 1]].location,
                                                 &inventory->gpus[i].location) > 0;
             at--)
            order->gpus[at] = order->gpus[at - 1];
        order->gpus[at] = i;
    }
    order->rail_count = fabric->rail_count;
    for (size_t i = 0; i < order->rail_count; i++) {
        for (at = i;
             at > 0 && compare_rails(&fabric->rails[order->rails[at - 1]], &fabric->rails[i]) > 0;
             at--)
            order->rails[at] = order->rails[at - 1];
        order->rails[at] = i;
    }
}

/* The result of both matchings. All indexes are in struct order. */
struct shares {
    int first_rail[INVENTORY_GPUS]; /* of each GPU: its rail from the first round */
    int more_for[INVENTORY_NICS];   /* of each rail: the GPU that has it from the second, or NONE */
};

static void find_shares(const struct affinity *affinity, const struct order *order,
                        struct shares *shares)
{
    struct matching matching = {.affinity = affinity,
                                .sources = order->gpus,
                                .source_count = order->gpu_count,
                                .targets = order->rails,
                                .target_count = order->rail_count};
    size_t left[INVENTORY_NICS], indexes[INVENTORY_NICS], count = 0;

    match_all(&matching);
    memcpy(shares->first_rail, matching.target_of, sizeof shares->first_rail);
    for (size_t i = 0; i < order->rail_count; i++) {
        shares->more_for[i] = NONE;
        if (matching.load[i] == 0) {
            indexes[count] = i;
            left[count++] = order->rails[i];
        }
    }
    matching = (struct matching){.affinity = affinity,
                                 .has_gpu_targets = true,
                                 .sources = left,
                                 .source_count = count,
                                 .targets = order->gpus,
                                 .target_count = order->gpu_count};
    match_all(&matching);
    for (size_t i = 0; i < count; i++)
        shares->more_for[indexes[i]] = matching.target_of[i];
}

static bool have_same_choice(const struct affinity *affinity, size_t one, size_t other)
{
    for (size_t i = 0; i < affinity->rail_count; i++)
        if (can_serve(affinity, one, i) != can_serve(affinity, other, i))
            return false;
    return true;
}

/* GPUs with the same possible rails are interchangeable: deals all rails that they have anew, in
 * the order of addresses, so that neighboring GPUs get neighboring rails. Each GPU keeps its number
 * of rails. */
static void redistribute(const struct affinity *affinity, const struct order *order, size_t leader,
                         bool *is_done, bool serves[INVENTORY_GPUS][INVENTORY_NICS],
                         const struct shares *shares)
{
    size_t gpus[INVENTORY_GPUS], count = 0, at = 0, given = 0, needs[INVENTORY_GPUS];
    size_t copies[INVENTORY_NICS] = {0};

    for (size_t i = leader; i < order->gpu_count; i++) {
        size_t gpu = order->gpus[i];

        if (is_done[i] || !affinity->is_known[gpu] || affinity->is_coarse[gpu] ||
            !have_same_choice(affinity, order->gpus[leader], gpu))
            continue;
        is_done[i] = true;
        needs[count] = 1;
        copies[shares->first_rail[i]]++;
        for (size_t j = 0; j < order->rail_count; j++) {
            if (shares->more_for[j] == (int)i) {
                needs[count]++;
                copies[j]++;
            }
        }
        gpus[count++] = gpu;
    }
    for (size_t i = 0; i < order->rail_count; i++) {
        for (; copies[i] > 0 && at < count; copies[i]--) {
            serves[gpus[at]][order->rails[i]] = true;
            if (++given == needs[at]) {
                at++;
                given = 0;
            }
        }
    }
}

void affinity_share(const struct inventory *inventory, const struct fabric *fabric,
                    struct affinity *affinity)
{
    struct order order;
    struct shares shares;
    bool is_done[INVENTORY_GPUS] = {false}, serves[INVENTORY_GPUS][INVENTORY_NICS] = {{false}};

    sort_devices(inventory, fabric, &order);
    find_shares(affinity, &order, &shares);
    for (size_t i = 0; i < order.gpu_count; i++) {
        size_t gpu = order.gpus[i];

        if (!affinity->is_known[gpu] || affinity->is_coarse[gpu])
            memcpy(serves[gpu], affinity->serves[gpu], sizeof serves[gpu]);
        else if (!is_done[i])
            redistribute(affinity, &order, i, is_done, serves, &shares);
    }
    memcpy(affinity->serves, serves, sizeof serves);
}
