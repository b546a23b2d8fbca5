/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_CHECK_H
#define MUSTER_SPANK_CHECK_H

#include <stdbool.h>

#include "lib/envplan/envplan.h"
#include "spank/host.h"
#include "spank/node.h"

/* slurmstepd: reports to a step's user where the devices given to its tasks, the devices that their
 * environment names and the devices that they can open disagree (lib/envplan/stepcheck.h). Never
 * fails and never refuses anything. */

/* Returns whether Slurm gave the step GPUs: only these are compared with gres.conf. */
bool check_has_gpus(const struct host_task *step);

/* Called once per step and node, as root, before the tasks are forked. */
void check_start(void);

/* Called in each task just before its program starts, as the user. fabric is the fabric that the
 * step's nodes share. Checks the task's environment with the plan applied. Opens no device and
 * takes less than a millisecond. Prints one line per problem on standard error; a line that another
 * task of this node and step has printed is not repeated. */
void check_task(const char *root, const struct node_facts *node, const struct fabric *fabric,
                const struct envplan *plan, const struct host_task *task);

void check_end(void);

#endif
