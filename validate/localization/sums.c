/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/localization/sums.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compares the first words of two parts. */
static int compare_kinds(const char *a, const char *b)
{
    size_t length = strcspn(a, " "), other = strcspn(b, " ");
    int order = strncmp(a, b, length < other ? length : other);

    return order ? order : (length > other) - (length < other);
}

static bool are_peers(const struct link_sum *a, const struct link_sum *b)
{
    return a->flows == b->flows && compare_kinds(a->part, b->part) == 0;
}

/* Orders sums: peers beside each other, the lowest first. */
static int by_kind(const void *left, const void *right)
{
    const struct link_sum *a = *(const struct link_sum *const *)left;
    const struct link_sum *b = *(const struct link_sum *const *)right;
    int order = compare_kinds(a->part, b->part);

    order = order ? order : (a->flows > b->flows) - (a->flows < b->flows);
    return order ? order : (a->mbps > b->mbps) - (a->mbps < b->mbps);
}

/* Returns the median of `count` sorted sums without the one at index own, or NAN if they are too
 * few. */
static double peers_mbps(const struct link_sum *const *sums, size_t count, size_t own)
{
    size_t peers = count - 1, low = (peers - 1) / 2, high = peers / 2;

    if (peers < SUM_PEERS_LEAST)
        return NAN;
    return (sums[low + (low >= own)]->mbps + sums[high + (high >= own)]->mbps) / 2;
}

static void judge(const struct link_sum *sum, double peers, double alone_mbps, double percent,
                  struct sum_verdict *verdict)
{
    double full = sum->flows * alone_mbps;
    bool is_full = full > 0 && sum->mbps >= full * percent / 100;
    char share[64] = "", beside[64] = "";

    *verdict = (struct sum_verdict){VERDICT_PASS, NAN, NULL, ""};
    if (is_full || !isnan(peers)) {
        verdict->limit = (is_full ? full : peers) * percent / 100;
        verdict->limit_source = "peers";
    }
    if (!is_full && !(sum->mbps >= verdict->limit))
        verdict->verdict = isnan(peers) ? VERDICT_UNKNOWN : VERDICT_WARN;
    if (full > 0)
        snprintf(share, sizeof share, ", %.0f %% of what their rails have alone",
                 100 * sum->mbps / full);
    if (!is_full && !isnan(peers))
        snprintf(beside, sizeof beside, ", its peers %.0f%s", peers,
                 verdict->verdict == VERDICT_WARN ? "; check its cables" : "");
    snprintf(verdict->message, sizeof verdict->message, "%.80s: %.0f Mb/s in %d flows%s%s",
             sum->part, sum->mbps, sum->flows, share,
             verdict->verdict == VERDICT_UNKNOWN ? ": slow, or as built; no peers to compare with"
                                                 : beside);
}

void sums_judge(const struct link_sum *sums, size_t count, double alone_mbps, double peers_percent,
                struct sum_verdict *verdicts)
{
    const struct link_sum **order = malloc((count + 1) * sizeof *order);

    for (size_t i = 0; i < count; i++)
        if (order)
            order[i] = &sums[i];
        else /* without memory nothing is known of the peers */
            judge(&sums[i], NAN, alone_mbps, peers_percent, &verdicts[i]);
    if (!order)
        return;
    if (count > 0)
        qsort(order, count, sizeof *order, by_kind);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && are_peers(order[i], order[end]);)
            end++;
        for (size_t k = i; k < end; k++)
            judge(order[k], peers_mbps(&order[i], end - i, k - i), alone_mbps, peers_percent,
                  &verdicts[order[k] - sums]);
    }
    free(order);
}
