/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "trainer/pages.h"

const struct compute compute_cpu = {.precision = sizeof(real) == sizeof(float) ? "fp32" : "fp64",
                                    .element_bytes = sizeof(real),
                                    LINEAR_FUNCTIONS(COMPUTE_MEMBER, cpu)
                                        CPU_FUNCTIONS(COMPUTE_MEMBER)};

/* Frees the scratch memory of a thread when OpenMP ends the thread. */
static pthread_key_t scratch_keys[CPU_SCRATCH_KINDS];

static void scratch_keys_make(void)
{
    for (int i = 0; i < CPU_SCRATCH_KINDS; i++)
        pthread_key_create(&scratch_keys[i], free);
}

void *cpu_scratch(enum cpu_scratch which, size_t size_bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local struct buffer {
        void *memory;
        size_t size_bytes;
    } buffers[CPU_SCRATCH_KINDS];
    struct buffer *buffer = &buffers[which];

    if (size_bytes > buffer->size_bytes) {
        free(buffer->memory);
        buffer->size_bytes = (size_bytes + 4095) / 4096 * 4096;
        buffer->memory = aligned_alloc(4096, buffer->size_bytes);
        if (!buffer->memory) {
            fprintf(stderr, "muster-train: cannot allocate %.1f MB of scratch memory: %m\n",
                    (double)buffer->size_bytes / 1e6);
            exit(1);
        }
        pages_prefer_large(buffer->memory, buffer->size_bytes);
        pthread_once(&once, scratch_keys_make);
        pthread_setspecific(scratch_keys[which], buffer->memory);
    }
    return buffer->memory;
}
