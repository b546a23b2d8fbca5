/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_OVERLAP_H
#define MUSTER_OVERLAP_H

#include "validate/battery/links/pair/pair_run.h"

/* All rails of a pair at once, each driven by a thread of its own, one direction after the other.
 * The rails of a node wait for each other between the warm-up and the stream, so that the streams
 * overlap. A figure is that of the time in which all of the node's streams ran: what several rails
 * share, the PCIe slot, the memory or one cable, limits all of them then. */

/* In between: returns when all nodes of the round may begin; time 0 of the results' marks. NULL:
 * each pair by itself. direction 0 or 1. */
struct overlap_start {
    void (*wait)(void *context, int direction);
    void *context;
};

/* Both ends call it. Returns 0, or -1 when the partner did not come, or went; start->wait() is
 * called for both directions in either case. */
int overlap_hold(struct pair_run *pair_run, const struct overlap_start *start);

#endif
