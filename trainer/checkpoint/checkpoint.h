/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKPOINT_H
#define MUSTER_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "trainer/comm/comm.h"
#include "trainer/model/shape.h"

/* The state of a training on disk: DIRECTORY/step-000000012/ with a text file "manifest" and the
 * shards that it names, one of each rank.
 *
 * A shard holds pieces, ranges of elements of the model, which are numbered unit after unit; of
 * each piece the parameters, then the first, then the second moments, 32-bit floating point,
 * little-endian. The manifest has the pieces and the CRC-32C of each shard, and in its last line
 * its own. All is written and synced in a directory with another name, which is then renamed: a
 * checkpoint is complete or absent. Readers check all checksums; any number of ranks may read. */

/* What must be the same in a run that resumes, so that its steps are those of an uninterrupted
 * run. */
struct checkpoint_problem {
    struct shape shape;
    int batch; /* sequences of a step, over all ranks */
    uint64_t weights_seed, data_seed;
    uint64_t data_checksum; /* of the token file; 0: random tokens */
    bool is_batch_fixed;
};

/* A piece: the three arrays of a range of elements. */
struct checkpoint_state {
    size_t first, count;
    real *parameters, *first_moments, *second_moments; /* count each */
};

struct manifest;

/* The first of three steps: one rank creates the directory and, in it, an empty directory for the
 * checkpoint. Returns 0, or -1 with err. */
int checkpoint_begin(const char *directory, long step, struct error *err);

/* Then each rank writes its shard there, and syncs it. Returns 0 with the file's checksum, or -1
 * with err, also if that shard exists already: another training writes to the directory. */
int checkpoint_write_shard(const char *directory, long step, int number,
                           const struct checkpoint_state *pieces, size_t piece_count, uint32_t *crc,
                           struct error *err);
void checkpoint_shard_name(int number, char name[32]);

/* At last one rank writes the manifest, renames the checkpoint, and removes all but the newest
 * `keep` of the directory's checkpoints (keep >= 1), and unfinished ones. since: the step from
 * which the run resumed, or of its last checkpoint; checkpoints between it and this one are not
 * intact, and are removed, too (LONG_MAX: not known). Returns 0, or -1 with err; older checkpoints
 * then remain. */
int checkpoint_commit(const char *directory, const struct manifest *manifest, long since, int keep,
                      struct error *err);

/* Instead of checkpoint_commit(): removes what was written. */
void checkpoint_discard(const char *directory, long step);

/* Removes all unfinished checkpoints, and of those up to `step` all but the newest `keep`. Those
 * after `step`, which are not intact, stay. A commit does so at its end, and a run that resumes
 * from `step` at its beginning, because the run before may have been killed during that. For one
 * rank. */
void checkpoint_prune(const char *directory, long step, int keep);

/* Reads pieces of the newest checkpoint that is intact. Collective over the communicator, whose
 * ranks share the work of checking. If a checkpoint is not intact, one of the ranks that see it
 * calls complain ("PATH: what is wrong"), and the one before it is tried. Returns, the same on all
 * ranks, 1 with *step; 0 if the directory has none that is intact, or does not exist; -1 with err
 * if the newest intact one is of another problem, or the directory or a file cannot be read: what
 * may be intact is not passed over, as the next commit would remove it. The arrays are valid only
 * after 1. Ends the job if a rank has no memory for what the others send it. */
int checkpoint_read(const char *directory, const struct checkpoint_problem *problem,
                    struct comm *comm, const struct checkpoint_state *pieces, size_t piece_count,
                    long *step, void (*complain)(const char *line), struct error *err);

#endif
