/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_UNREVIEWED_H
#define MUSTER_UNREVIEWED_H

#include <stdbool.h>
#include <time.h>

#include "lib/base/error.h"

/* A drain of this node by its own health check that has not yet been compared with drains of the
 * other nodes (policy/health.h). It is written before the drain, since in between the check may be
 * killed, or the controller may not respond. A file of root (state_file.h). */
#define UNREVIEWED_FILE "/run/muster/unreviewed"

struct unreviewed {
    time_t drained, since; /* time of the drain, and of the onset of its fault */
    char reason[256];
};

/* Returns 0, or -1 with err if it cannot be kept: no later check would review the drain. */
int unreviewed_write(const char *path, const struct unreviewed *drain, struct error *err);

/* Returns whether there is one. */
bool unreviewed_read(const char *path, struct unreviewed *drain);

void unreviewed_remove(const char *path);

#endif
