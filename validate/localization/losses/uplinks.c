/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "validate/localization/losses/pairs.h"

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

int loss_uplinks_judge(const struct loss_data *data, const struct loss_pair *pairs, size_t count,
                       const bool *is_told, bool *is_explained, struct loss_finding *findings)
{
    struct crossing *crossings = calloc(count + 1, sizeof *crossings);
    size_t total = 0;
    int found = 0;

    if (!crossings)
        return -1;
    for (size_t i = 0; i < count && data->blocks; i++) {
        size_t rail = (size_t)pairs[i].rail * (size_t)data->nodes;
        int from = data->blocks[pairs[i].from], to = data->blocks[pairs[i].to];

        if (from >= 0 && to >= 0 && from != to && !is_told[rail + (size_t)pairs[i].from] &&
            !is_told[rail + (size_t)pairs[i].to])
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
            is_explained[crossings[k].pair] = true;
    }
    free(crossings);
    return found;
}
