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

/* Frees the rooms of a thread when OpenMP ends the thread. */
static pthread_key_t room_keys[CPU_ROOMS];

static void room_keys_make(void)
{
    for (int i = 0; i < CPU_ROOMS; i++)
        pthread_key_create(&room_keys[i], free);
}

void *cpu_room(enum cpu_room which, size_t size_bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local struct room {
        void *memory;
        size_t size_bytes;
    } rooms[CPU_ROOMS];
    struct room *room = &rooms[which];

    if (size_bytes > room->size_bytes) {
        free(room->memory);
        room->size_bytes = (size_bytes + 4095) / 4096 * 4096;
        room->memory = aligned_alloc(4096, room->size_bytes);
        if (!room->memory) {
            fprintf(stderr, "muster-train: cannot allocate %.1f MB of scratch memory: %m\n",
                    (double)room->size_bytes / 1e6);
            exit(1);
        }
        pages_prefer_large(room->memory, room->size_bytes);
        pthread_once(&once, room_keys_make);
        pthread_setspecific(room_keys[which], room->memory);
    }
    return room->memory;
}
