/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_PRELOAD_H
#define MUSTER_SPANK_PRELOAD_H

#include "spank/host.h"

/* --collectives: whether libmustercoll-pmpi.so is preloaded before the tasks' own MPI. The library
 * calls collectives in MPI_Init, and ranks without it would take them for the program's. So all
 * tasks of a step have it, or none. */

/* --collectives=muster: checks whether the library can be read on this node, for no longer than
 * NODE_DEADLINE_MS, and logs why not. If it cannot be read, a step on this node alone runs without
 * it. A step with other nodes keeps it if the check has no clear result, as ld.so waits for the
 * file system. path NULL: the installed library. */
void preload_start(const char *path, const struct host_task *step);

/* --collectives=mpi: the library is to be removed from LD_PRELOAD, where an enclosing step may have
 * put it. */
void preload_start_removal(const char *path);

/* Puts the library first in the task's LD_PRELOAD unless it is listed already, or removes it. Does
 * nothing if the step runs without the library, or if neither function above was called. Returns 0,
 * or -1 after it has told the user why the task must not start: other nodes of the step have the
 * library and this one has not, or LD_PRELOAD cannot be set. */
int preload_task(const struct host_task *task);

void preload_end(void);

#endif
