/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/gpu/device_set.h"

#include <string.h>

struct device_set device_set_all(void)
{
    struct device_set set;

    memset(&set, 0xff, sizeof set);
    return set;
}

struct device_set device_set_one(int device)
{
    struct device_set set = {{0}};

    device_set_add(&set, device);
    return set;
}

void device_set_add(struct device_set *set, int device)
{
    set->words[device / 64] |= UINT64_C(1) << device % 64;
}

bool device_set_has(const struct device_set *set, int device)
{
    return set->words[device / 64] >> device % 64 & 1;
}

int device_set_count(const struct device_set *set)
{
    int count = 0;

    for (int i = 0; i < DEVICE_SET_WORDS; i++)
        count += __builtin_popcountll(set->words[i]);
    return count;
}

int device_set_next(const struct device_set *set, int device)
{
    for (int next = device + 1; next < GPU_DEVICES_MOST; next++)
        if (device_set_has(set, next))
            return next;
    return -1;
}
