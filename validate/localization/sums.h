/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_SUMS_H
#define MUSTER_LOCALIZATION_SUMS_H

#include <stddef.h>

#include "lib/base/record.h"
#include "lib/constants/links_constants.h"

/* What the links between leaf switches, or between the halves of a cluster, carry when all nodes
 * that they are there for use them at once. Pure. */

struct link_sum {
    const char *part; /* "uplink leaf1-leaf2", "bisection first-second" */
    double mbps;      /* of all flows, in 10^6 bit/s */
    int flows;        /* > 0 */
};

/* PASS: as much as the rails of the flows have alone, or as most of its peers have. WARN: less than
 * its peers have; it was measured once, with everything else at work. UNKNOWN: less than the rails
 * have, and there are no peers: slow, or oversubscribed by design. */
struct sum_verdict {
    enum verdict verdict;
    double limit; /* Mb/s; NAN: none */
    const char *limit_source;
    char message[240];
};

/* Judges each sum. alone_mbps: of a rail alone, NAN: not known. Peers are at least SUM_PEERS_LEAST
 * other sums with the same first word of `part` and as many flows; less than peers_percent of their
 * median is too little. verdicts: room for count. */
void sums_judge(const struct link_sum *sums, size_t count, double alone_mbps, double peers_percent,
                struct sum_verdict *verdicts);

#endif
