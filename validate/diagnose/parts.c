/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool part_passes(const struct diagnose_network *network, const struct part *part,
                 const struct pair *pair, const struct observation *sample)
{
    const int *leaves = network->leaves;
    int from = sample->is_up ? pair->low : pair->high, to = sample->is_up ? pair->high : pair->low;
    bool sends, receives;

    if (part->rail >= 0 && part->rail != sample->rail)
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

bool part_touches(const struct observations *observations, const struct part *part, unsigned pair)
{
    struct observation sample = {.rail = (unsigned short)(part->rail < 0 ? 0 : part->rail)};
    bool does = false;

    for (int is_up = 0; is_up < 2 && !does; is_up++) {
        sample.is_up = is_up;
        does = part_passes(observations->network, part, &observations->pairs[pair], &sample);
    }
    return does;
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

static int append(unsigned **pairs, size_t *size, size_t count, unsigned pair)
{
    if (count == *size) {
        size_t wanted = 2 * *size + 256;
        unsigned *grown = realloc(*pairs, wanted * sizeof *grown);

        if (!grown)
            return -1;
        *pairs = grown;
        *size = wanted;
    }
    (*pairs)[count] = pair;
    return 0;
}

static int other_of(const struct observations *observations, int node, unsigned place)
{
    const struct pair *pair = &observations->pairs[observations->node_pairs[place]];

    return pair->low == node ? pair->high : pair->low;
}

/* The pairs of a pair. */
static long add_pair(const struct observations *observations, int node, int peer, unsigned **pairs,
                     size_t *size)
{
    unsigned first = observations->node_begin[node], last = observations->node_begin[node + 1];
    unsigned end = last;
    long count = 0;

    while (first < last) {
        unsigned middle = first + (last - first) / 2;

        if (other_of(observations, node, middle) < peer)
            first = middle + 1;
        else
            last = middle;
    }
    for (; first < end && other_of(observations, node, first) == peer; first++, count++)
        if (append(pairs, size, (size_t)count, observations->node_pairs[first]) != 0)
            return -1;
    return count;
}

/* Of the node's pairs those that are to be had of it and not of another member of its leaf. */
static long add_node(const struct observations *observations, const struct part *part, int node,
                     unsigned **pairs, size_t *size, long count)
{
    const int *leaves = observations->network->leaves;
    bool is_leaf = part->type == DIAGNOSE_LEAF || part->type == DIAGNOSE_UPLINK;

    for (unsigned i = observations->node_begin[node]; i < observations->node_begin[node + 1]; i++) {
        int other = other_of(observations, node, i);

        if (is_leaf && leaves[other] == part->place &&
            (part->type == DIAGNOSE_UPLINK || other < node))
            continue;
        if (is_leaf && part->peer >= 0 && leaves[other] != part->peer)
            continue;
        if (append(pairs, size, (size_t)count, observations->node_pairs[i]) != 0)
            return -1;
        count++;
    }
    return count;
}

long part_pairs(const struct observations *observations, const struct part *part, unsigned **pairs,
                size_t *size)
{
    long count = 0;

    switch (part->type) {
    case DIAGNOSE_LEAF:
    case DIAGNOSE_UPLINK:
        for (unsigned i = observations->leaf_begin[part->place];
             i < observations->leaf_begin[part->place + 1] && count >= 0; i++)
            count = add_node(observations, part, observations->members[i], pairs, size, count);
        return count;
    case DIAGNOSE_FABRIC:
        for (unsigned i = 0; i < observations->pair_count; i++)
            if (!observations->pairs[i].is_idle && append(pairs, size, (size_t)count++, i) != 0)
                return -1;
        return count;
    case DIAGNOSE_PATH:
        return add_pair(observations, part->place, part->peer, pairs, size);
    default:
        return add_node(observations, part, part->place, pairs, size, 0);
    }
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

float part_duty(const struct part *part)
{
    return (part->type == DIAGNOSE_UPLINK ? model_cables : model_duties)[part->duty];
}

double part_log_prior(const struct diagnose_network *network, const struct part *part)
{
    enum model_constant constant = MODEL_PRIOR_LARGE;
    double paths = fmax((double)network->node_count - 1, 1);

    if (part->type == DIAGNOSE_PATH)
        return log(model_value(part->rail < 0                ? MODEL_PRIOR_PATH_RAILS
                               : part->ways != DIAGNOSE_BOTH ? MODEL_PRIOR_PATH_ONE_WAY
                                                             : MODEL_PRIOR_PATH) /
                   paths);
    if (part->type == DIAGNOSE_NODE || part->type == DIAGNOSE_HOST)
        constant = MODEL_PRIOR_NODE;
    else if (part->ways != DIAGNOSE_BOTH)
        constant = MODEL_PRIOR_ONE_WAY;
    return log(model_value(constant));
}

static const double unseen_most = 0.5;

/* Candidates are found by a hash of what they are. */
struct slot {
    struct part part;
    unsigned last_pair; /* 1 + the last one that was counted */
    unsigned low_pairs;
    float gain;                /* of its samples at most */
    float gains[MODEL_DUTIES]; /* of the pairs before it, by duty */
};

struct slots {
    struct slot *items;
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
static struct slot *slot_of(struct slots *slots, const struct part *part)
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

/* What low samples of a pair gain at most, were the part there for all of them or for none. */
static void end_pair(struct slot *slot)
{
    for (int duty = 0; duty < MODEL_DUTIES; duty++) {
        struct part part = slot->part;

        part.duty = duty;
        slot->gains[duty] += fmaxf(log1pf(part_duty(&part) * expm1f(fminf(slot->gain, 80))), 0);
    }
    slot->gain = 0;
}

/* A low sample passes the part. */
static int count_low(struct slots *slots, struct part part, int rail, unsigned pair,
                     const struct observation *sample)
{
    struct slot *slot;

    part.rail = rail;
    slot = slot_of(slots, &part);
    if (!slot)
        return -1;
    if (slot->last_pair != pair + 1) {
        end_pair(slot);
        slot->low_pairs++;
    }
    slot->last_pair = pair + 1;
    slot->gain += sample->table->most[sample->is_seen][sample->bin];
    return 0;
}

/* The parts that a low sample passes. */
static int take_low(const struct observations *observations, struct slots *slots, unsigned number,
                    const struct observation *sample)
{
    const struct diagnose_network *network = observations->network;
    const struct pair *pair = &observations->pairs[number];
    int from = sample->is_up ? pair->low : pair->high, to = sample->is_up ? pair->high : pair->low;
    int status = 0, rail = sample->rail;

    for (int end = 0; end < 2; end++) {
        int way = end ? DIAGNOSE_RECEIVES : DIAGNOSE_SENDS, node = end ? to : from;

        for (int ways = way; ways; ways = ways == way ? DIAGNOSE_BOTH : 0) {
            struct part part = {.type = DIAGNOSE_RAIL, .place = node, .peer = -1, .ways = ways};

            status |= count_low(slots, part, rail, number, sample);
            part.type = DIAGNOSE_NODE;
            status |= count_low(slots, part, -1, number, sample);
            if (ways == DIAGNOSE_BOTH) {
                part.type = DIAGNOSE_HOST;
                status |= count_low(slots, part, -1, number, sample);
            }
            if (network->leaf_count < 2)
                continue;
            part.place = network->leaves[node];
            part.type = DIAGNOSE_LEAF;
            status |= count_low(slots, part, rail, number, sample);
            status |= count_low(slots, part, -1, number, sample);
            if (network->leaves[from] == network->leaves[to])
                continue;
            part.type = DIAGNOSE_UPLINK;
            /* of two leaves the one's uplinks are the other's */
            if (network->leaf_count == 2 && part.place == 1)
                continue;
            status |= count_low(slots, part, rail, number, sample);
            status |= count_low(slots, part, -1, number, sample);
            part.peer = network->leaves[end ? from : to];
            if (network->leaf_count > 2 && part.place < part.peer) {
                status |= count_low(slots, part, rail, number, sample);
                status |= count_low(slots, part, -1, number, sample);
            }
        }
    }
    for (int both = 0; both < 2; both++) {
        int way = sample->is_up ? DIAGNOSE_SENDS : DIAGNOSE_RECEIVES;
        struct part part = {.type = DIAGNOSE_PATH,
                            .place = pair->low,
                            .peer = pair->high,
                            .ways = both ? DIAGNOSE_BOTH : way};

        status |= count_low(slots, part, rail, number, sample);
        if (both)
            status |= count_low(slots, part, -1, number, sample);
    }
    for (int all = 0; all < 2; all++) {
        struct part part = {
            .type = DIAGNOSE_FABRIC, .place = -1, .peer = -1, .ways = DIAGNOSE_BOTH};

        status |= count_low(slots, part, all ? -1 : rail, number, sample);
    }
    return status;
}

/* How many pairs have to do with it, without a list of them; rather too few. */
static double pairs_of(const struct observations *observations, const struct part *part)
{
    double all = 0, across = 0;

    switch (part->type) {
    case DIAGNOSE_RAIL:
    case DIAGNOSE_NODE:
        return observations->node_begin[part->place + 1] - observations->node_begin[part->place];
    case DIAGNOSE_HOST:
        return observations->node_together[part->place];
    case DIAGNOSE_LEAF:
    case DIAGNOSE_UPLINK:
        for (unsigned i = observations->leaf_begin[part->place];
             i < observations->leaf_begin[part->place + 1]; i++) {
            int node = observations->members[i];

            all += observations->node_begin[node + 1] - observations->node_begin[node];
            across += observations->node_across[node];
        }
        if (part->type == DIAGNOSE_UPLINK) /* one stream alone may not feel what all rails share */
            return part->peer >= 0 || part->rail < 0 ? 0 : across;
        return across + (all - across) / 2; /* both ends of those inside are members */
    case DIAGNOSE_FABRIC:
        return observations->pair_count;
    default:
        return 0;
    }
}

/* The most that the part gains, given so many other pairs that have to do with it: in each of these
 * it was not there, or is not seen in a sound sample, which has so shallow a part half as often. */
static double bound_of(const struct observations *observations, struct slot *slot, double others)
{
    struct part part = slot->part;
    double most = -INFINITY;

    end_pair(slot);
    for (part.duty = 0; part.duty < MODEL_DUTIES; part.duty++)
        most = fmax(most,
                    slot->gains[part.duty] + others * log(1 - fmin(part_duty(&part), unseen_most)));
    return most + part_log_prior(observations->network, &part);
}

static int by_bound(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    return (a->bound < b->bound) - (a->bound > b->bound);
}

static int take_pairs(const struct observations *observations, const unsigned *among, size_t count,
                      struct slots *slots)
{
    for (size_t i = 0; i < count; i++) {
        unsigned number = among ? among[i] : (unsigned)i;
        const struct pair *pair = &observations->pairs[number];

        for (unsigned k = pair->begin; k < pair->end; k++)
            if (observations->items[k].is_low &&
                take_low(observations, slots, number, &observations->items[k]) != 0)
                return -1;
    }
    return 0;
}

long part_candidates(const struct observations *observations, const unsigned *among, size_t count,
                     struct candidate **candidates)
{
    struct slots slots = {0};
    long found = -1;

    *candidates = NULL;
    if (take_pairs(observations, among, among ? count : observations->pair_count, &slots) != 0)
        goto done;
    *candidates = malloc((slots.count + 1) * sizeof **candidates);
    if (!*candidates)
        goto done;
    found = 0;
    for (size_t i = 0; i < slots.size; i++) {
        struct slot *slot = &slots.items[i];
        struct candidate one = {.part = slot->part};
        double others = 0;

        if (!slot->part.ways)
            continue;
        if (!among)
            others = fmax(pairs_of(observations, &slot->part) - slot->low_pairs, 0);
        one.bound = bound_of(observations, slot, others);
        if (one.bound > 0)
            (*candidates)[found++] = one;
    }
    qsort(*candidates, (size_t)found, sizeof **candidates, by_bound);
done:
    free(slots.items);
    return found;
}
