/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/localization/losses/losses.h"

#include <stdlib.h>

#include "validate/localization/losses/pairs.h"

enum { PARTNERS_LEAST = 2 };

static struct loss_way *way_of(struct loss_end *ends, int nodes, const struct loss_pair *pair,
                               int way)
{
    return &ends[(size_t)pair->rail * (size_t)nodes + (size_t)(way ? pair->to : pair->from)]
                .ways[way];
}

/* Sums of what loses first: by them it is known how much a good pair would have lost. */
static void ends_fill(struct loss_end *ends, int nodes, const struct loss_pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int way = 0; way < 2 && loss_is_losing(&pairs[i].way); way++) {
            struct loss_way *of = way_of(ends, nodes, &pairs[i], way);

            loss_way_add(of, &pairs[i].way);
            of->losing++;
        }
    for (size_t i = 0; i < count; i++)
        for (int way = 0; way < 2 && !loss_is_losing(&pairs[i].way); way++) {
            struct loss_way *of = way_of(ends, nodes, &pairs[i], way);

            of->clean += of->losing > 0 && loss_is_clean(of, &pairs[i].way);
        }
}

static bool is_way_suspect(const struct loss_way *way, int losing)
{
    return way->losing >= losing && loss_is_each(way->losing, way->clean);
}

static bool is_suspect(const struct loss_end *end)
{
    return is_way_suspect(&end->ways[0], PARTNERS_LEAST) ||
           is_way_suspect(&end->ways[1], PARTNERS_LEAST);
}

static void take(struct loss_finding *finding, enum loss_kind kind, int rail, int node,
                 const struct loss_end *end, int losing)
{
    struct loss_way sum = {0};
    bool is_low[2];

    for (int way = 0; way < 2; way++) {
        is_low[way] = is_way_suspect(&end->ways[way], losing);
        if (is_low[way])
            loss_way_add(&sum, &end->ways[way]);
    }
    *finding = loss_way_finding(&sum, kind, rail);
    finding->node = node;
    finding->sends = is_low[0];
    finding->receives = is_low[1];
}

/* One rail of all nodes. */
struct rail_ends {
    const struct loss_end *ends; /* nodes */
    const bool *is_measured;
    bool *is_told; /* their losses are explained */
    int nodes, rail;
    const int *blocks;
};

static int block_of(const struct rail_ends *rail, int node)
{
    return rail->blocks ? rail->blocks[node] : -1;
}

/* The nodes of a block, -1: of all. */
struct group {
    int measured, suspects;
};

static struct group group_of(const struct rail_ends *rail, int block)
{
    struct group group = {0, 0};

    for (int node = 0; node < rail->nodes; node++)
        if (block < 0 || block_of(rail, node) == block) {
            group.measured += rail->is_measured[node];
            group.suspects += is_suspect(&rail->ends[node]);
        }
    return group;
}

static bool are_alike(const struct group *group)
{
    return group->suspects > 1 && 2 * group->suspects > group->measured;
}

/* What most nodes of the block, or of all, have alike. */
static void take_group(const struct rail_ends *rail, enum loss_kind kind, int block,
                       struct loss_finding *finding)
{
    struct loss_way sum = {0};

    for (int node = 0; node < rail->nodes; node++) {
        if (block >= 0 && block_of(rail, node) != block)
            continue;
        loss_way_add(&sum, &rail->ends[node].ways[0]);
        rail->is_told[node] = true;
    }
    *finding = loss_way_finding(&sum, kind, rail->rail);
    finding->block = block;
    finding->is_damage = false; /* one of them may be to blame */
}

