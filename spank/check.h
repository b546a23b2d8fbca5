/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_CHECK_H
#define MUSTER_SPANK_CHECK_H

#include "spank/host.h"
#include "spank/node.h"

enum { CHECK_NODE = 256 };

/* slurmstepd: tells a step's user where what its tasks were given, what their environment names and
 * what they can open disagree (lib/envplan/stepcheck.h). Never fails and never refuses anything. */

/* Whose lines of gres.conf the step needs, in name; NULL: it has no GPUs of Slurm's. */
const char *check_gres_node(const struct host_task *step, char name[CHECK_NODE]);

/* Once a step and node, as root, before the tasks are forked. */
void check_start(void);

/* In each task just before its program starts, as the user. Opens no device and takes less than a
 * millisecond. One line for each problem on standard error; a line that another task of this node
 * and step has told is not told again. */
void check_task(const char *root, const struct node_facts *node, const struct host_task *task);

void check_end(void);

#endif
