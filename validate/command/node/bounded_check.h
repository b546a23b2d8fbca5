/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BOUNDED_CHECK_H
#define MUSTER_BOUNDED_CHECK_H

#include "lib/base/error.h"

/* For an unattended check: slurmd's health check, or that of a monitor. A process that reads from a
 * disk or a file server that hangs waits in the kernel, and slurmd waits for its health check. So a
 * child does the work, and the file that does not respond is named. No node is drained for this: a
 * busy server delays a file as well. */

/* Calls work() in a child and prints its output, even if it did not end. work() sets *at to a
 * constant text that names its current action. Takes at most bounded_longest_s(limit_s). Returns 0
 * with *status from work(), or -1 with err if work() did not end, or if that of an earlier check
 * still runs. */
int bounded_check(double limit_s, int (*work)(void *context, const char **at), void *context,
                  int *status, struct error *err);

#endif
