/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PROCESSOR_H
#define MUSTER_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>

/* The instruction sets for which compilers turn loops of plain C into vectors. */
enum processor {
    PROCESSOR_ANY,
    PROCESSOR_AVX2,
    PROCESSOR_AVX512, /* F, BW, DQ, VL */
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

/* Expands define(path, target) for each of them, in their order. */
#ifdef __x86_64__
#define PROCESSOR_EACH(define)                                                                     \
    define(portable, ) define(avx2, PROCESSOR_TARGET_AVX2) define(avx512, PROCESSOR_TARGET_AVX512)
#else
#define PROCESSOR_EACH(define) define(portable, )
#endif

/* Defines the function path_at(number), whose contract its header has, and `best`, the last path
 * that this machine runs, chosen before main(), so that threads need no synchronization.
 * row(path, target): a path of this type, which is a pointer, and a comma. */
#define PROCESSOR_PATHS(type, path_at, row)                                                        \
    static type const paths[] = {PROCESSOR_EACH(row)};                                             \
    type path_at(unsigned number)                                                                  \
    {                                                                                              \
        bool has = number < sizeof paths / sizeof *paths && processor_runs(number);                \
                                                                                                   \
        return has ? paths[number] : NULL;                                                         \
    }                                                                                              \
    static type best;                                                                              \
    __attribute__((constructor)) static void choose_best(void)                                     \
    {                                                                                              \
        for (unsigned number = 0; path_at(number); number++)                                       \
            best = path_at(number);                                                                \
    }

/* Pauses between two polls of memory that another processor writes. */
static inline void processor_pause(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

#endif
