/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known only beside others is nothing of what they all pass. */
static bool is_told(const struct diagnose_network *network, const struct part *part,
                    const struct observation *sample)
{
    bool is_all = part->type == DIAGNOSE_FABRIC || (part_is_large(part) && network->leaf_count < 3);

    return !sample->is_relative || !is_all;
}

bool part_passes(const struct diagnose_network *network, const struct part *part,
                 const struct run *run, const struct observation *sample)
{
    const int *leaves = network->leaves;
    int from = sample->is_up ? run->low : run->high, to = sample->is_up ? run->high : run->low;
    bool sends, receives;

    if ((part->rail >= 0 && part->rail != sample->rail) || !is_told(network, part, sample))
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

unsigned part_sides(const struct diagnose_network *network, const struct part *part,
                    const struct run *run)
{
    if (part->type == DIAGNOSE_FABRIC)
        return 0;
    if (part->type == DIAGNOSE_LEAF || part->type == DIAGNOSE_UPLINK)
        return (unsigned)(network->leaves[run->low] == part->place) +
               2 * (unsigned)(network->leaves[run->high] == part->place);
    return (unsigned)(run->low == part->place) + 2 * (unsigned)(run->high == part->place);
}

struct part_share part_share(const struct diagnose_network *network, const struct part *part,
                             const struct observation *sample)
{
    int rails = part->rail < 0 ? (int)network->rail_count : 1;
    int streams = sample->is_together ? rails : 1;
    double others = 0;

    if (part->sharing == PART_APART)
        return (struct part_share){0, 0, 0};
    if (part->type == DIAGNOSE_UPLINK)
        streams *= sample->shared;
    if (part->sharing != PART_POOLED)
        others = (streams - 1) * (double)network->leaf_count / (double)network->node_count *
                 (part->sharing == PART_CROWDED ? 4 : 1);
    return (struct part_share){-model_steps(rails), model_steps(streams / (double)rails), others};
}

bool part_is_low(const struct observations *observations, const struct part *part,
                 const struct run *run)
{
    for (unsigned i = run->begin; i < run->end; i++)
        if (observations->items[i].is_low &&
            part_passes(observations->network, part, run, &observations->items[i]))
            return true;
    return false;
}

static int append(unsigned **runs, size_t *size, size_t count, unsigned run)
{
    if (count == *size) {
        size_t wanted = 2 * *size + 256;
        unsigned *grown = realloc(*runs, wanted * sizeof *grown);

        if (!grown)
            return -1;
        *runs = grown;
        *size = wanted;
    }
    (*runs)[count] = run;
    return 0;
}

static int other_of(const struct observations *observations, int node, unsigned place)
{
    const struct run *run = &observations->runs[observations->node_runs[place]];

    return run->low == node ? run->high : run->low;
}

/* The runs of a pair. */
static long add_pair(const struct observations *observations, int node, int peer, unsigned **runs,
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
        if (append(runs, size, (size_t)count, observations->node_runs[first]) != 0)
            return -1;
    return count;
}

/* Of the node's runs those that are to be had of it and not of another member of its leaf. */
static long add_node(const struct observations *observations, const struct part *part, int node,
                     unsigned **runs, size_t *size, long count)
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
        if (append(runs, size, (size_t)count, observations->node_runs[i]) != 0)
            return -1;
        count++;
    }
    return count;
}

