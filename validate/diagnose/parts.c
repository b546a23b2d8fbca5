/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const part_verbs[] = {"", "sends", "receives", "sends and receives"};

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
        sends = from == part->place;
        receives = to == part->place;
        break;
    case DIAGNOSE_PATH:
        sends = from == part->place && to == part->peer;
        receives = to == part->place && from == part->peer;
        break;
    case DIAGNOSE_LEAF:
    case DIAGNOSE_UPLINK:
        sends = leaves[from] == part->place;
        receives = leaves[to] == part->place;
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

bool part_touches(const struct diagnose_network *network, const struct part *part, int a, int b)
{
    return part_carries(network, part, a, b, part->rail) ||
           part_carries(network, part, b, a, part->rail);
}

int part_steps(const struct diagnose_network *network, const struct part *part,
               const struct observation *sample)
{
    bool is_one = part->type == DIAGNOSE_HOST && !sample->is_together;

    return is_one ? -model_steps((double)network->rail_count) : 0;
}

bool part_is_low(const struct observations *observations, const struct part *part,
                 const struct pair *pair)
{
    for (unsigned i = pair->begin; i < pair->end; i++)
        if (observations->items[i].is_low &&
            part_passes(observations->network, part, pair, &observations->items[i]))
            return true;
    return false;
}

/* Adds those of the node's pairs that are to be had of it and not of another member of its leaf. */
static unsigned add_node(const struct observations *observations, const struct part *part, int node,
                         unsigned *pairs, unsigned count)
{
    const int *leaves = observations->network->leaves;
    bool is_leaf = part->type == DIAGNOSE_LEAF || part->type == DIAGNOSE_UPLINK;

    for (unsigned i = observations->node_begin[node]; i < observations->node_begin[node + 1]; i++) {
        const struct pair *pair = &observations->pairs[observations->node_pairs[i]];
        int other = pair->low == node ? pair->high : pair->low;
        bool is_others = is_leaf && leaves[other] == part->place &&
                         (part->type == DIAGNOSE_UPLINK || other < node);

        if (!is_others && (part->peer < 0 || (is_leaf ? leaves[other] : other) == part->peer))
            pairs[count++] = observations->node_pairs[i];
    }
    return count;
}

unsigned part_pairs(const struct observations *observations, const struct part *part,
                    unsigned *pairs)
{
    unsigned count = 0;

    if (!part_is_large(part))
        return add_node(observations, part, part->place, pairs, 0);
    for (int node = 0;
         part->type != DIAGNOSE_FABRIC && node < (int)observations->network->node_count; node++)
        if (observations->network->leaves[node] == part->place)
            count = add_node(observations, part, node, pairs, count);
    for (; part->type == DIAGNOSE_FABRIC && count < observations->pair_count; count++)
        pairs[count] = count;
    return count;
}

bool part_is_same(const struct part *a, const struct part *b)
{
    bool is_turned = a->type == DIAGNOSE_PATH && a->place == b->peer && a->peer == b->place;

    return a->type == b->type && a->rail == b->rail &&
           ((a->place == b->place && a->peer == b->peer) || is_turned);
}

