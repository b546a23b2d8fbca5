/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DEFERRED_DRAIN_H
#define MUSTER_DEFERRED_DRAIN_H

#include <stdbool.h>
#include <time.h>

/* A fault for which this node was not drained, because other nodes have it too. The node has
 * published it (EXTRA_FAULT). This file of root (state_file.h) saves each such node from reading
 * the state of all others at each health check. */

struct deferred_drain {
    time_t when;
    long wait_s;      /* until the node reads the others again; 0: at the next check */
    char reason[256]; /* of the drain */
    char text[200];   /* why the node was not drained, one line */
};

/* Returns 0, or -1 if it cannot be kept: then the next check reads the others again. */
int deferred_drain_write(const char *path, const struct deferred_drain *deferred);

/* Returns whether there is one. */
bool deferred_drain_read(const char *path, struct deferred_drain *deferred);

/* Whether the node still waits at `now`. Pure. */
bool deferred_drain_is_pending(const struct deferred_drain *deferred, time_t now);

#endif
