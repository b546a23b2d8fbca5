/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DATASET_H
#define MUSTER_DATASET_H

#include <stdbool.h>
#include <stdint.h>

#include "trainer/data/token_file.h"

/* Which tokens a step trains on: a pure function of the step and of the place in its batch, so that
 * the ranks' parts are disjoint and complete whatever their number, and a run that goes on takes
 * up where it was.
 *
 * Random tokens: number i of the stream is SplitMix64's number i modulo the vocabulary; batch s has
 * batch x time inputs from number s x batch x time on, sequence after sequence.
 *
 * A file: it is cut into windows of time + 1 tokens that overlap by one, the last tokens that make
 * none are left out. Sequence number s x batch + row of the run is in epoch number / windows,
 * which has each window once, in an order of its own (permutation.h).
 *
 * Targets are the tokens one further on than the inputs. */
struct dataset {
    uint64_t seed;
    int vocabulary, batch, time;   /* sequences of a step, tokens of a sequence */
    bool is_fixed;                 /* step 0's batch at each step */
    const struct token_file *file; /* NULL: random tokens */
};

/* Windows of the file: sequences of an epoch. 0 when it is too short for one. */
uint64_t dataset_windows(const struct dataset *dataset);

/* The window that sequence `row` of step `step` is; for files. */
uint64_t dataset_window(const struct dataset *dataset, uint64_t step, uint64_t row);

/* Sequences [first, first + count) of the step's batch: count x time inputs and targets. */
void dataset_read(const struct dataset *dataset, uint64_t step, int first, int count,
                  int32_t *inputs, int32_t *targets);

#endif
