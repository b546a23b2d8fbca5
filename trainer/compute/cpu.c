/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "trainer/compute/cpu_linear.h"

const struct compute compute_cpu = {
    .precision = sizeof(real) == sizeof(float) ? "fp32" : "fp64",
    .element_bytes = sizeof(real),
    .linear = cpu_linear,
    .linear_real = cpu_linear_real,
    .linear_backward_in = cpu_linear_backward_in,
    .linear_backward_weight = cpu_linear_backward_weight,
    .layernorm = cpu_layernorm,
    .layernorm_backward = cpu_layernorm_backward,
    .attention = cpu_attention,
    .attention_backward = cpu_attention_backward,
    .gelu = cpu_gelu,
    .gelu_backward = cpu_gelu_backward,
    .add = cpu_add,
    .sum_rows = cpu_sum_rows,
    .embed = cpu_embed,
    .embed_backward = cpu_embed_backward,
    .cross_entropy = cpu_cross_entropy,
};

void compute_threads(int threads)
{
    omp_set_num_threads(threads);
}

void *cpu_room(size_t size_bytes)
{
    static _Thread_local struct {
        void *memory;
        size_t size_bytes;
    } room;

    if (size_bytes > room.size_bytes) {
        free(room.memory);
        room.size_bytes = (size_bytes + 4095) / 4096 * 4096;
        room.memory = aligned_alloc(4096, room.size_bytes);
        if (!room.memory) {
            fprintf(stderr, "muster-train: %.1f MB of scratch memory cannot be had: %m\n",
                    (double)room.size_bytes / 1e6);
            exit(1);
        }
    }
    return room.memory;
}
