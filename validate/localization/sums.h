/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_SUMS_H
#define MUSTER_LOCALIZATION_SUMS_H

#include <stddef.h>

#include "lib/base/record.h"
#include "lib/constants/links_constants.h"

/* What a way between leaf switches, or between the halves of a cluster, carries when all nodes that
 * it is there for use it at once. Pure. */

struct link_sum {
    const char *part; /* "uplink leaf1-leaf2", "bisection first-second" */
    double mbps;      /* of all flows, in 10^6 bit/s */
    int flows;        /* > 0 */
};

/* PASS: as much as the flows' rails have alone, or as much as most of its peers. WARN: less than
 * those; it was measured once, with everything else at work. UNKNOWN: less than the rails, and
 * nothing to hold it against: slow, or oversubscribed as it was built. */
struct sum_verdict {
    enum verdict verdict;
    double limit; /* Mb/s; NAN: none */
    const char *limit_source;
    char message[240];
};

/* alone_mbps: what a rail has alone, NAN: not known. Peers are at least SUM_PEERS_LEAST others of
 * the first word of `part` with as many flows; less than peers_percent of their median is too
 * little. verdicts: room for count. */
void sums_judge(const struct link_sum *sums, size_t count, double alone_mbps, double peers_percent,
                struct sum_verdict *verdicts);

#endif
