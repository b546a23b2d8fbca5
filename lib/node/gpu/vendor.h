/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_VENDOR_H
#define MUSTER_GPU_VENDOR_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/node/gpu/gpu_choice.h"
#include "lib/node/inventory.h"

/* PCI class codes of accelerators (the upper 16 bits of the class), from the PCI ID repository. */
enum {
    PCI_CLASS_VGA = 0x0300,
    PCI_CLASS_3D = 0x0302,
    PCI_CLASS_DISPLAY = 0x0380,     /* MI100 to MI250; Intel's Max and Flex */
    PCI_CLASS_ACCELERATOR = 0x1200, /* MI300; Gaudi */
};

/* A device file that all programs on a vendor's GPUs open besides the GPUs. */
struct gpu_common_file {
    const char *path, *user; /* "/dev/kfd", "ROCm" */
    bool is_made_later;      /* made when first needed: a missing file is no problem */
};

/* The properties of a vendor's GPUs. NULL: the vendor does not have it. */
struct gpu_vendor_info {
    const char *name; /* for people and in records: "NVIDIA" */
    long long pci_vendor;

    /* The kernel module whose version is reported, as "nvidia" in the fact "nvidia.driver" and in
     * the inventory's "nvidia_driver"; NULL: the driver is the kernel's own. */
    const char *driver;
    const char *driver_difference; /* why all nodes of a job need the same driver version */

    /* The values of AutoDetect in gres.conf for this vendor's library, NULL last. */
    const char *auto_detect[3];
    struct gpu_common_file common_files[3]; /* path NULL last */
    const char *peer_modules[4]; /* kernel modules that let NICs read its memory, NULL last */

    /* Each partition of a GPU has its own device file; device_file is the first partition's. */
    bool has_partition_files;

    /* Returns whether a PCI function of one of the four classes above is no accelerator for jobs: a
     * display chip, a processor's own graphics. NULL: all functions are accelerators. */
    bool (*is_other_device)(const char *pci, long long class, long long device);

    /* Reads the loaded module's version if sys/module/DRIVER/version does not have it. */
    void (*read_driver)(const char *root, char *version, size_t size);

    /* Fills gpu from the driver's files. device: "sys/bus/pci/devices/0000:3b:00.0". On entry
     * location, driver and the model "10de:2330" are set, other numbers are -1, texts "". */
    void (*read)(const char *root, const char *device, struct gpu *gpu);

    /* Restricts the choice to the GPUs that the task's variables allow, in the program's order.
     * Returns 0, or -1 with the fact if these are not known. */
    int (*filter)(struct gpu_choice *choice);
};

/* Returns the properties of the vendor; NULL for GPU_OTHER. */
const struct gpu_vendor_info *gpu_vendor_info(enum gpu_vendor vendor);

/* Return the vendor with this PCI vendor number or AutoDetect value, or GPU_OTHER. */
enum gpu_vendor gpu_vendor_by_pci(long long pci_vendor);
enum gpu_vendor gpu_vendor_by_auto_detect(const char *word);

/* Returns the vendor of a fact about a driver ("nvidia.driver"), or GPU_OTHER. */
enum gpu_vendor gpu_vendor_by_driver_fact(const char *fact);

#endif
