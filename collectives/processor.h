/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PROCESSOR_H
#define MUSTER_PROCESSOR_H

#include <stdbool.h>

/* What loops are built for besides any processor: plain C, which compilers turn into such vectors.
 */
enum processor {
    PROCESSOR_ANY,
    PROCESSOR_AVX2,
    PROCESSOR_AVX512, /* F, BW, DQ, VL */
    PROCESSORS
};

#define PROCESSOR_TARGET_AVX2 __attribute__((target("avx2")))
#define PROCESSOR_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

/* Whether this machine's processor runs what was built for that one. May be called
 * before main(). */
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

/* Between two looks at memory that another processor writes. */
static inline void processor_pause(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

#endif
