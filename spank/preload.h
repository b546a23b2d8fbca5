/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_PRELOAD_H
#define MUSTER_SPANK_PRELOAD_H

#include "spank/host.h"

/* --collectives: libmustercoll-pmpi.so before the tasks' own MPI, or not. In MPI_Init it calls
 * collectives, which ranks without it would take for the program's: all tasks of a step have it, or
 * none. */

/* muster: looks whether the library can be read on this node, for no longer than NODE_DEADLINE_MS;
 * says in the log why not. A step on this node alone then goes on without. One that has other nodes
 * goes on with it where that is not known, as ld.so waits for its file system. path NULL: the
 * installed one. */
void preload_start(const char *path, const struct host_task *step);

/* mpi: it is to be taken out of LD_PRELOAD, where a step around this one has put it. */
void preload_start_without(const char *path);

/* Puts it first in the task's LD_PRELOAD, before what stands there, unless it stands there already;
 * or takes it out. Does nothing where the step goes on without, or neither was called. -1: the task
 * must not start, which its user is told: the library is not here, but on other nodes of the step,
 * or memory is out. */
int preload_task(const struct host_task *task);

void preload_end(void);

#endif