/* The suspects of one rail; returns how many findings. */
static size_t rail_judge(const struct rail_ends *rail, struct loss_finding *findings)
{
    struct group all = group_of(rail, -1);
    size_t count = 0;

    if (are_alike(&all)) {
        take_group(rail, LOSS_MANY, -1, &findings[0]);
        return 1;
    }
    for (int node = 0; node < rail->nodes && all.suspects > 0; node++) {
        struct group block = {0, 0};

        if (rail->is_told[node] || !is_suspect(&rail->ends[node]))
            continue;
        if (block_of(rail, node) >= 0)
            block = group_of(rail, block_of(rail, node));
        if (are_alike(&block)) {
            take_group(rail, LOSS_LEAF, block_of(rail, node), &findings[count++]);
            continue;
        }
        /* the only one on its leaf switch: all its paths are the switch's too */
        take(&findings[count++], block.measured == 1 && all.measured > 1 ? LOSS_EITHER : LOSS_RAIL,
             rail->rail, node, &rail->ends[node], PARTNERS_LEAST);
        rail->is_told[node] = true;
    }
    return count;
}

/* A pair that neither end explains. */
static size_t pair_judge(const struct loss_end *ends, const struct loss_pair *pair, bool *is_told,
                         struct loss_finding *findings)
{
    const struct loss_end *from = &ends[pair->from], *to = &ends[pair->to];
    size_t count = 0;

    if (!loss_is_losing(&pair->way) || pair->way.lost < LOSS_PATH_LEAST)
        return 0;
    /* with no other partner it could be either end */
    if (from->ways[0].clean == 0 && from->ways[0].losing == 1 && to->ways[1].clean == 0 &&
        to->ways[1].losing == 1) {
        if (!is_told[pair->from])
            take(&findings[count++], LOSS_EITHER, pair->rail, pair->from, from, 1);
        if (!is_told[pair->to])
            take(&findings[count++], LOSS_EITHER, pair->rail, pair->to, to, 1);
        is_told[pair->from] = is_told[pair->to] = true;
        return count;
    }
    findings[0] = loss_way_finding(&pair->way, LOSS_PATH, pair->rail);
    findings[0].node = pair->from;
    findings[0].peer = pair->to;
    return 1;
}

/* Room for what is found of those pairs, and for what is noted on the way. */
struct judging {
    struct loss_pair *pairs;
    struct loss_end *ends; /* rails x nodes, as the next two */
    bool *is_told, *is_measured;
    bool *is_explained; /* of the pairs: by an uplink */
};

/* A pair between two leaf switches, the lower first. */
struct crossing {
    int rail, block, peer_block;
    size_t pair;
};

static int by_uplink(const void *left, const void *right)
{
    const struct crossing *a = left, *b = right;
    int order = (a->rail > b->rail) - (a->rail < b->rail);

    order = order ? order : (a->block > b->block) - (a->block < b->block);
    return order ? order : (a->peer_block > b->peer_block) - (a->peer_block < b->peer_block);
}

/* Whether pairs of several nodes lose, and hardly any shows that it does not. */
static bool uplink_judge(const struct loss_pair *pairs, const struct crossing *crossings,
                         size_t count, struct loss_finding *finding)
{
    struct loss_way way = {0};
    const struct loss_pair *first = NULL;
    bool is_of_several = false;

    for (size_t i = 0; i < count; i++) {
        const struct loss_pair *pair = &pairs[crossings[i].pair];

        if (!loss_is_losing(&pair->way))
            continue;
        first = first ? first : pair;
        is_of_several |= (pair->from != first->from || pair->to != first->to) &&
                         (pair->from != first->to || pair->to != first->from);
        loss_way_add(&way, &pair->way);
        way.losing++;
    }
    for (size_t i = 0; i < count && way.losing > 0; i++) {
        const struct loss_way *own = &pairs[crossings[i].pair].way;

        way.clean += !loss_is_losing(own) && loss_is_clean(&way, own);
    }
    *finding = loss_way_finding(&way, LOSS_UPLINK, crossings->rail);
    finding->block = crossings->block;
    finding->peer_block = crossings->peer_block;
    return is_of_several && loss_is_each(way.losing, way.clean);
}

/* What pairs between leaf switches have in common, of those whose ends are not told: adds findings,
 * and marks the pairs. Returns how many, or -1 when memory is out. */
