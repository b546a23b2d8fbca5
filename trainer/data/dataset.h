/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DATASET_H
#define MUSTER_DATASET_H

#include <stdbool.h>
#include <stdint.h>

#include "trainer/data/token_file.h"

/* Which tokens a step trains on: a pure function of the step and the row of its batch, so that the
 * ranks' parts are disjoint and complete for any number of ranks, and a run that resumes continues
 * where it was.
 *
 * Random tokens: number i of the stream is SplitMix64's number i modulo the vocabulary; batch s has
 * batch x time inputs from number s x batch x time on, sequence after sequence.
 *
 * A file is cut into windows of time + 1 tokens that overlap by one; the last tokens that do not
 * fill a window are left out. Sequence n = s x batch + row of the run is in epoch n / windows,
 * which has each window once, in its own order (permutation.h).
 *
 * Targets are the tokens one further on than the inputs. */
struct dataset {
    uint64_t seed;
    int vocabulary, batch, time;   /* sequences of a step, tokens of a sequence */
    bool is_fixed;                 /* step 0's batch at each step */
    const struct token_file *file; /* NULL: random tokens */
};

/* Returns the number of windows of the file, which are the sequences of an epoch; 0 if the file is
 * too short for one. */
uint64_t dataset_windows(const struct dataset *dataset);

/* Returns the window of sequence `row` of step `step`; for files. */
uint64_t dataset_window(const struct dataset *dataset, uint64_t step, uint64_t row);

/* Reads sequences [first, first + count) of the step's batch: count x time inputs and targets. */
void dataset_read(const struct dataset *dataset, uint64_t step, int first, int count,
                  int32_t *inputs, int32_t *targets);

#endif
