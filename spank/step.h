/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_STEP_H
#define MUSTER_SPANK_STEP_H

#include <stdint.h>

#include "spank/host.h"
#include "spank/options.h"

/* slurmstepd: what a step's tasks get. What goes wrong is logged and the environment stays as it
 * is; but for tasks that must not start without a library that tasks on other nodes have. State is
 * kept in plain memory between the hooks, as Slurm may run them in processes that share memory but
 * no files. */

/* Once a step and node, before the tasks are forked: reads the configuration and the node. For
 * steps without tasks of the user's (batch, extern, interactive) nothing is read. With a root, the
 * node is the recorded one below it. */
void step_start(uint32_t step_id, const struct options *options, const struct arguments *arguments,
                const struct host_task *step);

/* In each task just before its program starts: sets its variables. From a batch script and the
 * shell of salloc only those are removed that muster set for a step from inside which the job was
 * submitted. -1: the task must not start, see spank/preload.h. */
int step_task(const struct host_task *task);

void step_end(void);

#endif
