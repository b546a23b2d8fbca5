/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PROCESSOR_H
#define MUSTER_PROCESSOR_H

#include <stdbool.h>

/* The instruction sets for which compilers turn loops of plain C into vectors. */
enum processor {
    PROCESSOR_ANY,
    PROCESSOR_AVX2,
    PROCESSOR_AVX512, /* F, BW, DQ, VL */
    PROCESSORS
};

#define PROCESSOR_TARGET_AVX2 __attribute__((target("avx2")))
#define PROCESSOR_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

/* Whether this machine's processor runs code built for that one. May be called before main(). */
static inline bool processor_runs(unsigned processor)
{
    if (processor == PROCESSOR_ANY)
        return true;
#ifdef __x86_64__
    __builtin_cpu_init();
    if (processor == PROCESSOR_AVX2)
        return __builtin_cpu_supports("avx2");
    if (processor == PROCESSOR_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    return false;
}

/* Pauses between two polls of memory that another processor writes. */
static inline void processor_pause(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

#endif
