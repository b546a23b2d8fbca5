/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu.h"

VECTORISED static real greatest(const real *x, int count)
{
    real lanes[CPU_LANES], most = x[0];
    int whole = count - count % CPU_LANES;

    for (int lane = 0; lane < CPU_LANES; lane++)
        lanes[lane] = x[0];
    for (int i = 0; i < whole; i += CPU_LANES)
        for (int lane = 0; lane < CPU_LANES; lane++)
            lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
    for (int i = whole; i < count; i++)
        lanes[i - whole] = x[i] > lanes[i - whole] ? x[i] : lanes[i - whole];
    for (int lane = 0; lane < CPU_LANES; lane++)
        most = lanes[lane] > most ? lanes[lane] : most;
    return most;
}

/* x becomes e^(x - most); returns their sum. */
VECTORISED static double exponentials(real *x, int count, real most)
{
    real lanes[CPU_LANES] = {0};
    int whole = count - count % CPU_LANES;
    double sum = 0;

    for (int i = 0; i < whole; i += CPU_LANES) {
        for (int lane = 0; lane < CPU_LANES; lane++) {
            real e = cpu_exp(x[i + lane] - most);

            x[i + lane] = e;
            lanes[lane] += e;
        }
    }
    for (int i = whole; i < count; i++) {
        x[i] = cpu_exp(x[i] - most);
        lanes[i - whole] += x[i];
    }
    for (int lane = 0; lane < CPU_LANES; lane++)
        sum += lanes[lane];
    return sum;
}

/* out may be x. */
VECTORISED static void scale_row(const real *x, int count, real factor, element *out)
{
#pragma omp simd
    for (int i = 0; i < count; i++)
        out[i] = element_of(x[i] * factor);
}

void cpu_cross_entropy(real *logits, const int32_t *targets, int rows, int vocabulary, real scale,
                       real *losses, activations *dlogits)
{
    element *ds = dlogits;

#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++) {
        size_t at = (size_t)row * (size_t)vocabulary;
        real *x = logits + at;
        real most = greatest(x, vocabulary), of_target = x[targets[row]];
        double sum = exponentials(x, vocabulary, most);
        real factor = (real)((double)scale / sum), target = x[targets[row]] * factor - scale;

        losses[row] = (real)(log(sum) + (double)most - (double)of_target);
        scale_row(x, vocabulary, factor, ds + at);
        ds[at + (size_t)targets[row]] = element_of(target);
    }
}