bool part_is_large(const struct part *part)
{
    return part->type >= DIAGNOSE_LEAF;
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

/* Candidates are found by a hash of what they are. */
struct slots {
    struct candidate *items;
    size_t size, count;
};

static size_t hash_of(const struct part *part)
{
    size_t hash = (size_t)part->type * 4 + (size_t)part->ways;

    hash = hash * 0x9e3779b97f4a7c15 + (size_t)(part->place + 1);
    hash = hash * 0x9e3779b97f4a7c15 + (size_t)(part->peer + 1);
    hash = hash * 0x9e3779b97f4a7c15 + (size_t)(part->rail + 1);
    return hash ^ (hash >> 29);
}

static bool is_equal(const struct part *a, const struct part *b)
{
    return a->type == b->type && a->place == b->place && a->peer == b->peer && a->rail == b->rail &&
           a->ways == b->ways;
}

/* The slot of a part; an empty one is in use then. */
static struct candidate *slot_of(struct slots *slots, const struct part *part)
{
    size_t at;

    if (2 * slots->count >= slots->size) {
        struct slots grown = {.size = 2 * slots->size + 1024};

        grown.items = calloc(grown.size, sizeof *grown.items);
        if (!grown.items)
            return NULL;
        for (size_t i = 0; i < slots->size; i++)
            if (slots->items[i].part.ways)
                *slot_of(&grown, &slots->items[i].part) = slots->items[i];
        free(slots->items);
        *slots = grown;
    }
    at = hash_of(part) % slots->size;
    while (slots->items[at].part.ways) {
        if (is_equal(&slots->items[at].part, part))
            return &slots->items[at];
        at = at + 1 < slots->size ? at + 1 : 0;
    }
    slots->items[at].part = *part;
    slots->count++;
    return &slots->items[at];
}

/* A low sample passes the part, on the rail or on all (-1), and gains that at most. */
static int count_low(struct slots *slots, struct part part, int rail, double gain)
{
    struct candidate *slot;

    part.rail = rail;
    slot = slot_of(slots, &part);
    if (!slot)
        return -1;
    slot->value += gain;
    return 0;
}

/* The parts that a low sample passes. */
static int take_low(const struct diagnose_network *network, struct slots *slots,
                    const struct pair *pair, const struct observation *sample)
{
    int from = sample->is_up ? pair->low : pair->high, to = sample->is_up ? pair->high : pair->low;
    int status = 0;
    bool has_all = network->rail_count > 1; /* else all rails are the one */
    double gain = observation_most(sample);

    for (int ends = 0; ends < 4; ends++) {
        bool is_to = ends & 1, is_both = ends & 2;
        int node = is_to ? to : from, other = is_to ? from : to;
        struct part part = {.type = DIAGNOSE_RAIL,
                            .place = node,
                            .peer = -1,
                            .ways = is_both ? DIAGNOSE_BOTH
                                    : is_to ? DIAGNOSE_RECEIVES
                                            : DIAGNOSE_SENDS};

        status |= count_low(slots, part, sample->rail, gain);
        part.type = DIAGNOSE_NODE;
        if (has_all)
            status |= count_low(slots, part, -1, gain);
        part.type = DIAGNOSE_HOST;
        if (has_all && is_both)
            status |= count_low(slots, part, -1, gain);
        part.type = DIAGNOSE_PATH;
        part.peer = other;
        for (int all = 0; all <= (has_all && is_both) && node == pair->low; all++)
            status |= count_low(slots, part, all ? -1 : sample->rail, gain);
        if (network->leaf_count < 2)
            continue;
        part.place = network->leaves[node];
        part.peer = -1;
        for (int all = 0; all <= has_all; all++) {
            int rail = all ? -1 : sample->rail;

            part.type = DIAGNOSE_LEAF;
            status |= count_low(slots, part, rail, gain);
            /* of two leaves the one's uplinks are the other's */
            if (part.place == network->leaves[other] ||
                (network->leaf_count == 2 && part.place == 1))
                continue;
            part.type = DIAGNOSE_UPLINK;
            status |= count_low(slots, part, rail, gain);
            if (network->leaf_count > 2 && part.place < network->leaves[other]) {
                struct part between = part;

                between.peer = network->leaves[other];
                status |= count_low(slots, between, rail, gain);
            }
        }
    }
    for (int all = 0; all <= has_all; all++)
        status |= count_low(
            slots,
            (struct part){.type = DIAGNOSE_FABRIC, .place = -1, .peer = -1, .ways = DIAGNOSE_BOTH},
            all ? -1 : sample->rail, gain);
    return status;
}

long part_candidates(const struct observations *observations, const unsigned *among, size_t count,
                     struct candidate **candidates)
{
    struct slots slots = {0};
    long found = 0;

    for (size_t i = 0; i < (among ? count : observations->pair_count); i++) {
        const struct pair *pair = &observations->pairs[among ? among[i] : (unsigned)i];

        for (unsigned k = pair->begin; k < pair->end; k++)
            if (observations->items[k].is_low &&
                take_low(observations->network, &slots, pair, &observations->items[k]) != 0) {
                free(slots.items);
                return -1;
            }
    }
    for (size_t i = 0; i < slots.size; i++) {
        struct candidate one = slots.items[i];

        one.value += part_log_prior(observations->network, &one.part);
        one.stamp = -1;
        if (one.part.ways && one.value > log(MODEL_ASKED))
            slots.items[found++] = one;
    }
    *candidates = slots.items;
    return found;
}
