/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPARED_H
#define MUSTER_SPARED_H

#include <stdbool.h>
#include <time.h>

/* The fault that this node has published (EXTRA_FAULT), and for which it was not drained, since
 * other nodes have it too. Kept so that not each health check of each such node reads the state of
 * the others. A file of root (state_file.h). */

struct spared {
    time_t when;
    long wait_s;      /* until the node reads the others again; 0: at the next check */
    char reason[256]; /* of the drain */
    char text[200];   /* why the node was not drained, one line */
};

/* Returns 0, or -1 if it cannot be kept: then the next check reads the others again. */
int spared_write(const char *path, const struct spared *spared);

/* Returns whether there is one. */
bool spared_read(const char *path, struct spared *spared);

/* Whether the node still waits at `now`. Pure. */
bool spared_holds(const struct spared *spared, time_t now);

#endif
