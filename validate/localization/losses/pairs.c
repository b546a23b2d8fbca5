/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/localization/losses/pairs.h"

#include <math.h>
#include <stdlib.h>

bool loss_is_losing(const struct loss_way *way)
{
    return way->lost >= LOSS_PAIR_LEAST && way->lost > LOSS_SHARE * way->sent;
}

bool loss_is_clean(const struct loss_way *like, const struct loss_way *way)
{
    double expected = way->sent * like->lost / like->sent, term = exp(-expected), sum = term;

    for (int k = 1; k <= (int)way->lost; k++) {
        term *= expected / k;
        sum += term;
    }
    return sum < 0.01;
}

bool loss_is_each(int losing, int clean)
{
    return clean * LOSS_LOSING_FOR_ONE <= losing;
}

static int by_pair(const void *left, const void *right)
{
    const struct loss_pair *a = left, *b = right;

    return a->rail != b->rail   ? (a->rail > b->rail) - (a->rail < b->rail)
           : a->from != b->from ? (a->from > b->from) - (a->from < b->from)
                                : (a->to > b->to) - (a->to < b->to);
}

struct loss_pair *loss_pairs_pool(const struct loss_data *data, bool is_retest, size_t *count)
{
    struct loss_pair *pairs = calloc(data->count + 1, sizeof *pairs);
    size_t all = 0;

    *count = 0;
    for (size_t i = 0; i < data->count && pairs; i++) {
        const struct loss_sample *sample = &data->samples[i];

        if (is_retest && (!sample->is_isolated || sample->is_stalled))
            continue;
        pairs[all++] =
            (struct loss_pair){.from = sample->from,
                               .to = sample->to,
                               .rail = sample->rail,
                               .way = {.sent = sample->sent,
                                       .lost = sample->lost - sample->dropped,
                                       .damaged = sample->damaged,
                                       .stalled = sample->is_stalled ? sample->lost : 0}};
    }
    if (all > 1)
        qsort(pairs, all, sizeof *pairs, by_pair);
    for (size_t i = 0; i < all; i++) {
        if (*count > 0 && by_pair(&pairs[*count - 1], &pairs[i]) == 0)
            loss_way_add(&pairs[*count - 1].way, &pairs[i].way);
        else
            pairs[(*count)++] = pairs[i];
    }
    for (size_t i = 0; i < *count; i++) {
        struct loss_way *way = &pairs[i].way;

        way->lost = fmax(way->lost, 0);
        way->stalled = fmin(way->stalled, way->lost);
    }
    return pairs;
}

void loss_way_add(struct loss_way *way, const struct loss_way *other)
{
    way->sent += other->sent;
    way->lost += other->lost;
    way->damaged += other->damaged;
    way->stalled += other->stalled;
}

struct loss_finding loss_way_finding(const struct loss_way *way, enum loss_kind kind, int rail)
{
    return (struct loss_finding){.kind = kind,
                                 .node = -1,
                                 .peer = -1,
                                 .rail = rail,
                                 .block = -1,
                                 .peer_block = -1,
                                 .is_damage = way->damaged >= way->lost / 2,
                                 .is_stalled = way->stalled > way->lost / 2,
                                 .sent = way->sent,
                                 .lost = way->lost};
}
