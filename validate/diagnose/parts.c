/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/parts.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/grow.h"

bool part_carries(const struct diagnose_network *network, const struct part *part, int from, int to,
                  int rail)
{
    const int *leaves = network->leaves;
    bool sends, receives;

    if (part->rail >= 0 && part->rail != rail)
        return false;
    switch (part->type) {
    case DIAGNOSE_RAIL:
    case DIAGNOSE_NODE:
    case DIAGNOSE_HOST:
        sends = from == part->index;
        receives = to == part->index;
        break;
    case DIAGNOSE_PATH:
        sends = from == part->index && to == part->peer;
        receives = to == part->index && from == part->peer;
        break;
    case DIAGNOSE_LEAF:
    case DIAGNOSE_UPLINK:
        sends = leaves[from] == part->index;
        receives = leaves[to] == part->index;
        if (part->type == DIAGNOSE_UPLINK && sends && receives)
            return false;
        if (part->peer >= 0 && leaves[from] != part->peer && leaves[to] != part->peer)
            return false;
        break;
    default:
        return true;
    }
    return (sends && (part->ways & DIAGNOSE_SENDS)) ||
           (receives && (part->ways & DIAGNOSE_RECEIVES));
}

void part_mark(const struct diagnose_network *network, const struct part *part, size_t most,
               bool *flags)
{
    if (!part_is_large(part))
        flags[part->index] = true;
    if (part->type == DIAGNOSE_PATH)
        flags[part->peer] = true;
    for (size_t i = 0; i < network->node_count && most > 0 && part_is_large(part); i++)
        if (part->type == DIAGNOSE_FABRIC || network->leaves[i] == part->index) {
            flags[i] = true;
            most--;
        }
}

/* Adds the pairs of the node that may pass the part, except those within a leaf that its lower node
 * adds. Returns the new count. */
static unsigned add_node(const struct observations *observations, const struct part *part, int node,
                         unsigned *pairs, unsigned count)
{
    const struct diagnose_network *network = observations->network;

    for (unsigned i = observations->first[node]; i < observations->first[node + 1]; i++) {
        const struct pair *pair = &observations->pairs[observations->of_nodes[i]];
        bool is_added =
            part_is_large(part) && pair->high == node && network->leaves[pair->low] == part->index;

        if (!is_added && part_touches(network, part, pair->low, pair->high))
            pairs[count++] = observations->of_nodes[i];
    }
    return count;
}

unsigned part_pairs(const struct observations *observations, const struct part *part,
                    unsigned *pairs)
{
    unsigned count = 0;

    if (!part_is_large(part))
        return add_node(observations, part, part->index, pairs, 0);
    for (int node = 0;
         part->type != DIAGNOSE_FABRIC && node < (int)observations->network->node_count; node++)
        if (observations->network->leaves[node] == part->index)
            count = add_node(observations, part, node, pairs, count);
    for (; part->type == DIAGNOSE_FABRIC && count < observations->pair_count; count++)
        pairs[count] = count;
    return count;
}

bool part_is_same(const struct part *a, const struct part *b)
{
    return a->type == b->type && a->rail == b->rail && a->index == b->index && a->peer == b->peer;
}

enum model_sharing part_sharing(const struct part *part)
{
    return part->type == DIAGNOSE_UPLINK ? MODEL_CABLES
           : part_is_large(part)         ? MODEL_SHARED
                                         : MODEL_ALONE;
}

float part_duty(const struct part *part)
{
    return model_duties[part_sharing(part)][part->duty];
}

double part_log_prior(const struct diagnose_network *network, const struct part *part)
{
    double paths = fmax((double)network->node_count - 1, 1);

    if (part->type == DIAGNOSE_PATH)
        return log((part->rail < 0                ? MODEL_PRIOR_PATH_RAILS
                    : part->ways != DIAGNOSE_BOTH ? MODEL_PRIOR_PATH_ONE_WAY
                                                  : MODEL_PRIOR_PATH) /
                   paths);
    return log(part->type == DIAGNOSE_NODE || part->type == DIAGNOSE_HOST ? MODEL_PRIOR_NODE
               : part->ways != DIAGNOSE_BOTH                              ? MODEL_PRIOR_ONE_WAY
                                                                          : MODEL_PRIOR_LARGE);
}

/* The most that a low sample adds to the log odds of a part that it passes. number: of the part and
 * its ways, see number_of(). */
struct gain {
    unsigned long long number;
    double value;
};

struct gains {
    struct gain *items;
    size_t count;
    double of_sample; /* the value of the gains that are added */
    bool is_out_of_memory;
};

