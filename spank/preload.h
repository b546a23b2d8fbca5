/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_PRELOAD_H
#define MUSTER_SPANK_PRELOAD_H

#include "spank/host.h"

/* --collectives: libmustercoll-pmpi.so before the tasks' own MPI, or not. */

/* muster: looks whether the library can be read on this node, for no longer than NODE_DEADLINE_MS;
 * says in the log why not. path NULL: the installed one. */
void preload_start(const char *path);

/* mpi: it is to be taken out of LD_PRELOAD, where a step around this one has put it. */
void preload_start_without(const char *path);

/* Puts it first in the task's LD_PRELOAD, before what stands there, unless it stands there already;
 * or takes it out. Does nothing where preload_start() did not find it, or neither was called. */
void preload_task(const struct host_task *task);

void preload_end(void);

#endif
