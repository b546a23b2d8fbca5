/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_PRELOAD_H
#define MUSTER_SPANK_PRELOAD_H

#include "spank/host.h"

/* --collectives=muster: libmustercoll-pmpi.so before the tasks' own MPI. */

/* Looks whether the library can be read on this node, for no longer than NODE_DEADLINE_MS; says in
 * the log why not. path NULL: the installed one. */
void preload_start(const char *path);

/* Puts it first in the task's LD_PRELOAD, before what stands there, unless it stands there already.
 * Does nothing where preload_start() did not find it. */
void preload_task(const struct host_task *task);

void preload_end(void);

#endif
