/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPARED_H
#define MUSTER_SPARED_H

#include <stdbool.h>
#include <time.h>

/* The fault that this node has published (EXTRA_FAULT), and that it was not drained for as others
 * have it too: they all would look at the others at each of their health checks. Root's
 * (state_file.h). */

struct spared {
    time_t when;
    long wait_s;      /* until it looks again; 0: at the next check */
    char reason[256]; /* of the drain */
    char text[200];   /* why there is none, a line */
};

/* Returns 0, or -1 where it cannot be kept: then the next check looks again. */
int spared_write(const char *path, const struct spared *spared);

/* Whether there is one. */
bool spared_read(const char *path, struct spared *spared);

/* Whether the node waits still. Pure. */
bool spared_holds(const struct spared *spared, time_t now);

#endif
