/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_VENDOR_H
#define MUSTER_GPU_VENDOR_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/node/gpu/gpu_choice.h"
#include "lib/node/inventory.h"

/* PCI class codes (the upper 16 bits of the class) that accelerators have: the PCI ID repository.
 */
enum {
    PCI_CLASS_VGA = 0x0300,
    PCI_CLASS_3D = 0x0302,
    PCI_CLASS_DISPLAY = 0x0380,     /* MI100 to MI250; Intel's Max and Flex */
    PCI_CLASS_ACCELERATOR = 0x1200, /* MI300; Gaudi */
};

/* A device file that every program of a vendor's opens besides the GPUs. */
struct gpu_common_file {
    const char *path, *user; /* "/dev/kfd", "ROCm" */
    bool is_made_later;      /* when it is first needed: that it is missing says nothing */
};

/* All that is particular to a vendor's GPUs. What is NULL the vendor does not have. */
struct gpu_vendor_info {
    const char *name; /* for people and in records: "NVIDIA" */
    long long pci_vendor;

    /* Kernel module whose version is told, as "nvidia" in the fact "nvidia.driver" and in the
     * inventory's "nvidia_driver"; NULL: the driver is the kernel's own. */
    const char *driver;
    const char *driver_difference; /* what drivers of different versions on the nodes of a job do */

    /* The words of gres.conf's AutoDetect that stand for this vendor's library, NULL last. */
    const char *auto_detect[3];
    struct gpu_common_file common_files[3]; /* path NULL last */
    const char *peer_modules[4]; /* kernel modules that let NICs read its memory, NULL last */

    /* Each partition of a GPU has a device file of its own; device_file is that of the first. */
    bool has_partition_files;

    /* Whether a function of an accelerator's class (one of the four above) is no accelerator for
     * jobs: a display chip, a processor's own graphics. NULL: all are. */
    bool (*is_other_device)(const char *pci, long long class, long long device);

    /* The loaded module's version into version, where it is not sys/module/DRIVER/version. */
    void (*read_driver)(const char *root, char *version, size_t size);

    /* What the driver's files tell of the GPU. device: "sys/bus/pci/devices/0000:3b:00.0". Before:
     * location, driver and the model "10de:2330" are known; numbers -1, texts "". */
    void (*read)(const char *root, const char *device, struct gpu *gpu);

    /* Leaves in the choice what the variables of a task leave its program, in the program's order.
     * Returns 0, or -1 with the fact when that cannot be told. */
    int (*filter)(struct gpu_choice *choice);
};

/* Of that vendor; NULL for GPU_OTHER. */
const struct gpu_vendor_info *gpu_vendor_info(enum gpu_vendor vendor);

/* The vendor of that PCI vendor number, or that AutoDetect word; GPU_OTHER for none. */
enum gpu_vendor gpu_vendor_by_pci(long long pci_vendor);
enum gpu_vendor gpu_vendor_by_auto_detect(const char *word);

/* The vendor whose driver's fact that is ("nvidia.driver"); GPU_OTHER for none. */
enum gpu_vendor gpu_vendor_by_driver_fact(const char *fact);

#endif
