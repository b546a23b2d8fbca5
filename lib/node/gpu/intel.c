/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/gpu/vendor.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sysfs.h"
#include "lib/node/gpu/files.h"
#include "lib/node/inventory-parts.h"

/* ---------------------------------------------------------------- the driver's files */

/* A tile is device/tileN with the driver xe, and drm/cardN/gt/gtN with i915 (as in Intel's
 * compute-runtime, ioctl_helper_xe.cpp and ioctl_helper_i915.cpp). */
static void read_gpu(const char *root, const char *device, struct gpu *gpu)
{
    char **names, directory[SYSFS_PATH];
    size_t count = sysfs_names(root, &names, "%s/drm", device);

    gpu_read_render_file(root, device, gpu);
    gpu->tile_count = (int)gpu_count_numbered(root, "tile", device);
    for (size_t i = 0; i < count && gpu->tile_count == 0; i++)
        if (strncmp(names[i], "card", 4) == 0 && FITS(directory, "%s/drm/%s/gt", device, names[i]))
            gpu->tile_count = (int)gpu_count_numbered(root, "gt", directory);
    sysfs_names_free(names, count);
}

/* ---------------------------------------------------------------- a job's variables */

/* Returns whether tiles are devices ("FLAT", "COMBINED") or cards ("COMPOSITE"). The default is
 * tiles on the Data Center GPU Max only (compute-runtime, gfx_core_helper_xe_hpc_core.cpp); for its
 * cards with one tile it makes no difference. */
static bool are_tiles_devices(const struct gpu_choice *choice)
{
    const char *hierarchy = choice->getenv_fn("ZE_FLAT_DEVICE_HIERARCHY", choice->context);

    if (hierarchy != NULL && strcmp(hierarchy, "COMPOSITE") == 0)
        return false;
    if (hierarchy != NULL && (strcmp(hierarchy, "FLAT") == 0 || strcmp(hierarchy, "COMBINED") == 0))
        return true;
    for (size_t i = 0; i < choice->count; i++)
        if (strncmp(gpu_choice_at(choice, i)->model, "8086:0bd", strlen("8086:0bd")) == 0)
            return true;
    return false;
}

/* Returns the index of the GPU that has the device with this number; choice->count if there is
 * none; -1 if the driver does not report a GPU's tiles. */
static long find_gpu(const struct gpu_choice *choice, long number, bool has_tiles)
{
    long first = 0;

    for (size_t i = 0; i < choice->count; i++) {
        long devices = has_tiles ? gpu_choice_at(choice, i)->tile_count : 1;

        if (devices == 0)
            return -1;
        first += devices;
        if (number < first)
            return (long)i;
    }
    return (long)choice->count;
}

/* Skips entries that name no device, and CARD.TILE if tiles are devices. Keeps the GPUs in the
 * order of PCI addresses (compute-runtime's parseAffinityMask()). */
static int filter_visible(struct gpu_choice *choice)
{
    const char *list = choice->getenv_fn("ZE_AFFINITY_MASK", choice->context);
    bool has_tiles = are_tiles_devices(choice), is_kept[INVENTORY_GPUS] = {false};
    size_t indexes[INVENTORY_GPUS], count = 0;
    char token[GPU_LIST_WORD];

    if (list == NULL || *list == '\0' || strcmp(list, "default") == 0)
        return 0;
    gpu_choice_show(choice, "ZE_AFFINITY_MASK", list);
    for (const char *rest = list; rest != NULL;) {
        long number, index;
        char *end;

        rest = gpu_list_next(rest, token);
        number = strtol(token, &end, 10); /* LONG_MAX if too large */
        if (!isdigit((unsigned char)*token) || (*end != '\0' && *end != '.'))
            return gpu_choice_fail(choice, "not a list of devices");
        index =
            has_tiles && *end == '.' ? (long)choice->count : find_gpu(choice, number, has_tiles);
        if (index < 0)
            return gpu_choice_fail(choice, "the driver does not report how many tiles a GPU has");
        if (index == (long)choice->count)
            choice->is_cut = true;
        else
            is_kept[index] = true;
    }
    for (size_t i = 0; i < choice->count; i++)
        if (is_kept[i])
            indexes[count++] = i;
    gpu_choice_keep(choice, indexes, count);
    return 0;
}

/* Returns whether it is a graphics card (VGA), an FPGA or NPU (class accelerator), or the graphics
 * of a processor, always at 0000:00:02.0. */
static bool is_other_device(const char *pci, long long class, long long device)
{
    (void)device;
    return class != PCI_CLASS_DISPLAY || strcmp(pci, "0000:00:02.0") == 0;
}

const struct gpu_vendor_info gpu_vendor_intel = {
    .name = "Intel",
    .pci_vendor = 0x8086,
    .auto_detect = {"oneapi"},
    .is_other_device = is_other_device,
    .read = read_gpu,
    .filter = filter_visible,
};
