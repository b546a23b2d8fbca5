/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/localization/losses/pairs.h"

#include <math.h>
#include <stdlib.h>

bool loss_is_losing(double sent, double lost)
{
    return lost >= losses_limit(LOSS_PAIR_LEAST)->value &&
           lost > losses_limit(LOSS_SHARE)->value * sent;
}

bool loss_is_clean(double expected, double lost)
{
    double term = exp(-expected), sum = term;

    for (int k = 1; k <= (int)lost; k++) {
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
        pairs[all++] = (struct loss_pair){.from = sample->from,
                                          .to = sample->to,
                                          .rail = sample->rail,
                                          .sent = sample->sent,
                                          .lost = sample->lost - sample->dropped,
                                          .damaged = sample->damaged,
                                          .stalled = sample->is_stalled ? sample->lost : 0};
    }
    if (all > 1)
        qsort(pairs, all, sizeof *pairs, by_pair);
    for (size_t i = 0; i < all; i++) {
        struct loss_pair *last = *count > 0 ? &pairs[*count - 1] : NULL;

        if (!last || by_pair(last, &pairs[i]) != 0) {
            pairs[(*count)++] = pairs[i];
            continue;
        }
        last->sent += pairs[i].sent;
        last->lost += pairs[i].lost;
        last->damaged += pairs[i].damaged;
        last->stalled += pairs[i].stalled;
    }
    for (size_t i = 0; i < *count; i++) {
        pairs[i].lost = fmax(pairs[i].lost, 0);
        pairs[i].stalled = fmin(pairs[i].stalled, pairs[i].lost);
    }
    return pairs;
}

void loss_way_add(struct loss_way *way, const struct loss_pair *pair)
{
    way->sent += pair->sent;
    way->lost += pair->lost;
    way->damaged += pair->damaged;
    way->stalled += pair->stalled;
    way->losing++;
}