static int uplinks_judge(const struct loss_data *data, const struct judging *judging, size_t count,
                         struct loss_finding *findings)
{
    const struct loss_pair *pairs = judging->pairs;
    struct crossing *crossings = calloc(count + 1, sizeof *crossings);
    size_t total = 0;
    int found = 0;

    if (!crossings)
        return -1;
    for (size_t i = 0; i < count && data->blocks; i++) {
        size_t rail = (size_t)pairs[i].rail * (size_t)data->nodes;
        int from = data->blocks[pairs[i].from], to = data->blocks[pairs[i].to];

        if (from >= 0 && to >= 0 && from != to && !judging->is_told[rail + (size_t)pairs[i].from] &&
            !judging->is_told[rail + (size_t)pairs[i].to])
            crossings[total++] =
                (struct crossing){pairs[i].rail, from < to ? from : to, from < to ? to : from, i};
    }
    if (total > 1)
        qsort(crossings, total, sizeof *crossings, by_uplink);
    for (size_t i = 0, next; i < total; i = next) {
        for (next = i; next < total && by_uplink(&crossings[i], &crossings[next]) == 0; next++)
            ;
        if (!uplink_judge(pairs, &crossings[i], next - i, &findings[found]))
            continue;
        found++;
        for (size_t k = i; k < next; k++)
            judging->is_explained[crossings[k].pair] = true;
    }
    free(crossings);
    return found;
}

static int judge(const struct loss_data *data, const struct judging *judging, size_t count,
                 struct loss_finding *findings, size_t *found)
{
    const struct loss_pair *pairs = judging->pairs;
    size_t each = (size_t)data->nodes;
    int uplinks;

    ends_fill(judging->ends, data->nodes, pairs, count);
    for (size_t i = 0; i < count; i++)
        judging->is_measured[(size_t)pairs[i].rail * each + (size_t)pairs[i].from] = true;
    for (int rail = 0; rail < data->rails; rail++) {
        size_t first = (size_t)rail * each;

        *found += rail_judge(
            &(struct rail_ends){judging->ends + first, judging->is_measured + first,
                                judging->is_told + first, data->nodes, rail, data->blocks},
            findings + *found);
    }
    uplinks = uplinks_judge(data, judging, count, findings + *found);
    if (uplinks < 0)
        return -1;
    *found += (size_t)uplinks;
    for (size_t i = 0; i < count; i++) {
        size_t first = (size_t)pairs[i].rail * each;
        bool *told = judging->is_told + first;

        if (!told[pairs[i].from] && !told[pairs[i].to] && !judging->is_explained[i])
            *found += pair_judge(judging->ends + first, &pairs[i], told, findings + *found);
    }
    return 0;
}

int losses_judge(const struct loss_data *data, struct loss_finding **findings, size_t *found)
{
    size_t ends = (size_t)data->nodes * (size_t)data->rails, count;
    struct loss_pair *pairs = loss_pairs_pool(data, false, &count);
    struct judging judging = {.pairs = pairs,
                              .ends = calloc(ends + 1, sizeof *judging.ends),
                              .is_told = calloc(ends + 1, sizeof *judging.is_told),
                              .is_measured = calloc(ends + 1, sizeof *judging.is_measured),
                              .is_explained = calloc(count + 1, sizeof *judging.is_explained)};
    int rv = -1;

    *found = 0;
    *findings = calloc(ends + 3 * count + 1, sizeof **findings);
    if (judging.pairs && judging.ends && judging.is_told && judging.is_measured &&
        judging.is_explained && *findings)
        rv = judge(data, &judging, count, *findings, found);
    if (rv != 0) {
        free(*findings);
        *findings = NULL;
        *found = 0;
    }
    free(judging.pairs);
    free(judging.ends);
    free(judging.is_told);
    free(judging.is_measured);
    free(judging.is_explained);
    return rv;
}
