/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VISIBLE_GPUS_H
#define MUSTER_VISIBLE_GPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/node/inventory.h"

/* Which of the node's GPUs a task may use, matched by PCI address: the indices of
 * CUDA_VISIBLE_DEVICES and its like are renumbered by device cgroups, so that index 0 means the
 * first device that can be opened, not the node's first. */

/* Looks up a variable of the task's environment: its value or NULL. The value must stay valid until
 * visible_gpus_read() returns. */
typedef const char *gpu_getenv_fn(const char *name, void *context);

/* Answers whether the calling process could open a device file for reading and writing: 1 yes, 0
 * refused or not there, -1 cannot tell. */
typedef int visible_gpus_open_fn(const char *device_file, void *context);

/* device_access() of lib/node/device.h, which opens nothing. root: that of a recorded machine, or
 * NULL.
 */
int visible_gpus_open(const char *device_file, void *root);

struct visible_gpus {
    bool is_known; /* false: nothing may be concluded, fact says why */
    size_t count;  /* 0 when not known; none at all is an answer too: CUDA_VISIBLE_DEVICES= */
    size_t gpus[INVENTORY_GPUS]; /* places in the inventory: NVIDIA's, AMD's, Gaudi's, Intel's, each
                                    in the order the program numbers them */
    size_t openable;             /* GPUs of the inventory that can be opened */
    bool is_cut;                 /* a list has an entry that names none of them */
    char fact[256]; /* "CUDA_VISIBLE_DEVICES=0,1 of 2 NVIDIA GPUs that can be opened" */
};

/* Each vendor's GPUs pass its own variables, as its libraries read them:
 * - NVIDIA: CUDA_VISIBLE_DEVICES, with CUDA_DEVICE_ORDER (CUDA Programming Guide, "CUDA environment
 *   variables"; doubles and odd numbers as PyTorch's torch/cuda/__init__.py describes them).
 * - AMD: ROCR_VISIBLE_DEVICES (ROCR-Runtime, amd_filter_device.cpp), and of what that leaves
 *   HIP_VISIBLE_DEVICES or else CUDA_VISIBLE_DEVICES, renumbered (ROCclr, rocdevice.cpp, where
 *   GPU_DEVICE_ORDINAL is for OpenCL only).
 * - Gaudi: HLS_MODULE_ID or HABANA_VISIBLE_MODULES by module number, or else HABANA_VISIBLE_DEVICES
 *   by device number (Gaudi documentation, "Gaudi-to-process assignment").
 * - Intel: ZE_AFFINITY_MASK with ZE_FLAT_DEVICE_HIERARCHY, by card or by tile (compute-runtime
 *   26.31, shared/source/execution_environment/execution_environment.cpp:244).
 * A list ends before its first entry that names no GPU, as it does for the libraries; Intel's goes
 * on after it. Without a
 * variable: all GPUs that can be opened.
 * Not known: MIG names that cannot be traced to one GPU, indices where several GPUs have MIG
 * instances or one of AMD's has partitions, are of different models (CUDA puts the fastest first)
 * or have no number from their driver, tiles that are not told, a device file whose permission
 * cannot be asked or, of a partitioned GPU of AMD's, is refused: a partition has its own. Nothing
 * is read but the inventory, the variables and open_fn's answers. */
void visible_gpus_read(const struct inventory *inventory, gpu_getenv_fn *getenv_fn, void *context,
                       visible_gpus_open_fn *open_fn, void *open_context,
                       struct visible_gpus *visible);

#endif
