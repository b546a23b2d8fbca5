/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_DEVICE_SET_H
#define MUSTER_GPU_DEVICE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/constants/battery_constants.h"

/* Some of a node's devices, by their index in the driver's order, from 0 to GPU_DEVICES_MOST - 1.
 * All zero: none. Pure. */

enum { DEVICE_SET_WORDS = (GPU_DEVICES_MOST + 63) / 64 };

struct device_set {
    uint64_t words[DEVICE_SET_WORDS];
};

struct device_set device_set_all(void);
struct device_set device_set_one(int device);
void device_set_add(struct device_set *set, int device);
bool device_set_has(const struct device_set *set, int device);
int device_set_count(const struct device_set *set);

/* Returns the next device of the set after `device` (-1: from the beginning), or -1 after the
 * last. */
int device_set_next(const struct device_set *set, int device);

#endif
