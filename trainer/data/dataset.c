/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/data/dataset.h"

#include "lib/base/splitmix.h"
#include "trainer/data/permutation.h"

static void read_random(const struct dataset *dataset, uint64_t begin, uint64_t count,
                        int32_t *tokens)
{
    for (uint64_t i = 0; i < count; i++)
        tokens[i] =
            (int32_t)(splitmix_at(dataset->seed, begin + i) % (uint64_t)dataset->vocabulary);
}

uint64_t dataset_windows(const struct dataset *dataset)
{
    uint64_t tokens = token_file_count(dataset->file);

    return tokens < 1 ? 0 : (tokens - 1) / (uint64_t)dataset->time;
}

uint64_t dataset_window(const struct dataset *dataset, uint64_t step, uint64_t row)
{
    uint64_t windows = dataset_windows(dataset);
    uint64_t number = (dataset->is_fixed ? 0 : step) * (uint64_t)dataset->batch + row;

    return permutation_at(splitmix_at(dataset->seed, number / windows), windows, number % windows);
}

void dataset_read(const struct dataset *dataset, uint64_t step, int first, int count,
                  int32_t *inputs, int32_t *targets)
{
    uint64_t time = (uint64_t)dataset->time;
    uint64_t begin = (dataset->is_fixed ? 0 : step) * (uint64_t)dataset->batch * time;

    for (uint64_t row = (uint64_t)first; row < (uint64_t)(first + count); row++) {
        if (dataset->file) {
            uint64_t window = dataset_window(dataset, step, row);

            token_file_read(dataset->file, window * time, time, inputs);
            token_file_read(dataset->file, window * time + 1, time, targets);
        } else {
            read_random(dataset, begin + row * time, time, inputs);
            read_random(dataset, begin + row * time + 1, time, targets);
        }
        inputs += time;
        targets += time;
    }
}
