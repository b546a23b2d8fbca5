/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/optimizer/adamw.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 16384, LANES = 16 };

struct factors {
    real beta1, beta2, rest1, rest2, mean, variance, epsilon, decay, rate, scale;
};

/* The factors are copied and the arrays do not overlap: else each store might change what is read
 * next, and the loop would not be vectorized. */
VECTORISED static void update_block(const struct factors *factors, size_t count,
                                    const real *restrict g, real *restrict m, real *restrict v,
                                    real *restrict p)
{
    const struct factors f = *factors;

    for (size_t i = 0; i < count; i++) {
        real gradient = g[i] * f.scale;

        m[i] = f.beta1 * m[i] + f.rest1 * gradient;
        v[i] = f.beta2 * v[i] + f.rest2 * (gradient * gradient);
#ifdef MUSTER_REAL_DOUBLE
        p[i] -= f.rate * (m[i] * f.mean / (sqrt(v[i] * f.variance) + f.epsilon) + f.decay * p[i]);
#else
        p[i] -= f.rate * (m[i] * f.mean / (sqrtf(v[i] * f.variance) + f.epsilon) + f.decay * p[i]);
#endif
    }
}

void adamw_update(const struct adamw *adamw, long step, double rate, double scale, size_t count,
                  const real *gradients, real *first_moments, real *second_moments,
                  real *parameters)
{
    struct factors factors = {
        .beta1 = (real)adamw->beta1,
        .beta2 = (real)adamw->beta2,
        .rest1 = (real)(1 - adamw->beta1),
        .rest2 = (real)(1 - adamw->beta2),
        .mean = (real)(1 / (1 - pow(adamw->beta1, (double)step))),
        .variance = (real)(1 / (1 - pow(adamw->beta2, (double)step))),
        .epsilon = (real)adamw->epsilon,
        .decay = (real)adamw->decay,
        .rate = (real)rate,
        .scale = (real)scale,
    };

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < count; at += BLOCK)
        update_block(&factors, count - at < BLOCK ? count - at : BLOCK, gradients + at,
                     first_moments + at, second_moments + at, parameters + at);
}

VECTORISED static double block_squares(const real *x, size_t count)
{
    double lanes[LANES] = {0}, sum = 0;
    size_t whole = count - count % LANES;

    for (size_t i = 0; i < whole; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++)
            lanes[lane] += (double)x[i + lane] * (double)x[i + lane];
    for (size_t i = whole; i < count; i++)
        lanes[i - whole] += (double)x[i] * (double)x[i];
    for (size_t lane = 0; lane < LANES; lane++)
        sum += lanes[lane];
    return sum;
}

double adamw_squares(const real *values, size_t count)
{
    double sum = 0;

    /* 64 blocks at a time: their sums in parallel, then added in order */
    for (size_t begin = 0; begin < count; begin += 64 * BLOCK) {
        size_t blocks = (count - begin + BLOCK - 1) / BLOCK;
        double sums[64];

        blocks = blocks < 64 ? blocks : 64;
#pragma omp parallel for schedule(static)
        for (size_t block = 0; block < blocks; block++) {
            size_t at = begin + block * BLOCK;

            sums[block] = block_squares(values + at, count - at < BLOCK ? count - at : BLOCK);
        }
        for (size_t block = 0; block < blocks; block++)
            sum += sums[block];
    }
    return sum;
}
