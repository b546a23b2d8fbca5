/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_GPU_HANDLES_H
#define MUSTER_TESTS_GPU_HANDLES_H

#include "tests/gpu/state.h"

/* The common parts of NVML and of HLML, which follows its design: device handles, the same status
 * codes. */

enum { DEVICES_MAX = 64 };
enum {
    OK = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    INSUFFICIENT_SIZE = 7,
    NOT_LOADED = 9,
    LOST = 15,
};

typedef const char *device_t; /* points into devices; the offset is the index */
static const char devices[DEVICES_MAX];
static int is_started;

static int device_index(device_t device)
{
    return device >= devices && device < devices + DEVICES_MAX ? (int)(device - devices) : -1;
}

/* Every function of a device calls this first. Returns the status to return at once, or OK. */
static int enter(device_t device, const char *function)
{
    int index = device_index(device), result;

    if (!is_started)
        return UNINITIALIZED;
    if (index < 0)
        return INVALID_ARGUMENT;
    result = state_enter(index, function);
    /* lost_late: the device is lost after its handle was opened */
    return result == OK && state_number(index, "lost_late", 0) ? LOST : result;
}

#define ENTER(device)                                                                              \
    do {                                                                                           \
        int result_ = enter(device, __func__);                                                     \
        if (result_ != OK)                                                                         \
            return result_;                                                                        \
    } while (0)
#define NUMBER(key, standard) state_number(device_index(device), key, standard)

static int copy(const char *value, char *text, unsigned length)
{
    if (strlen(value) + 1 > length)
        return INSUFFICIENT_SIZE;
    strcpy(text, value);
    return OK;
}

static int start(const char *vendor, const char *function)
{
    int result = state_enter(-1, function);

    if (result != OK)
        return result;
    if (access(state_path(), R_OK) != 0 || strcmp(state_text(-1, "vendor", vendor), vendor) != 0)
        return NOT_LOADED;
    is_started = 1;
    return OK;
}

static int count_devices(unsigned *count, const char *function)
{
    *count = (unsigned)state_number(-1, "devices", 8);
    return state_enter(-1, function);
}

static int open_device(unsigned index, device_t *device, const char *function)
{
    int result;

    if (!is_started)
        return UNINITIALIZED;
    if (index >= state_number(-1, "devices", 8))
        return INVALID_ARGUMENT;
    result = state_enter((int)index, function);
    if (result != OK)
        return result;
    *device = devices + index;
    return state_number((int)index, "lost", 0) ? LOST : OK;
}

#define DEFINE_TEXT(function, key, standard)                                                       \
    API(function, device_t device, char *text, unsigned length)                                    \
    {                                                                                              \
        ENTER(device);                                                                             \
        return copy(state_text(device_index(device), key, standard), text, length);                \
    }

#define DEFINE_NUMBER(function, key, standard)                                                     \
    API(function, device_t device, unsigned *number)                                               \
    {                                                                                              \
        ENTER(device);                                                                             \
        *number = (unsigned)NUMBER(key, standard);                                                 \
        return OK;                                                                                 \
    }

/* A mode: the one now, and the one after the next reset. */
#define DEFINE_MODE(function, key, standard)                                                       \
    API(function, device_t device, unsigned *now, unsigned *pending)                               \
    {                                                                                              \
        ENTER(device);                                                                             \
        *now = (unsigned)NUMBER(key, standard);                                                    \
        *pending = (unsigned)NUMBER(key "_pending", *now);                                         \
        return OK;                                                                                 \
    }

#define DEFINE_OF_TYPE(function, is_first, first, first_standard, other, other_standard)           \
    API(function, device_t device, int type, unsigned *number)                                     \
    {                                                                                              \
        ENTER(device);                                                                             \
        *number = (unsigned)(type == (is_first) ? NUMBER(first, first_standard)                    \
                                                : NUMBER(other, other_standard));                  \
        return OK;                                                                                 \
    }

#endif
