/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_GPU_AMD_H
#define MUSTER_TESTS_GPU_AMD_H

#include "tests/gpu/state.h"

#include <stddef.h>
#include <stdint.h>

/* The common parts of ROCm SMI and of AMD SMI, its successor. Each file that includes this defines
 * device_t, device_index() (the index of a device, -1: no device), NOT_STARTED, INSUFFICIENT_SIZE
 * and struct error_count. */

enum { OK = 0, INVALID = 1, NOT_SUPPORTED = 2 };

static int is_started;

#define ENTER(device, answer)                                                                      \
    do {                                                                                           \
        int result_ = !is_started ? NOT_STARTED                                                    \
                      : device_index(device) < 0 || !(answer)                                      \
                          ? INVALID                                                                \
                          : state_enter(device_index(device), __func__);                           \
        if (result_ != OK)                                                                         \
            return result_;                                                                        \
    } while (0)
#define NUMBER(key, standard) state_number(device_index(device), key, standard)

static int device_count(void)
{
    return (int)state_number(-1, "devices", 8);
}

static int start(const char *function, int no_driver)
{
    int result = state_enter(-1, function);

    if (result != OK)
        return result;
    if (access(state_path(), R_OK) != 0 || strcmp(state_text(-1, "vendor", "amd"), "amd") != 0)
        return no_driver;
    is_started = 1;
    return OK;
}

struct page {
    uint64_t address, size;
    int status; /* 0 reserved, 1 pending, 2 unreservable */
};

/* Writes at most room pages; pages may be NULL. Returns the number of pages that the device has. */
static uint32_t read_pages(int device, struct page *pages, uint32_t room)
{
    uint32_t retired = (uint32_t)state_number(device, "rows_uncorrected", 0);
    uint32_t pending = (uint32_t)state_number(device, "rows_pending", 0);
    uint32_t all = retired + pending + (uint32_t)state_number(device, "rows_failed", 0);

    for (uint32_t i = 0; pages && i < all && i < room; i++)
        pages[i] = (struct page){i * 4096, 4096, i < retired ? 0 : i < retired + pending ? 1 : 2};
    return all;
}

#define COPY(value, text, length)                                                                  \
    (snprintf(text, length, "%s", value) < (int)(length) ? OK : INSUFFICIENT_SIZE)

#define DEFINE_TEXT(function, size_type, value)                                                    \
    API(function, device_t device, char *text, size_type length)                                   \
    {                                                                                              \
        ENTER(device, text);                                                                       \
        return COPY(value, text, length);                                                          \
    }

#define DEFINE_NUMBER(function, type, value)                                                       \
    API(function, device_t device, type *number)                                                   \
    {                                                                                              \
        ENTER(device, number);                                                                     \
        *number = (type)(value);                                                                   \
        return OK;                                                                                 \
    }

/* A number of the first sensor or kind of memory; the device has no others. */
#define DEFINE_OF_FIRST(function, value)                                                           \
    API(function, device_t device, uint32_t kind, uint64_t *number)                                \
    {                                                                                              \
        ENTER(device, number);                                                                     \
        *number = (uint64_t)(value);                                                               \
        return kind == 0 ? OK : NOT_SUPPORTED;                                                     \
    }

/* The temperature of the hotspot (sensor 1): now (metric 0), and the critical one (metric 5). */
#define DEFINE_TEMPERATURE(function, unit, now, limit)                                             \
    API(function, device_t device, uint32_t sensor, int metric, int64_t *number)                   \
    {                                                                                              \
        ENTER(device, number);                                                                     \
        if (sensor != 1)                                                                           \
            return NOT_SUPPORTED;                                                                  \
        *number = (unit) *                                                                         \
                  (metric == 0 ? NUMBER("temperature", now) : NUMBER("temperature_limit", limit)); \
        return metric == 0 || metric == 5 ? OK : NOT_SUPPORTED;                                    \
    }

enum { BLOCK_MEMORY = 1, BLOCK_GRAPHICS = 4, BLOCK_LINKS = 0x80 };

#define ERROR_BLOCKS (NUMBER("ecc", 1) ? BLOCK_MEMORY | BLOCK_GRAPHICS | BLOCK_LINKS : 0)

#define DEFINE_ERROR_COUNT(function)                                                               \
    API(function, device_t device, uint64_t block, struct error_count *count)                      \
    {                                                                                              \
        ENTER(device, count);                                                                      \
        memset(count, 0, sizeof *count);                                                           \
        if (block == BLOCK_MEMORY) {                                                               \
            count->correctable = (uint64_t)NUMBER("ecc_volatile_corrected", 0);                    \
            count->uncorrectable = (uint64_t)NUMBER("ecc_volatile_uncorrected", 0);                \
        } else if (block == BLOCK_LINKS) {                                                         \
            count->correctable = (uint64_t)NUMBER("link_crc_errors", 0);                           \
        } else if (block != BLOCK_GRAPHICS) {                                                      \
            return NOT_SUPPORTED;                                                                  \
        }                                                                                          \
        return OK;                                                                                 \
    }

#endif
