/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ADAMW_H
#define MUSTER_ADAMW_H

#include <stddef.h>

#include "trainer/real.h"

/* AdamW (Loshchilov, Hutter: Decoupled weight decay regularization, 2019), bias-corrected: m = b1 m
 * + (1 - b1) g, v = b2 v + (1 - b2) g^2, p -= rate (m' / (sqrt(v') + epsilon) + decay p). */
struct adamw {
    double beta1, beta2, epsilon, decay;
};

/* Makes one update of count parameters. step: 1 for the first. scale: a factor for gradients,
 * applied first (clipping). The same bits on any processor and with any number of threads, so that
 * replicas stay equal: nothing but additions, products, divisions and square roots, each
 * rounded. */
void adamw_update(const struct adamw *adamw, long step, double rate, double scale, size_t count,
                  const real *gradients, real *first_moments, real *second_moments,
                  real *parameters);

/* Returns the sum of squares, added in a fixed order. */
double adamw_squares(const real *values, size_t count);

#endif
