/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SAVER_H
#define MUSTER_SAVER_H

#include <stdbool.h>

#include "trainer/checkpoint/checkpoint.h"

/* Writes checkpoints, each rank of a communicator its shard, in a thread of its own, from a copy,
 * while training goes on. MPI is used by the calling thread only. */

struct saver;

/* Takes memory for a copy of the pieces (copied; their arrays are the training's and must live as
 * long); rank 0 makes the directory and locks it: two runs that write to one would take away each
 * other's files; says so where the file system has no locks. On NFS the lock of a directory keeps
 * out runs of the same host only; that of a file can outlive a node that dies, and would keep out
 * the run that goes on for it. directory and comm must live as long. Returns 0, or -1 with err,
 * which may be so on some ranks only: then all must destroy it. */
int saver_create(const char *directory, const struct checkpoint_problem *problem, struct comm *comm,
                 const struct checkpoint_state *pieces, size_t piece_count, int keep,
                 struct saver **saver, struct error *err);

/* The run goes on from that step's checkpoint, the directory's newest that is whole, or from 0 as
 * there is none. Without this call nothing is known of those that are there. */
void saver_goes_on_from(struct saver *saver, long step);

/* Copies the state and begins to write it; the one before is finished. Collective. Returns 0, or -1
 * with err when it could not be begun; err says the most on rank 0. */
int saver_begin(struct saver *saver, long step, struct error *err);

/* Whether this rank has something that is still being written. Not collective. */
bool saver_is_writing(const struct saver *saver);

/* Waits for all ranks' shards of what was begun, if any, and gives the checkpoint its name.
 * Collective. Returns 0, or -1 with err "checkpoint of step N: ...". */
int saver_finish(struct saver *saver, struct error *err);

/* What was begun and not finished stays unfinished. Not collective. */
void saver_destroy(struct saver *saver);

#endif
