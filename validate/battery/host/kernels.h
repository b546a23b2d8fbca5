/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HOST_KERNELS_H
#define MUSTER_HOST_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* What a core computes. Pure. */

/* "fma" where processor and compiler have fused multiply-add, else "mul": cores that use the same
 * one have the same result to the bit. */
const char *kernel_instructions(void);

/* Computes `steps` steps of logistic maps and integer mixing with fixed seeds: an error of one bit
 * anywhere grows until all bits of the result are affected. Returns a checksum. */
uint64_t kernel_compute(long steps);
enum { KERNEL_FLOP_OF_STEP = 24 }; /* floating-point operations, a fused one being two */

/* a[i] = b[i] + factor * c[i] (McCalpin, STREAM: triad), past the caches where the compiler can do
 * that. Moves 24 bytes an element. count: a multiple of 8; the arrays are on cache lines. */
void kernel_triad(double *a, const double *b, const double *c, double factor, size_t count);

#endif
