/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/gpu/vendor.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/node/gpu/files.h"
#include "lib/node/inventory-parts.h"

/* The driver's files: Linux's Documentation/gpu/amdgpu/driver-misc.rst. */

/* ---------------------------------------------------------------- the driver's files */

/* Sums ras/umc_err_count and its like: "ue: 0\nce: 3\n", one file per block of the chip. */
static void read_ras(const char *root, const char *device, struct gpu *gpu)
{
    char **names;
    size_t count = sysfs_names(root, &names, "%s/ras", device);

    for (size_t i = 0; i < count; i++) {
        char *text = strstr(names[i], "_err_count")
                         ? sysfs_file(root, 4096, "%s/ras/%s", device, names[i])
                         : NULL;
        const char *uncorrected = text ? text_after(text, "ue: ") : NULL;
        const char *corrected = text ? text_after(text, "ce: ") : NULL;

        if (uncorrected)
            gpu->ecc_uncorrected = (gpu->ecc_uncorrected < 0 ? 0 : gpu->ecc_uncorrected) +
                                   strtol(uncorrected, NULL, 10);
        if (corrected)
            gpu->ecc_corrected =
                (gpu->ecc_corrected < 0 ? 0 : gpu->ecc_corrected) + strtol(corrected, NULL, 10);
        free(text);
    }
    sysfs_names_free(names, count);
}

/* Returns a number of a properties file, "domain 0\nlocation_id 18176\nhive_id 123\n...", or 0.
 * location_id = bus << 8 | device << 3; the number of the partition is in bits 28 to 31, with older
 * drivers in the bits of the function (Linux drivers/gpu/drm/amd/amdkfd/kfd_topology.c). */
static long long kfd_property(const char *text, const char *name)
{
    const char *number = text_after(text, name);

    return number ? (long long)strtoull(number, NULL, 10) : 0;
}

static bool kfd_is_gpu(const char *text, unsigned domain, unsigned bus, unsigned slot)
{
    return kfd_property(text, "simd_count ") > 0 &&
           kfd_property(text, "domain ") == (long long)domain &&
           (kfd_property(text, "location_id ") & 0xfff8) == (long long)(bus << 8 | slot << 3);
}

/* Reads ordinal, hive and partitioning from the KFD topology nodes with the GPU's PCI address. */
static void read_nodes(const char *root, struct gpu *gpu)
{
    unsigned domain, bus, slot;
    char **names;
    size_t count;

    if (sscanf(gpu->location.pci, "%x:%x:%x", &domain, &bus, &slot) != 3)
        return;
    count = sysfs_names(root, &names, "sys/class/kfd/kfd/topology/nodes");
    for (size_t i = 0; i < count; i++) {
        char *text =
            sysfs_file(root, 16384, "sys/class/kfd/kfd/topology/nodes/%s/properties", names[i]);

        if (text && kfd_is_gpu(text, domain, bus, slot)) {
            gpu->is_partitioned = gpu->is_partitioned || gpu->ordinal >= 0;
            if (gpu->ordinal < 0)
                gpu->ordinal = (int)strtol(names[i], NULL, 10);
            if (!gpu->fabric_id[0] && kfd_property(text, "hive_id ") != 0)
                snprintf(gpu->fabric_id, sizeof gpu->fabric_id, "%llx",
                         (unsigned long long)kfd_property(text, "hive_id "));
        }
        free(text);
    }
    sysfs_names_free(names, count);
}

static void read_gpu(const char *root, const char *device, struct gpu *gpu)
{
    char model[INVENTORY_NAME];

    if (sysfs_line(root, model, sizeof model, "%s/product_name", device) == 0 && model[0])
        strcpy(gpu->model, model);
    sysfs_line(root, gpu->serial, sizeof gpu->serial, "%s/unique_id", device);
    if (!gpu->serial[0])
        sysfs_line(root, gpu->serial, sizeof gpu->serial, "%s/serial_number", device);
    sysfs_line(root, gpu->firmware, sizeof gpu->firmware, "%s/vbios_version", device);
    gpu->memory_bytes = sysfs_number(root, "%s/mem_info_vram_total", device);
    read_ras(root, device, gpu);
    gpu_read_render_file(root, device, gpu);
    read_nodes(root, gpu);
}

/* ---------------------------------------------------------------- a job's variables */

/* Returns whether all serials are unique IDs: lists name GPUs by these and not by serial
 * numbers. */