static unsigned long long number_of(const struct part *part)
{
    unsigned long long number = (unsigned long long)part->type * 4 + (unsigned)part->ways;

    number = number << 24 | (unsigned)(part->index + 1);
    number = number << 24 | (unsigned)(part->peer + 1);
    return number << 8 | (unsigned)(part->rail + 1);
}

static struct part part_of(unsigned long long number)
{
    return (struct part){.type = (enum part_type)(number >> 58),
                         .ways = (int)(number >> 56 & 3),
                         .index = (int)(number >> 32 & 0xffffff) - 1,
                         .peer = (int)(number >> 8 & 0xffffff) - 1,
                         .rail = (int)(number & 0xff) - 1};
}

static int by_number(const void *left, const void *right)
{
    const struct gain *a = left, *b = right;

    return (a->number > b->number) - (a->number < b->number);
}

static void add_gain(struct gains *gains, struct part part)
{
    if (GROW(gains->items, gains->count))
        gains->items[gains->count++] = (struct gain){number_of(&part), gains->of_sample};
    else
        gains->is_out_of_memory = true;
}

/* Adds a gain for each part that a low sample passes. With one rail, "all rails" is that rail. With
 * two leaves, both have the same uplinks. */
static void add_gains(const struct diagnose_network *network, struct gains *gains,
                      const struct pair *pair, const struct observation *sample)
{
    int from = sample->is_up ? pair->low : pair->high, to = sample->is_up ? pair->high : pair->low;

    gains->of_sample = observation_most(sample);
    for (int is_all = 0; is_all <= (network->rail_count > 1); is_all++)
        for (int end = 0; end < 4; end++) {
            int node = end & 1 ? to : from, other = end & 1 ? from : to;
            int rail = is_all ? -1 : sample->rail, leaf, peer;
            int ways = end & 2 ? DIAGNOSE_BOTH : end & 1 ? DIAGNOSE_RECEIVES : DIAGNOSE_SENDS;
            enum part_type type = is_all ? DIAGNOSE_NODE : DIAGNOSE_RAIL;

            add_gain(gains, (struct part){type, node, -1, rail, ways});
            if (is_all && ways == DIAGNOSE_BOTH)
                add_gain(gains, (struct part){DIAGNOSE_HOST, node, -1, -1, ways});
            if (node == pair->low && (ways == DIAGNOSE_BOTH || !is_all))
                add_gain(gains, (struct part){DIAGNOSE_PATH, node, other, rail, ways});
            if (end == 3)
                add_gain(gains, (struct part){DIAGNOSE_FABRIC, -1, -1, rail, ways});
            if (network->leaf_count < 2)
                continue;
            leaf = network->leaves[node];
            peer = network->leaves[other];
            if (end == 2 || (end == 3 && leaf != peer))
                add_gain(gains, (struct part){DIAGNOSE_LEAF, leaf, -1, rail, ways});
            if (leaf == peer || (network->leaf_count == 2 && leaf == 1))
                continue;
            add_gain(gains, (struct part){DIAGNOSE_UPLINK, leaf, -1, rail, ways});
            if (network->leaf_count > 2 && leaf < peer)
                add_gain(gains, (struct part){DIAGNOSE_UPLINK, leaf, peer, rail, ways});
        }
}

long part_candidates(const struct observations *observations, const unsigned *among, size_t count,
                     struct candidate **candidates)
{
    const struct diagnose_network *network = observations->network;
    struct gains gains = {0};
    long kept = 0;

    *candidates = NULL;
    for (size_t i = 0; i < (among ? count : observations->pair_count); i++) {
        const struct pair *pair = &observations->pairs[among ? among[i] : (unsigned)i];

        for (unsigned k = pair->begin; k < pair->end; k++)
            if (observations->items[k].is_low)
                add_gains(network, &gains, pair, &observations->items[k]);
    }
    if (gains.count > 0)
        qsort(gains.items, gains.count, sizeof *gains.items, by_number);
    for (size_t i = 0; i < gains.count && !gains.is_out_of_memory;) {
        unsigned long long number = gains.items[i].number;
        struct candidate one = {.part = part_of(number), .stamp = -1};

        one.value = part_log_prior(network, &one.part);
        for (; i < gains.count && gains.items[i].number == number; i++)
            one.value += gains.items[i].value;
        if (one.value <= log(MODEL_ASKED))
            continue;
        if (GROW(*candidates, kept))
            (*candidates)[kept++] = one;
        else
            gains.is_out_of_memory = true;
    }
    free(gains.items);
    return gains.is_out_of_memory ? -1 : kept;
}
