/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SAVER_H
#define MUSTER_SAVER_H

#include <stdbool.h>

#include "trainer/checkpoint/checkpoint.h"

/* Writes checkpoints while training goes on: each rank of a communicator writes its shard from a
 * copy, in a thread. Only the calling thread uses MPI. */

struct saver;

/* Steps that saver_begin() reports to the watch for each array of a piece. */
enum { SAVER_COPY_STEPS = 1024 };

/* Allocates memory for a copy of the state. pieces, its arrays, directory and comm must live as
 * long. Rank 0 creates the directory and locks it, since two runs that write to one would remove
 * each other's files; it prints a line if the file system has no locks. On NFS the lock of a
 * directory keeps out only runs on the same host; the lock of a file can outlive a node that dies,
 * and would keep out the run that resumes. Returns 0, or -1 with err, possibly on some ranks only:
 * then all must destroy it. */
int saver_create(const char *directory, const struct checkpoint_problem *problem, struct comm *comm,
                 const struct checkpoint_state *pieces, size_t piece_count, int keep,
                 struct saver **saver, struct error *err);

/* Sets the step from which the run resumes: that of the newest checkpoint that is intact, or 0 if
 * there is none. Without this call nothing is known of existing checkpoints. */
void saver_resume_from(struct saver *saver, long step);

/* Copies the state and begins to write it; the checkpoint before must be finished. Collective.
 * Returns 0, or -1 with err on all ranks "checkpoint of step N: ..." if it could not be begun. */
int saver_begin(struct saver *saver, long step, struct error *err);

/* Whether this rank is still writing. Not collective. */
bool saver_is_writing(const struct saver *saver);

/* Waits for all ranks' shards of the checkpoint that was begun, if any, and commits it. Collective.
 * Returns 0, or -1 with err on all ranks, likewise. Ends the job if memory is out. */
int saver_finish(struct saver *saver, struct error *err);

/* A checkpoint that was begun and not finished stays unfinished. Not collective. */
void saver_destroy(struct saver *saver);

#endif
