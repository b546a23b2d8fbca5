/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKPOINT_H
#define MUSTER_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "trainer/model/shape.h"
#include "trainer/comm/comm.h"

/* The state of a training on disk: DIRECTORY/step-000000012/ with a text file "manifest" and the
 * shards that it names, one of each rank.
 *
 * A shard holds pieces, ranges of elements of the model, which are numbered unit after unit; of
 * each piece the parameters, then the first, then the second moments, 32-bit floating point,
 * little-endian. The manifest has the pieces and the CRC-32C of each shard, and in its last line
 * its own. All is written in a directory of another name and synced before that gets its name: a
 * checkpoint is whole or not there. Those who read it check all sums, and may be of any number. */

/* What must be the same for the steps that follow to be those that would have followed. */
struct checkpoint_problem {
    struct shape shape;
    int batch; /* sequences of a step, over all ranks */
    uint64_t weights_seed, data_seed;
    uint64_t data_checksum; /* of the token file; 0: random tokens */
    bool is_batch_fixed;
};

/* The three arrays of a range of elements: a piece. */
struct checkpoint_state {
    size_t first, count;
    real *parameters, *first_moments, *second_moments; /* count each */
};

struct manifest;

/* The first of three steps: makes the directory and, in it, an empty place for that checkpoint. For
 * one rank. Returns 0, or -1 with err. */
int checkpoint_begin(const char *directory, long step, struct error *err);

/* Then each rank writes its shard there, and syncs it. Returns 0 with the file's sum, or -1 with
 * err, also where that shard is there: another training writes to the directory. */
int checkpoint_write_shard(const char *directory, long step, int number,
                           const struct checkpoint_state *pieces, size_t piece_count, uint32_t *crc,
                           struct error *err);
void checkpoint_shard_name(int number, char name[32]);

/* At last one rank writes the manifest, gives the checkpoint its name, and takes away all but the
 * newest `keep` of the directory's checkpoints (keep >= 1) and what was left of unfinished ones.
 * since: the step that the run went on from, or wrote its last one at; those between it and this
 * one are not whole, and go first (LONG_MAX: not known). Returns 0, or -1 with err, and then what
 * was there before is still there. */
int checkpoint_commit(const char *directory, const struct manifest *manifest, long since, int keep,
                      struct error *err);

/* Instead of that: takes away what was written. */
void checkpoint_abandon(const char *directory, long step);

/* What a commit does at its end, and a run that goes on from `step` at its beginning, because the
 * one before may have been killed there: keeps `keep` checkpoints, that of `step` and those before
 * it, and those after it, which are not whole; takes away the older ones and all unfinished ones.
 * For one rank. */
void checkpoint_prune(const char *directory, long step, int keep);

/* Reads pieces of the newest checkpoint that is whole; collective over the communicator, whose
 * ranks share the work of checking. One that is not whole is told to complain on one of the ranks
 * that see it ("PATH: what is wrong") and the one before it is tried. Returns 1 with
 * *step; 0 when the directory has none that is whole, or is not there; -1 with err when the newest
 * whole one is of another problem, or the directory or a file cannot be read: what may be whole is
 * not passed over, as the next commit would take it away. The same on all ranks. The arrays are
 * good only for 1. */
int checkpoint_read(const char *directory, const struct checkpoint_problem *problem,
                    struct comm *comm, const struct checkpoint_state *pieces, size_t piece_count,
                    long *step, void (*complain)(const char *line), struct error *err);

#endif
