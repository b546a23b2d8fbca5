/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKPOINT_H
#define MUSTER_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "trainer/model/shape.h"

/* The state of a training on disk: DIRECTORY/step-000000012/ with a text file "manifest" and the
 * shards that it names.
 *
 * A shard holds elements [first, first + count) of the model's parameters, unit after unit, then
 * the same of the first and of the second moments, 32-bit floating point, little-endian. The
 * manifest has the size and CRC-32C of each shard, and in its last line its own. Both are written
 * in a directory of another name and synced before that gets its name: a checkpoint is whole or not
 * there. Whoever reads it checks all sums, whatever the number of shards that it was written in. */

/* What must be the same for the steps that follow to be those that would have followed. */
struct checkpoint_problem {
    struct shape shape;
    int batch; /* sequences of a step, over all ranks */
    uint64_t weights_seed, data_seed;
    uint64_t data_checksum; /* of the token file; 0: random tokens */
    bool is_batch_fixed;
};

/* The three arrays of a range of elements. */
struct checkpoint_state {
    size_t first, count;
    real *parameters, *first_moments, *second_moments; /* count each */
};

/* Writes a checkpoint of one shard and takes away all but the newest `keep` of the directory's
 * checkpoints (keep >= 1) and what was left of unfinished ones. Returns 0, or -1 with err, and then
 * what was there before is still there. */
int checkpoint_write(const char *directory, const struct checkpoint_problem *problem, long step,
                     const struct checkpoint_state *state, int keep, struct error *err);

/* Reads the range state->first, state->count of the newest checkpoint that is whole. One that is
 * not is told to complain (with context; "PATH: what is wrong") and the one before it is tried.
 * Returns 1 with *step; 0 when the directory has none that is whole, or is not there; -1 with err
 * when the newest whole one is of another problem, or memory is out. The arrays are good only for
 * 1. */
int checkpoint_read(const char *directory, const struct checkpoint_problem *problem,
                    const struct checkpoint_state *state, long *step,
                    void (*complain)(void *context, const char *line), void *context,
                    struct error *err);

#endif