long part_runs(const struct observations *observations, const struct part *part, unsigned **runs,
               size_t *size)
{
    long count = 0;

    switch (part->type) {
    case DIAGNOSE_LEAF:
    case DIAGNOSE_UPLINK:
        for (unsigned i = observations->leaf_begin[part->place];
             i < observations->leaf_begin[part->place + 1] && count >= 0; i++)
            count = add_node(observations, part, observations->members[i], runs, size, count);
        return count;
    case DIAGNOSE_FABRIC:
        for (unsigned i = 0; i < observations->run_count; i++, count++)
            if (append(runs, size, (size_t)count, i) != 0)
                return -1;
        return count;
    case DIAGNOSE_PATH:
        return add_pair(observations, part->place, part->peer, runs, size);
    default:
        return add_node(observations, part, part->place, runs, size, 0);
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

/* Candidates are found by a hash of what they are. */
struct slot {
    struct candidate candidate;
    unsigned last_run; /* 1 + the last one that was counted */
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
            if (slots->items[i].candidate.part.ways)
                *slot_of(&grown, &slots->items[i].candidate.part) = slots->items[i];
        free(slots->items);
        *slots = grown;
    }
    at = hash_of(part) % slots->size;
    while (slots->items[at].candidate.part.ways) {
        if (is_equal(&slots->items[at].candidate.part, part))
            return &slots->items[at];
        at = at + 1 < slots->size ? at + 1 : 0;
    }
    slots->items[at].candidate.part = *part;
    slots->count++;
    return &slots->items[at];
}

/* A low sample passes the part. */
static int count_low(const struct diagnose_network *network, struct slots *slots, struct part part,
                     int rail, unsigned run, const struct observation *sample)
{
    struct slot *slot;

    part.rail = rail;
    if (!is_told(network, &part, sample))
        return 0;
    slot = slot_of(slots, &part);
    if (!slot)
        return -1;
    slot->candidate.bound += sample->table->most[sample->is_seen][sample->bin];
    if (slot->last_run != run + 1) {
        slot->last_run = run + 1;
        slot->candidate.low_runs++;
    }
    return 0;
}

/* The parts that a low sample passes. */
static int take_low(const struct observations *observations, struct slots *slots, unsigned number,
                    const struct observation *sample)
{
    const struct diagnose_network *network = observations->network;
    const struct run *run = &observations->runs[number];
    int from = sample->is_up ? run->low : run->high, to = sample->is_up ? run->high : run->low;
    int status = 0, rail = sample->rail;

    for (int end = 0; end < 2; end++) {
        int way = end ? DIAGNOSE_RECEIVES : DIAGNOSE_SENDS, node = end ? to : from;

        for (int ways = way; ways; ways = ways == way ? DIAGNOSE_BOTH : 0) {
            struct part part = {.type = DIAGNOSE_RAIL, .place = node, .peer = -1, .ways = ways};

            status |= count_low(network, slots, part, rail, number, sample);
            part.type = DIAGNOSE_NODE;
            status |= count_low(network, slots, part, -1, number, sample);
            if (ways == DIAGNOSE_BOTH) {
                part.type = DIAGNOSE_HOST;
                part.sharing = PART_POOLED;
                status |= count_low(network, slots, part, -1, number, sample);
                part.sharing = PART_APART;
            }
            if (network->leaf_count < 2)
                continue;
            part.place = network->leaves[node];
            part.type = DIAGNOSE_LEAF;
            status |= count_low(network, slots, part, rail, number, sample);
            status |= count_low(network, slots, part, -1, number, sample);
            if (network->leaves[from] == network->leaves[to])
                continue;
            part.type = DIAGNOSE_UPLINK;
            /* of two leaves the one's uplinks are the other's */
            if (network->leaf_count == 2 && part.place == 1)
                continue;
            status |= count_low(network, slots, part, rail, number, sample);
            status |= count_low(network, slots, part, -1, number, sample);
            part.peer = network->leaves[end ? from : to];
            if (network->leaf_count > 2 && part.place < part.peer) {
                status |= count_low(network, slots, part, rail, number, sample);
                status |= count_low(network, slots, part, -1, number, sample);
            }
        }
    }
    for (int both = 0; both < 2; both++) {
        int way = sample->is_up ? DIAGNOSE_SENDS : DIAGNOSE_RECEIVES;
        struct part part = {.type = DIAGNOSE_PATH,
                            .place = run->low,
                            .peer = run->high,
                            .ways = both ? DIAGNOSE_BOTH : way};

        status |= count_low(network, slots, part, rail, number, sample);
        if (both)
            status |= count_low(network, slots, part, -1, number, sample);
    }
    for (int all = 0; all < 2; all++) {
        struct part part = {
            .type = DIAGNOSE_FABRIC, .place = -1, .peer = -1, .ways = DIAGNOSE_BOTH};

        status |= count_low(network, slots, part, all ? -1 : rail, number, sample);
    }
    return status;
}

/* How many runs have to do with it, without a list of them; rather too few. */
static double runs_of(const struct observations *observations, const struct part *part)
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
        return observations->run_count;
    default:
        return 0;
    }
}

static int by_bound(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    return (a->bound < b->bound) - (a->bound > b->bound);
}

static int take_runs(const struct observations *observations, const unsigned *among, size_t count,
                     struct slots *slots)
{
    for (size_t i = 0; i < count; i++) {
        unsigned number = among ? among[i] : (unsigned)i;
        const struct run *run = &observations->runs[number];

        for (unsigned k = run->begin; k < run->end; k++)
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
    double least_cost = -log1p(-model_duties[MODEL_DUTIES - 1]);
    long found = -1;

    *candidates = NULL;
    if (take_runs(observations, among, among ? count : observations->run_count, &slots) != 0)
        goto done;
    *candidates = malloc((slots.count + 1) * sizeof **candidates);
    if (!*candidates)
        goto done;
    found = 0;
    for (size_t i = 0; i < slots.size; i++) {
        struct candidate one = slots.items[i].candidate;

        if (!one.part.ways)
            continue;
        one.bound += part_log_prior(observations->network, &one.part);
        /* in each run without a low sample it was not there, which has its probability */
        if (!among)
            one.bound -= fmax(runs_of(observations, &one.part) - one.low_runs, 0) * least_cost;
        if (one.bound > 0)
            (*candidates)[found++] = one;
    }
    qsort(*candidates, (size_t)found, sizeof **candidates, by_bound);
done:
    free(slots.items);
    return found;
}
