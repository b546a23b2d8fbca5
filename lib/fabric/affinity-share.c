/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fabric/affinity-share.h"
#include "lib/base/sysfs.h"

#include <stdlib.h>
#include <string.h>

/* First each GPU takes one rail, then each rail that is left takes one GPU. Both are optimal
 * semi-matchings, which minimize the greatest load: takers join one after the other, each by the
 * alternating path to the least loaded thing in reach (Harvey, Ladner, Lovasz, Tamir,
 * "Semi-matchings for bipartite graphs and load balancing", 2003, algorithm ASM2). */

enum { NONE = -1, MOST = INVENTORY_NICS > INVENTORY_GPUS ? INVENTORY_NICS : INVENTORY_GPUS };

struct sharing {
    const struct affinity *affinity;
    bool takes_gpus; /* the takers are rails, the things GPUs; else the reverse */
    const size_t *takers, *things;
    size_t taker_count, thing_count;
    int taken[MOST]; /* of each taker: an index in things, or NONE */
    int load[MOST];  /* of each thing: its number of takers */
};

static bool can_serve(const struct affinity *affinity, size_t gpu, size_t rail)
{
    return affinity->is_known[gpu] && !affinity->is_coarse[gpu] && affinity->serves[gpu][rail];
}

static bool can_take(const struct sharing *sharing, size_t taker, size_t thing)
{
    size_t one = sharing->takers[taker], other = sharing->things[thing];

    return sharing->takes_gpus ? can_serve(sharing->affinity, other, one)
                               : can_serve(sharing->affinity, one, other);
}

/* Adds a taker: each taker on the path to the least loaded thing moves on to the next thing of the
 * path. */
static void join(struct sharing *sharing, size_t newcomer)
{
    int reached_by[MOST], best = NONE;
    size_t queue[MOST], queued = 0;

    for (size_t i = 0; i < sharing->thing_count; i++)
        reached_by[i] = NONE;
    queue[queued++] = newcomer;
    for (size_t i = 0; i < queued; i++) {
        for (size_t thing = 0; thing < sharing->thing_count; thing++) {
            if (reached_by[thing] != NONE || !can_take(sharing, queue[i], thing))
                continue;
            reached_by[thing] = (int)queue[i];
            if (best == NONE || sharing->load[thing] < sharing->load[best])
                best = (int)thing;
            for (size_t taker = 0; taker < sharing->taker_count; taker++)
                if (sharing->taken[taker] == (int)thing)
                    queue[queued++] = taker;
        }
    }
    if (best == NONE)
        return;
    sharing->load[best]++;
    for (int thing = best; thing != NONE;) {
        int taker = reached_by[thing], before = sharing->taken[taker];

        sharing->taken[taker] = thing;
        thing = before;
    }
}

static void share(struct sharing *sharing)
{
    for (size_t i = 0; i < sharing->taker_count; i++)
        sharing->taken[i] = NONE;
    for (size_t i = 0; i < sharing->taker_count; i++)
        join(sharing, i);
}

/* Compares PCI addresses, which are hexadecimal; a domain may have more than four digits. A
 * location without an address is last. */
static int compare_places(const struct location *a, const struct location *b)
{
    size_t length = strlen(a->pci), other = strlen(b->pci);

    if (length == 0 || other == 0)
        return (length == 0) - (other == 0);
    return length != other ? (length < other ? -1 : 1) : strcmp(a->pci, b->pci);
}

static int compare_rails(const struct rail *a, const struct rail *b)
{
    const struct location *one = a->port ? &a->port->location : &a->nic->location,
                          *other = b->port ? &b->port->location : &b->nic->location;
    int order = compare_places(one, other);

    return order ? order : sysfs_compare(a->name, b->name);
}

struct order {
    size_t gpus[INVENTORY_GPUS], rails[INVENTORY_NICS];
    size_t gpu_count, rail_count;
};

static void put_in_order(const struct inventory *inventory, const struct fabric *fabric,
                         struct order *order)
{
    size_t at;

    order->gpu_count = inventory->gpu_count;
    for (size_t i = 0; i < order->gpu_count; i++) {
        for (at = i; at > 0 && compare_places(&inventory->gpus[order->gpus[at - 1]].location,
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

/* The result of the sharing. All indexes are in struct order. */
struct shares {
    int first_rail[INVENTORY_GPUS]; /* of each GPU: its rail from the first round */
    int more_for[INVENTORY_NICS];   /* of each rail: the GPU that has it from the second, or NONE */
};

static void find_shares(const struct affinity *affinity, const struct order *order,
                        struct shares *shares)
{
    struct sharing sharing = {.affinity = affinity,
                              .takers = order->gpus,
                              .taker_count = order->gpu_count,
                              .things = order->rails,
                              .thing_count = order->rail_count};
    size_t left[INVENTORY_NICS], places[INVENTORY_NICS], count = 0;

    share(&sharing);
    memcpy(shares->first_rail, sharing.taken, sizeof shares->first_rail);
    for (size_t i = 0; i < order->rail_count; i++) {
        shares->more_for[i] = NONE;
        if (sharing.load[i] == 0) {
            places[count] = i;
            left[count++] = order->rails[i];
        }
    }
    sharing = (struct sharing){.affinity = affinity,
                               .takes_gpus = true,
                               .takers = left,
                               .taker_count = count,
                               .things = order->gpus,
                               .thing_count = order->gpu_count};
    share(&sharing);
    for (size_t i = 0; i < count; i++)
        shares->more_for[places[i]] = sharing.taken[i];
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
static void deal(const struct affinity *affinity, const struct order *order, size_t leader,
                 bool *is_dealt, bool serves[INVENTORY_GPUS][INVENTORY_NICS],
                 const struct shares *shares)
{
    size_t gpus[INVENTORY_GPUS], count = 0, at = 0, dealt = 0, needs[INVENTORY_GPUS];
    size_t copies[INVENTORY_NICS] = {0};

    for (size_t i = leader; i < order->gpu_count; i++) {
        size_t gpu = order->gpus[i];

        if (is_dealt[i] || !affinity->is_known[gpu] || affinity->is_coarse[gpu] ||
            !have_same_choice(affinity, order->gpus[leader], gpu))
            continue;
        is_dealt[i] = true;
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
            if (++dealt == needs[at]) {
                at++;
                dealt = 0;
            }
        }
    }
}

void affinity_share(const struct inventory *inventory, const struct fabric *fabric,
                    struct affinity *affinity)
{
    struct order order;
    struct shares shares;
    bool is_dealt[INVENTORY_GPUS] = {false}, serves[INVENTORY_GPUS][INVENTORY_NICS] = {{false}};

    put_in_order(inventory, fabric, &order);
    find_shares(affinity, &order, &shares);
    for (size_t i = 0; i < order.gpu_count; i++) {
        size_t gpu = order.gpus[i];

        if (!affinity->is_known[gpu] || affinity->is_coarse[gpu])
            memcpy(serves[gpu], affinity->serves[gpu], sizeof serves[gpu]);
        else if (!is_dealt[i])
            deal(affinity, &order, i, is_dealt, serves, &shares);
    }
    memcpy(affinity->serves, serves, sizeof serves);
}
