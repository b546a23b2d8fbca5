/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/schedule/split.h"

#include <stdlib.h>
#include <string.h>

/* What the sub-round that is being filled uses. */
struct usage {
    const struct split_limits *limits;
    int pairs;
    int *inside, *across; /* [block] */
    int *ranks;           /* [host] */
    int block_count, node_count;
};

static bool has_room(int used, int more, int limit)
{
    return limit <= 0 || used + more <= limit;
}

static int uplink_limit(const struct split_limits *limits, int block)
{
    return limits->uplink_pairs ? limits->uplink_pairs[block] : 0;
}

static int block_of(const struct usage *usage, int node)
{
    return usage->limits->blocks ? usage->limits->blocks[node] : -1;
}

static bool fits(const struct usage *usage, const int ends[2])
{
    const struct split_limits *limits = usage->limits;
    const int blocks[2] = {block_of(usage, ends[0]), block_of(usage, ends[1])};
    bool is_inside = blocks[0] == blocks[1];

    if (!has_room(usage->pairs, 1, limits->pairs))
        return false;
    for (int k = 0; k < 2; k++) {
        if (blocks[k] >= 0 && is_inside &&
            !has_room(usage->inside[blocks[k]], 1, limits->leaf_pairs))
            return false;
        if (blocks[k] >= 0 && !is_inside &&
            !has_room(usage->across[blocks[k]], 1, uplink_limit(limits, blocks[k])))
            return false;
        if (limits->hosts) {
            int host = limits->hosts[ends[k]], more = 1 + (limits->hosts[ends[1 - k]] == host);

            if (!has_room(usage->ranks[host], more, limits->host_ranks[host]))
                return false;
        }
    }
    return true;
}

static void add_pair(struct usage *usage, const int ends[2])
{
    bool is_inside = block_of(usage, ends[0]) == block_of(usage, ends[1]);

    usage->pairs++;
    for (int k = 0; k < 2; k++) {
        int block = block_of(usage, ends[k]);

        if (block >= 0 && is_inside && k == 0)
            usage->inside[block]++;
        if (block >= 0 && !is_inside)
            usage->across[block]++;
        if (usage->limits->hosts)
            usage->ranks[usage->limits->hosts[ends[k]]]++;
    }
}

static void empty(struct usage *usage)
{
    usage->pairs = 0;
    memset(usage->inside, 0, (size_t)usage->block_count * sizeof *usage->inside);
    memset(usage->across, 0, (size_t)usage->block_count * sizeof *usage->across);
    memset(usage->ranks, 0, (size_t)usage->node_count * sizeof *usage->ranks);
}

/* Fills one sub-round with pairs that have none yet. Returns the number of pairs. */
static int fill(struct usage *usage, const int *partners, int number, int *sub_rounds)
{
    empty(usage);
    for (int node = 0; node < usage->node_count; node++) {
        const int ends[2] = {node, partners[node]};

        if (ends[1] <= node || sub_rounds[node] >= 0)
            continue;
        if (usage->pairs > 0 && !fits(usage, ends))
            continue;
        add_pair(usage, ends);
        sub_rounds[ends[0]] = sub_rounds[ends[1]] = number;
    }
    return usage->pairs;
}

int schedule_split(const struct split_limits *limits, const int *partners, int node_count,
                   int *sub_rounds)
{
    struct usage usage = {.limits = limits, .node_count = node_count};
    int count = -1;

    for (int node = 0; node < node_count; node++) {
        sub_rounds[node] = -1;
        if (block_of(&usage, node) >= usage.block_count)
            usage.block_count = block_of(&usage, node) + 1;
    }
    usage.inside = calloc((size_t)usage.block_count + 1, sizeof *usage.inside);
    usage.across = calloc((size_t)usage.block_count + 1, sizeof *usage.across);
    usage.ranks = calloc((size_t)node_count + 1, sizeof *usage.ranks);
    if (usage.inside && usage.across && usage.ranks)
        for (count = 0; fill(&usage, partners, count, sub_rounds) > 0;)
            count++;
    free(usage.inside);
    free(usage.across);
    free(usage.ranks);
    return count;
}
