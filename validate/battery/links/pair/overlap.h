/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_OVERLAP_H
#define MUSTER_OVERLAP_H

#include "validate/battery/links/pair/pair_run.h"

/* Measures all rails of a pair at once, each driven by its own thread, one direction after the
 * other. The rails of a node wait for each other between the warm-up and the stream, so that the
 * streams overlap. A figure is that of the time in which all streams of the node ran: then what
 * several rails share, such as the PCIe slot, the memory or one cable, limits all of them. */

/* wait() is called between warm-up and stream. It returns when all nodes of the round may begin:
 * time 0 of the marks in the results. NULL: each pair by itself. direction: 0 or 1. */
struct overlap_start {
    void (*wait)(void *context, int direction);
    void *context;
};

/* Both ends call it. Returns 0, or -1 if the partner did not connect or was lost. start->wait() is
 * called for both directions in any case. */
int overlap_run(struct pair_run *pair_run, const struct overlap_start *start);

#endif
