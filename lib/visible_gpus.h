/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VISIBLE_GPUS_H
#define MUSTER_VISIBLE_GPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/envplan.h"
#include "lib/inventory.h"

/* Which of the node's GPUs a task may use, matched by PCI address: the indices of
 * CUDA_VISIBLE_DEVICES and its like are renumbered by device cgroups, so that index 0 means the
 * first device that can be opened, not the node's first. */

/* Answers whether the task can open a device file: 1 yes, 0 refused, -1 cannot tell. */
typedef int visible_gpus_open_fn(const char *device_file, void *context);

/* open(2) of the file, closed at once; what is not a character device is never opened. */
int visible_gpus_open(const char *device_file, void *unused);

struct visible_gpus {
    bool is_known; /* false: nothing may be concluded, fact says why */
    size_t count;
    size_t
        gpus[INVENTORY_GPUS]; /* places in the inventory, in the order the program numbers them */
    char fact[256];           /* "CUDA_VISIBLE_DEVICES=0,1 of 2 that can be opened" */
};

/* Reads CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, GPU_DEVICE_ORDINAL,
 * HABANA_VISIBLE_DEVICES, HABANA_VISIBLE_MODULES, HLS_MODULE_ID and
 * ZE_AFFINITY_MASK, each for its vendor: indices, UUIDs, MIG names. Without any, all GPUs that can
 * be opened. MIG devices that cannot be traced to a GPU, GPUs of several vendors with conflicting
 * lists, an index out of range: not known. */
void visible_gpus_read(const struct inventory *inventory, envplan_getenv_fn *getenv_fn,
                       void *context, visible_gpus_open_fn *open_fn, void *open_context,
                       struct visible_gpus *visible);

#endif
