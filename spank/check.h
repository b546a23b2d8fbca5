/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_CHECK_H
#define MUSTER_SPANK_CHECK_H

#include "lib/conf/conf.h"
#include "lib/node/inventory.h"
#include "spank/host.h"

/* slurmstepd: tells a step's user where what its tasks were given, what their environment names and
 * what they can open disagree (lib/envplan/stepcheck.h). Never fails and never refuses anything. */

/* Once a step and node, as root, before the tasks are forked: reads gres.conf where the step has
 * GPUs. root: that of a recorded machine, or "". */
void check_start(const char *root, const struct host_task *step);

/* In each task just before its program starts, as the user. Opens no device and takes less than a
 * millisecond. One line for each problem on standard error; a line that another task of this node
 * and step has told is not told again. */
void check_task(const char *root, const struct conf *conf, const struct inventory *inventory,
                const struct host_task *task);

void check_end(void);

#endif
