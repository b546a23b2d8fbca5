/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_STEP_H
#define MUSTER_SPANK_STEP_H

#include <stdint.h>

#include "spank/host.h"
#include "spank/options.h"

/* slurmstepd: sets the environment of a step's tasks. An error is logged and leaves the environment
 * unchanged; only a library that tasks on other nodes have and this node lacks stops the tasks.
 * State is kept in plain memory between the hooks, as Slurm may run them in processes that share
 * memory but no files. */

/* Called once per step and node, before the tasks are forked: reads the configuration and the node.
 * Reads nothing for a step without user's tasks (batch, extern, interactive). With a root, the node
 * is the machine recorded below it. */
void step_start(uint32_t step_id, const struct options *options, const struct arguments *arguments,
                const struct host_task *step);

/* Called in each task just before its program starts: sets the task's variables. In a batch script
 * or a shell of salloc it only removes variables that muster set for an outer step, in which the
 * job was submitted. Returns 0, or -1 if the task must not start, see spank/preload.h. */
int step_task(const struct host_task *task);

void step_end(void);

#endif
