/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BOUNDED_CHECK_H
#define MUSTER_BOUNDED_CHECK_H

#include "lib/base/error.h"

/* A check that nobody watches: slurmd's health check, a monitor's. Whoever reads from a disk or a
 * file server that hangs waits in the kernel, and slurmd waits for its health check; so a child
 * does the work, and the file that does not respond is named. Nobody is drained for that: a full
 * server holds up a file as well. */

/* Calls work() in a child and prints what it printed, also where it did not end. *at is what it is
 * doing, a constant text that it sets as it goes on. Takes bounded_longest_s() of the limit at
 * most. Returns 0 with the status that work() returned, or -1 with err: it did not end, or the one
 * of an earlier check has not yet. */
int bounded_check(double limit_s, int (*work)(void *context, const char **at), void *context,
                  int *status, struct error *err);

#endif