static bool has_unique_ids(const struct gpu_choice *choice)
{
    for (size_t i = 0; i < choice->count; i++) {
        const char *serial = gpu_choice_at(choice, i)->serial;

        if (strspn(serial, "0123456789abcdefABCDEF") != 16 || serial[16])
            return false;
    }
    return true;
}

/* Returns the index of the GPU of an entry of ROCR_VISIBLE_DEVICES; choice->count if it names none;
 * -1 if the IDs are not known. */
static long find_gpu(const struct gpu_choice *choice, const char *token)
{
    char *end;
    long index;

    if (toupper((unsigned char)*token) == 'G') {
        if (strncasecmp(token, "GPU-", 4) != 0 || strlen(token) < 5 || strlen(token) > 20)
            return (long)choice->count;
        return has_unique_ids(choice) ? gpu_choice_find_id(choice, token + 4, strlen(token + 4))
                                      : -1;
    }
    index = strtol(token, &end, 0); /* LONG_MAX if too large */
    return end == token || *end != '\0' || index < 0 || index > (long)choice->count
               ? (long)choice->count
               : index;
}

/* Restricts the choice by a list. is_rocr: ROCR_VISIBLE_DEVICES, which ends at a duplicate entry;
 * HIP skips such an entry. */
static int filter_list(struct gpu_choice *choice, const char *name, const char *list, bool is_rocr,
                       const char *why_no_index)
{
    size_t indexes[INVENTORY_GPUS], count = 0;
    char token[GPU_LIST_WORD];

    gpu_choice_show(choice, name, list);
    for (const char *rest = list; rest != NULL;) {
        bool is_id, is_double;
        long index;

        rest = gpu_list_next(rest, token);
        is_id = strncasecmp(token, "GPU-", 4) == 0;
        if (is_rocr || is_id) {
            index = find_gpu(choice, token);
        } else {
            bool is_canonical = isdigit((unsigned char)*token) && (*token != '0' || !token[1]);

            index = is_canonical ? gpu_list_index(token, true) : GPU_LIST_NO_INDEX;
            if (!gpu_choice_check_entry(choice, token, rest, index != GPU_LIST_NO_INDEX))
                break;
        }
        if (index < 0)
            return gpu_choice_fail(choice, "the driver does not report which GPU that is");
        if (isdigit((unsigned char)*token) && gpu_choice_has_partitions(choice))
            return gpu_choice_fail(choice, "the indices are of partitions, not of GPUs");
        if (!gpu_choice_check_entry(choice, token, rest, index < (long)choice->count))
            break;
        if (!is_id && why_no_index != NULL)
            return gpu_choice_fail(choice, why_no_index);
        is_double = gpu_list_has(indexes, count, (size_t)index);
        if (is_double && is_rocr)
            break;
        if (!is_double)
            indexes[count++] = (size_t)index;
    }
    gpu_choice_keep(choice, indexes, count);
    return 0;
}

static int filter_visible(struct gpu_choice *choice)
{
    const char *list = choice->getenv_fn("ROCR_VISIBLE_DEVICES", choice->context);
    const char *name = "HIP_VISIBLE_DEVICES", *why_no_index = NULL;

    if (!gpu_choice_sort(choice))
        why_no_index = "the driver does not report how it numbers the GPUs";
    if (list != NULL && filter_list(choice, "ROCR_VISIBLE_DEVICES", list, true, why_no_index) < 0)
        return -1;
    list = choice->getenv_fn(name, choice->context);
    if (list == NULL || *list == '\0') {
        name = "CUDA_VISIBLE_DEVICES";
        list = choice->getenv_fn(name, choice->context);
    }
    if (list == NULL || *list == '\0')
        return 0;
    if (why_no_index == NULL && !gpu_choice_is_alike(choice))
        why_no_index = "HIP numbers GPUs of different models in its own order";
    return filter_list(choice, name, list, false, why_no_index);
}

/* Returns whether it is a display chip of a server board: Rage XL or ES1000. */
static bool is_other_device(const char *pci, long long class, long long device)
{
    (void)pci;
    (void)class;
    return device == 0x4752 || device == 0x515e || device == 0x5969;
}

const struct gpu_vendor_info gpu_vendor_amd = {
    .name = "AMD",
    .pci_vendor = 0x1002,
    .driver = "amdgpu",
    .driver_difference = "RCCL and ROCm need the same driver version on all nodes of a job",
    .auto_detect = {"rsmi"},
    .common_files = {{"/dev/kfd", "ROCm", false}},
    .has_partition_files = true,
    .is_other_device = is_other_device,
    .read = read_gpu,
    .filter = filter_visible,
};
