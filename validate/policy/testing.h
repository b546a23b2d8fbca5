/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_TESTING_H
#define MUSTER_POLICY_TESTING_H

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

/* Which nodes the runs on this host test now: lines "testing NODE" in their journals
 * (validate/slurm/undo/undo.h), which are locked as long as the run or its keeper lives, so that nothing
 * is left of a run that was killed. */

/* Locks out other runs that choose nodes or decide about drains, after it has waited for them.
 * Returns a file descriptor, which the caller closes when it is done, or -1 with err and errno:
 * EWOULDBLOCK if another run keeps the lock; else there is no place for the lock, and no other run
 * of this host can be known. */
int testing_lock(const char *directory, struct error *err);

/* Reads the nodes of all runs but `own`. Release nodes with hostlist_clear(). Returns 0, or -1 with
 * err. */
int testing_read(const char *directory, const char *own, struct hostlist *nodes, struct error *err);

/* Adds nodes to the journal of this run. Returns 0, or -1 with err. */
int testing_write(int journal, const struct hostlist *nodes, struct error *err);

#endif
