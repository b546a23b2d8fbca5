/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/gpu/vendor.h"

#include <string.h>
#include <strings.h>

#define DECLARE(upper, lower) extern const struct gpu_vendor_info gpu_vendor_##lower;
GPU_VENDOR_LIST(DECLARE)

#define ROW(upper, lower) [GPU_##upper] = &gpu_vendor_##lower,
static const struct gpu_vendor_info *const vendors[GPU_VENDORS] = {GPU_VENDOR_LIST(ROW)};

const struct gpu_vendor_info *gpu_vendor_info(enum gpu_vendor vendor)
{
    return (unsigned)vendor < GPU_VENDORS ? vendors[vendor] : NULL;
}

enum gpu_vendor gpu_vendor_by_pci(long long pci_vendor)
{
    for (int vendor = GPU_OTHER + 1; vendor < GPU_VENDORS; vendor++)
        if (vendors[vendor]->pci_vendor == pci_vendor)
            return (enum gpu_vendor)vendor;
    return GPU_OTHER;
}

enum gpu_vendor gpu_vendor_by_auto_detect(const char *word)
{
    for (int vendor = GPU_OTHER + 1; vendor < GPU_VENDORS; vendor++)
        for (const char *const *own = vendors[vendor]->auto_detect; *own; own++)
            if (strcasecmp(*own, word) == 0)
                return (enum gpu_vendor)vendor;
    return GPU_OTHER;
}

enum gpu_vendor gpu_vendor_by_driver_fact(const char *fact)
{
    for (int vendor = GPU_OTHER + 1; vendor < GPU_VENDORS; vendor++) {
        const char *driver = vendors[vendor]->driver;
        size_t length = driver ? strlen(driver) : 0;

        if (driver && strncmp(fact, driver, length) == 0 && strcmp(fact + length, ".driver") == 0)
            return (enum gpu_vendor)vendor;
    }
    return GPU_OTHER;
}

bool gpu_is_passed_through(const struct gpu *gpu)
{
    return strstr(gpu->driver, "vfio") || strcmp(gpu->driver, "pci-stub") == 0;
}

bool gpu_is_usable(const struct gpu *gpu)
{
    return gpu->driver[0] && !gpu->is_excluded && !gpu_is_passed_through(gpu);
}

const char *gpu_vendor_name(enum gpu_vendor vendor)
{
    const struct gpu_vendor_info *info = gpu_vendor_info(vendor);

    return info ? info->name : "other";
}
