/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPARED_H
#define MUSTER_SPARED_H

#include <stdbool.h>
#include <time.h>

/* That this node was not drained for a fault that others have too: they all would look at the
 * others, each by a table of all nodes from the controller, at each of their health checks. Root's
 * (state_file.h). */

struct spared {
    time_t when;
    long wait_s;      /* until it looks again */
    char reason[256]; /* of the drain */
    char text[200];   /* why there is none, a line */
};

/* Returns 0, or -1 where it cannot be kept: then the next check looks again. */
int spared_write(const char *path, const struct spared *spared);

/* Whether there is one that holds now. */
bool spared_read(const char *path, time_t now, struct spared *spared);

#endif
