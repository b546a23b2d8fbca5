/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu.h"

#include <omp.h>

const struct compute compute_cpu = {
    .name = "cpu",
    .matmul = cpu_matmul,
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

void compute_cpu_threads(int threads)
{
    omp_set_num_threads(threads);
}
