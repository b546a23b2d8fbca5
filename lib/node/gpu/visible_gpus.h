/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VISIBLE_GPUS_H
#define MUSTER_VISIBLE_GPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/node/inventory.h"

/* Finds the node's GPUs that a task may use. The indices of CUDA_VISIBLE_DEVICES and its like are
 * renumbered by device cgroups: index 0 is the first device that can be opened, and not the first
 * of the node. */

/* Returns the value of a variable of the task's environment, or NULL. The value must stay valid
 * until visible_gpus_read() returns. */
typedef const char *gpu_getenv_fn(const char *name, void *context);

/* Returns whether the calling process can open a device file for reading and writing: 1 yes, 0
 * refused or not there, -1 not known. */
typedef int visible_gpus_open_fn(const char *device_file, void *context);

/* Checks a device file by device_access() of lib/node/device.h, which opens nothing. root: the root
 * of a recorded machine, or NULL. */
int visible_gpus_open(const char *device_file, void *root);

struct visible_gpus {
    bool is_known; /* false: the task's GPUs are not known; fact says why */
    size_t count;  /* 0 if not known; a task can also have none: CUDA_VISIBLE_DEVICES= */
    size_t gpus[INVENTORY_GPUS]; /* indexes in the inventory: NVIDIA's, AMD's, Gaudi's, Intel's,
                                    each in the order in which the program numbers them */
    size_t openable;             /* GPUs of the inventory that can be opened */
    bool is_cut;                 /* a list has an entry that names no GPU that can be opened */
    char fact[256]; /* "CUDA_VISIBLE_DEVICES=0,1 of 2 NVIDIA GPUs that can be opened" */
};

/* Restricts each vendor's GPUs by the vendor's own variables, as its libraries do:
 * - NVIDIA: CUDA_VISIBLE_DEVICES, with CUDA_DEVICE_ORDER (CUDA Programming Guide, "CUDA environment
 *   variables"; doubles and odd numbers as PyTorch's torch/cuda/__init__.py describes them).
 * - AMD: ROCR_VISIBLE_DEVICES (ROCR-Runtime, amd_filter_device.cpp), then on the remaining GPUs,
 *   renumbered, HIP_VISIBLE_DEVICES or else CUDA_VISIBLE_DEVICES (ROCclr, rocdevice.cpp, where
 *   GPU_DEVICE_ORDINAL is for OpenCL only).
 * - Gaudi: HLS_MODULE_ID or HABANA_VISIBLE_MODULES by module number, or else HABANA_VISIBLE_DEVICES
 *   by device number (Gaudi documentation, "Gaudi-to-process assignment").
 * - Intel: ZE_AFFINITY_MASK with ZE_FLAT_DEVICE_HIERARCHY, by card or by tile (compute-runtime
 *   26.31, shared/source/execution_environment/execution_environment.cpp:244).
 * A list ends before its first entry that names no GPU, as it does for the libraries. Intel's goes
 * on after such an entry, and with Gaudi's the GPUs are not known. Without a variable, all GPUs
 * that can be opened are visible.
 *
 * The GPUs are not known for: MIG names that cannot be traced to one GPU; indices (or no variable)
 * if there are several NVIDIA GPUs and one has MIG instances; indices if an AMD GPU has partitions,
 * if the GPUs are of different models (CUDA puts the fastest first), or if the driver does not
 * report their numbers; an unknown number of tiles; a device file whose permission is not known, or
 * is refused for a partitioned AMD GPU, as each partition has its own file. Reads only the
 * inventory, the variables and open_fn's results. */
void visible_gpus_read(const struct inventory *inventory, gpu_getenv_fn *getenv_fn, void *context,
                       visible_gpus_open_fn *open_fn, void *open_context,
                       struct visible_gpus *visible);

#endif
