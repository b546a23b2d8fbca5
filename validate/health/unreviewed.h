/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_UNREVIEWED_H
#define MUSTER_UNREVIEWED_H

#include <stdbool.h>
#include <time.h>

/* The drain of this node by its own health check that has not been compared with those of the other
 * nodes (policy/health.h): noted before it is made, since a check may be killed, or the controller
 * silent, in between. Root's (state_file.h). */
#define UNREVIEWED_FILE "/run/muster/unreviewed"

struct unreviewed {
    time_t drained, since; /* when, and when its fault began */
    char reason[256];
};

/* Returns 0, or -1 where it cannot be kept: then no later check reviews it. */
int unreviewed_write(const char *path, const struct unreviewed *drain);

/* Whether there is one. */
bool unreviewed_read(const char *path, struct unreviewed *drain);

void unreviewed_remove(const char *path);

#endif
