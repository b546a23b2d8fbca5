/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VECTORISED_H
#define MUSTER_VECTORISED_H

/* A loop that the compiler makes vectors of. Built for several processors at once, chosen when the
 * program starts, by what the processor can: the name of a model here would be taken for that model
 * only. All give the same bits, without contraction to fused multiply-add (-ffp-contract=off in
 * Local.mk). Sanitizers do not get along with functions that are chosen so early. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
#if __GNUC__ >= 12
#define VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#else
#define VECTORISED
#endif

#endif
