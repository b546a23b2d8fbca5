/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sysfs.h"
#include "lib/node/gpu/vendor.h"
#include "lib/node/inventory-parts.h"

static bool is_gpu_class(long long class)
{
    return class == PCI_CLASS_VGA || class == PCI_CLASS_3D || class == PCI_CLASS_DISPLAY ||
           class == PCI_CLASS_ACCELERATOR;
}

/* Returns the vendor of a PCI function that is a GPU for jobs, else GPU_OTHER. */
static enum gpu_vendor vendor_of(const char *root, const char *pci, long long model)
{
    long long class = sysfs_number(root, "sys/bus/pci/devices/%s/class", pci);
    enum gpu_vendor vendor;
    const struct gpu_vendor_info *info;

    if (class < 0 || !is_gpu_class(class >> 8))
        return GPU_OTHER;
    vendor = gpu_vendor_by_pci(sysfs_number(root, "sys/bus/pci/devices/%s/vendor", pci));
    info = gpu_vendor_info(vendor);
    return info && info->is_other_device && info->is_other_device(pci, class >> 8, model)
               ? GPU_OTHER
               : vendor;
}

static void read_gpu(const char *root, const char *pci, enum gpu_vendor vendor, long long model,
                     struct gpu *gpu)
{
    const struct gpu_vendor_info *info = gpu_vendor_info(vendor);
    char device[SYSFS_PATH];

    gpu->vendor = vendor;
    gpu->memory_bytes = gpu->ecc_uncorrected = gpu->ecc_corrected = gpu->reset_count = -1;
    gpu->ordinal = -1;
    if (!FITS(device, "sys/bus/pci/devices/%s", pci))
        return;
    location_read(root, device, &gpu->location);
    snprintf(gpu->location.pci, sizeof gpu->location.pci, "%s", pci);
    sysfs_link(root, gpu->driver, sizeof gpu->driver, "%s/driver", device);
    snprintf(gpu->model, sizeof gpu->model, "%04llx:%04llx", info->pci_vendor,
             model < 0 ? 0 : model);
    info->read(root, device, gpu);
}

static void read_drivers(const char *root, struct inventory *inventory)
{
    for (int vendor = GPU_OTHER + 1; vendor < GPU_VENDORS; vendor++) {
        const struct gpu_vendor_info *info = gpu_vendor_info((enum gpu_vendor)vendor);
        char *version = inventory->gpu_drivers[vendor];

        if (!info->driver)
            continue;
        sysfs_line(root, version, INVENTORY_NAME, "sys/module/%s/version", info->driver);
        if (!version[0] && info->read_driver)
            info->read_driver(root, version, INVENTORY_NAME);
    }
}

static int compare_pci(const void *a, const void *b)
{
    return location_compare(*(char *const *)a, *(char *const *)b);
}

int gpus_read(const char *root, struct inventory *inventory, struct error *err)
{
    char **names;
    size_t count = sysfs_names(root, &names, "sys/bus/pci/devices");
    int result = 0;

    read_drivers(root, inventory);
    if (count > 1)
        qsort(names, count, sizeof *names, compare_pci);
    for (size_t i = 0; i < count && result == 0; i++) {
        enum gpu_vendor vendor;
        long long model;

        if (!location_is_pci(names[i]))
            continue;
        model = sysfs_number(root, "sys/bus/pci/devices/%s/device", names[i]);
        vendor = vendor_of(root, names[i], model);
        if (vendor == GPU_OTHER)
            continue;
        if (inventory->gpu_count == INVENTORY_GPUS)
            result = error_set(err, "more than %d GPUs", INVENTORY_GPUS);
        else
            read_gpu(root, names[i], vendor, model, &inventory->gpus[inventory->gpu_count++]);
    }
    sysfs_names_free(names, count);
    return result;
}
