/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/data/token_stream.h"

#include "trainer/data/splitmix.h"

void token_stream_read(const struct token_stream *stream, uint64_t step, uint64_t batch_tokens,
                       uint64_t first, uint64_t count, int32_t *inputs, int32_t *targets)
{
    uint64_t begin = (stream->is_fixed ? 0 : step * batch_tokens) + first;

    for (uint64_t i = 0; i < count; i++) {
        inputs[i] = (int32_t)(splitmix_at(stream->seed, begin + i) % (uint64_t)stream->vocabulary);
        targets[i] =
            (int32_t)(splitmix_at(stream->seed, begin + i + 1) % (uint64_t)stream->vocabulary);
    }
}
