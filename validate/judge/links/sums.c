/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/sums.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"

static bool are_peers(const struct link_sum *a, const struct link_sum *b)
{
    size_t length = strcspn(a->part, " ");

    return a->flows == b->flows && strcspn(b->part, " ") == length &&
           strncmp(a->part, b->part, length) == 0;
}

/* The median of its peers; NAN: too few. */
static double peers_mbps(const struct link_sum *sums, size_t count, size_t own, double *values)
{
    size_t peers = 0;

    for (size_t i = 0; i < count; i++)
        if (i != own && are_peers(&sums[i], &sums[own]))
            values[peers++] = sums[i].mbps;
    return peers >= SUM_PEERS_LEAST ? statistics_median(values, peers) : (double)NAN;
}

static void judge(const struct link_sum *sum, double peers, double alone_mbps, double percent,
                  struct sum_verdict *verdict)
{
    double full = sum->flows * alone_mbps;
    char share[64] = "";

    if (full > 0)
        snprintf(share, sizeof share, ", %.0f %% of what their rails have alone",
                 100 * sum->mbps / full);
    *verdict = (struct sum_verdict){VERDICT_PASS, NAN, NULL, ""};
    if (full > 0 && sum->mbps >= full * percent / 100) {
        verdict->limit = full * percent / 100;
        verdict->limit_source = "peers";
        snprintf(verdict->message, sizeof verdict->message, "%.100s: %.0f Mb/s in %d flows%s",
                 sum->part, sum->mbps, sum->flows, share);
        return;
    }
    if (isnan(peers)) {
        verdict->verdict = VERDICT_UNKNOWN;
        snprintf(verdict->message, sizeof verdict->message,
                 "%.80s: %.0f Mb/s in %d flows%s: slow, or as it was built; there is nothing to "
                 "hold it against",
                 sum->part, sum->mbps, sum->flows, share);
        return;
    }
    verdict->limit = peers * percent / 100;
    verdict->limit_source = "peers";
    if (sum->mbps < verdict->limit)
        verdict->verdict = VERDICT_WARN;
    snprintf(verdict->message, sizeof verdict->message,
             "%.80s: %.0f Mb/s in %d flows%s, its peers %.0f%s", sum->part, sum->mbps, sum->flows,
             share, peers, verdict->verdict == VERDICT_WARN ? "; check its cables" : "");
}

void sums_judge(const struct link_sum *sums, size_t count, double alone_mbps, double peers_percent,
                struct sum_verdict *verdicts)
{
    double *values = malloc((count + 1) * sizeof *values);

    for (size_t i = 0; i < count; i++)
        judge(&sums[i], values ? peers_mbps(sums, count, i, values) : (double)NAN, alone_mbps,
              peers_percent, &verdicts[i]);
    free(values);
}
