/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_CHECK_H
#define MUSTER_SPANK_CHECK_H

#include <stdbool.h>

#include "lib/envplan/envplan.h"
#include "spank/host.h"
#include "spank/node.h"

/* slurmstepd: tells a step's user where what its tasks were given, what their environment names and
 * what they can open disagree (lib/envplan/stepcheck.h). Never fails and never refuses anything. */

/* Whether Slurm gave the step GPUs, which are compared with gres.conf. */
bool check_has_gpus(const struct host_task *step);

/* Once a step and node, as root, before the tasks are forked. */
void check_start(void);

/* In each task just before its program starts, as the user. fabric is the one that the step's nodes
 * share; the environment is the task's with the plan applied. Opens no device and takes less than a
 * millisecond. One line for each problem on standard error; a line that another task of this node
 * and step has told is not told again. */
void check_task(const char *root, const struct node_facts *node, const struct fabric *fabric,
                const struct envplan *plan, const struct host_task *task);

void check_end(void);

#endif
