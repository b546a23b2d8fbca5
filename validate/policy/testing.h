/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_TESTING_H
#define MUSTER_POLICY_TESTING_H

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

/* Which nodes the runs on this host test now: lines "testing NODE" in their journals
 * (validate/slurm/undo/undo.h), which are locked as long as the run or its keeper lives, so that
 * nothing is left of a run that was killed. */

/* Waits for the lock that a run holds while it chooses nodes or decides about drains. Returns a
 * file descriptor, which the caller closes, or -1 with err and errno: EWOULDBLOCK if another run
 * keeps the lock; else the lock file is unusable, and other runs of this host are unknown. */
int testing_lock(const char *directory, struct error *err);

/* Reads the nodes of all runs but `own`. Release nodes with hostlist_clear(). Returns 0, or -1 with
 * err. */
int testing_read(const char *directory, const char *own, struct hostlist *nodes, struct error *err);

/* Adds nodes to the journal of this run. Returns 0, or -1 with err. */
int testing_write(int journal, const struct hostlist *nodes, struct error *err);

#endif
