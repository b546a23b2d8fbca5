/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STEP_SETUP_H
#define MUSTER_STEP_SETUP_H

#include "validate/certify/state/run.h"

/* Deadline and environment of a run's steps. */

/* Returns the deadline, in seconds, of a step on so many nodes that takes less than `seconds` on
 * one node: Slurm starts the tasks, and their output is read, at 50 nodes a second or more. */
double certify_deadline_s(double seconds, size_t nodes);
/* The battery's environment, ends with NULL: control traffic on the management network; is_fabric:
 * data on the rails. Points into itself: not to be copied. */
struct certify_environment {
    const char *entries[10];
    char rails[1024], management[2][128], run[96];
};
void certify_environment(const struct certify *certify, bool is_fabric,
                         struct certify_environment *environment);

#endif
