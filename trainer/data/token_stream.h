/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TOKEN_STREAM_H
#define MUSTER_TOKEN_STREAM_H

#include <stdbool.h>
#include <stdint.h>

/* Random tokens: number i of the stream is SplitMix64's number i modulo the vocabulary. Batch s has
 * rows x time inputs from number s x rows x time on, row after row, and as targets the numbers one
 * further on. */
struct token_stream {
    uint64_t seed;
    int vocabulary;
    bool is_fixed; /* batch 0 again and again */
};

/* count inputs and targets, of which the first is number `first` of batch `step`, whose size is
 * batch_tokens: a rank makes just its own rows. */
void token_stream_read(const struct token_stream *stream, uint64_t step, uint64_t batch_tokens,
                       uint64_t first, uint64_t count, int32_t *inputs, int32_t *targets);

#endif
