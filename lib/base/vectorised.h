/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VECTORISED_H
#define MUSTER_VECTORISED_H

/* Marks a function whose loops the compiler vectorizes. It is built for several instruction sets,
 * and one is chosen when the program starts. The names are of instruction sets: the name of a
 * processor model would be used on that model only. All variants give the same bits, as fused
 * multiply-add is off (-ffp-contract=off in Local.mk). Sanitizers fail with functions that are
 * chosen so early. */
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
