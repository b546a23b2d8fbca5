/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_AMD_H
#define MUSTER_ACCELERATOR_AMD_H

#include "validate/accelerator/library.h"

/* AMD SMI, and ROCm SMI if AMD SMI is missing. AMD SMI was made from ROCm SMI, and many of their
 * functions differ only in the name and the first argument, a handle or an index. Prototypes,
 * layouts and numbers: amdsmi.h of AMD SMI 24.5 (ROCm 6.1), 24.7 (6.3) and 26.5 (7), rocm_smi.h of
 * ROCm SMI 7.3 (ROCm 6.2). What differs between these is chosen by the version, or not read. */

enum {
    AMD_OK = 0,
    AMD_HOTSPOT = 1, /* temperature sensor, and metrics */
    AMD_TEMPERATURE_NOW = 0,
    AMD_TEMPERATURE_CRITICAL = 5,
    AMD_MEMORY_VRAM = 0,
};

/* A structure of the library, with room for members of other versions. */
#define AMD_ROOM(type, name)                                                                       \
    union {                                                                                        \
        type of;                                                                                   \
        char room[32768];                                                                          \
    } name = {.room = ""}

#define AMD_TRAITS                                                                                 \
    {                                                                                              \
        "xGMI link", "page", "retired", 0, 0                                                       \
    }

/* Finds the processes that compute on each device, for amd_read_processes(). Call it once the
 * library is started. */
void amd_find_processes(struct reading *reading);

reading_part_fn amd_read_errors, amd_read_pages, amd_read_partition, amd_read_processes;

/* Ends the reading after a failed start. The libraries do not distinguish a missing driver from one
 * that does not work, so this checks it. Returns -1. */
int amd_fail_start(struct reading *reading, const char *function, int result, bool may_lack_driver);

#endif
