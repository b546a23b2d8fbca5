/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REAL_H
#define MUSTER_REAL_H

/* The number that the model is computed in. The program is built with float; the tests build the
 * same sources with double as well, where finite differences say something. */
#ifdef MUSTER_REAL_DOUBLE
typedef double real;
#else
typedef float real;
#endif

/* A loop that the compiler makes vectors of. Built for several processors at once, chosen when the
 * program starts. No contraction to fused multiply-add (trainer/Local.mk), so that all give the
 * same bits. Sanitizers do not get along with functions that are chosen so early. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#define VECTORISED __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define VECTORISED
#endif

#endif
