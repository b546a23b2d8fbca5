/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/inventory-parts.h"
#include "lib/base/sysfs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* PCI vendor and class codes: the PCI ID repository. What the drivers show: NVIDIA's README chapter
 * "Using the /proc file system interface", Linux's Documentation/gpu/amdgpu/driver-misc.rst and
 * Documentation/ABI/testing/sysfs-driver-habanalabs. */

enum {
    VENDOR_NVIDIA = 0x10de,
    VENDOR_AMD = 0x1002,
    VENDOR_HABANA = 0x1da3,
    VENDOR_INTEL = 0x8086,
    CLASS_VGA = 0x0300,
    CLASS_3D = 0x0302,
    CLASS_DISPLAY = 0x0380, /* MI100 to MI250; Intel's Max and Flex */
    CLASS_ACCELERATOR = 0x1200,
};

static bool is_gpu_class(long long class)
{
    class >>= 8;
    return class == CLASS_VGA || class == CLASS_3D || class == CLASS_DISPLAY ||
           class == CLASS_ACCELERATOR;
}

/* Display chips of AMD's that sit on server boards: Rage XL and ES1000. */
static bool is_board_display(long long vendor, long long device)
{
    return vendor == VENDOR_AMD && (device == 0x4752 || device == 0x515e || device == 0x5969);
}

/* What of Intel's makes pictures (VGA), is an FPGA or an NPU (accelerators), or is part of a
 * processor and has its place on the bus, 0000:00:02.0. */
static bool is_no_data_centre_gpu(long long vendor, long long class, const char *pci)
{
    return vendor == VENDOR_INTEL &&
           (class >> 8 != CLASS_DISPLAY || strcmp(pci, "0000:00:02.0") == 0);
}

static enum gpu_vendor gpu_vendor_of(long long vendor)
{
    switch (vendor) {
    case VENDOR_NVIDIA:
        return GPU_NVIDIA;
    case VENDOR_AMD:
        return GPU_AMD;
    case VENDOR_HABANA:
        return GPU_GAUDI;
    case VENDOR_INTEL:
        return GPU_INTEL;
    default:
        return GPU_OTHER;
    }
}

/* The value of the line "Key:   value" in text; leaves value alone when there is none or it is
 * empty. */
static void read_key(const char *text, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == ':') {
            line += length + 1;
            line += strspn(line, " \t");
            if (*line == '\n' || !*line)
                return;
            snprintf(value, size, "%.*s", (int)strcspn(line, "\r\n"), line);
            return;
        }
    }
}

/* NVIDIA's MIG User Guide, "/proc based nvidia-capabilities": a GPU instance is a directory there.
 */
static bool has_mig_instances(const char *root, long minor)
{
    char **names;
    size_t count = sysfs_names(root, &names, "proc/driver/nvidia/capabilities/gpu%ld/mig", minor);
    bool found = false;

    for (size_t i = 0; i < count && !found; i++)
        found = strncmp(names[i], "gi", 2) == 0;
    sysfs_names_free(names, count);
    return found;
}

static void read_nvidia(const char *root, struct gpu *gpu)
{
    char minor[16] = "";
    char *text =
        sysfs_file(root, 16384, "proc/driver/nvidia/gpus/%s/information", gpu->location.pci);

    if (!text)
        return;
    read_key(text, "Model", gpu->model, sizeof gpu->model);
    read_key(text, "GPU UUID", gpu->serial, sizeof gpu->serial);
    if (strchr(gpu->serial, '?'))
        gpu->serial[0] = '\0'; /* "GPU-????????-..." before the first use */
    read_key(text, "Video BIOS", gpu->firmware, sizeof gpu->firmware);
    read_key(text, "Device Minor", minor, sizeof minor);
    if (minor[0] >= '0' && minor[0] <= '9') {
        snprintf(gpu->device_file, sizeof gpu->device_file, "/dev/nvidia%ld",
                 strtol(minor, NULL, 10));
        gpu->is_partitioned = has_mig_instances(root, strtol(minor, NULL, 10));
    }
    free(text);
}

/* ras/umc_err_count and its like hold "ue: 0\nce: 3\n", one file per block of the chip. */
static void read_amd_ras(const char *root, const char *device, struct gpu *gpu)
{
    char **names;
    size_t count = sysfs_names(root, &names, "%s/ras", device);

    for (size_t i = 0; i < count; i++) {
        char *text = strstr(names[i], "_err_count")
                         ? sysfs_file(root, 4096, "%s/ras/%s", device, names[i])
                         : NULL;
        char uncorrected[32] = "", corrected[32] = "";

        if (!text)
            continue;
        read_key(text, "ue", uncorrected, sizeof uncorrected);
        read_key(text, "ce", corrected, sizeof corrected);
        free(text);
        if (uncorrected[0])
            gpu->ecc_uncorrected = (gpu->ecc_uncorrected < 0 ? 0 : gpu->ecc_uncorrected) +
                                   strtol(uncorrected, NULL, 10);
        if (corrected[0])
            gpu->ecc_corrected =
                (gpu->ecc_corrected < 0 ? 0 : gpu->ecc_corrected) + strtol(corrected, NULL, 10);
    }
    sysfs_names_free(names, count);
}

static void read_render_file(const char *root, const char *device, struct gpu *gpu)
{
    char **names;
    size_t count = sysfs_names(root, &names, "%s/drm", device);

    for (size_t i = 0; i < count; i++)
        if (strncmp(names[i], "renderD", 7) == 0 && !gpu->device_file[0])
            snprintf(gpu->device_file, sizeof gpu->device_file, "/dev/dri/%.32s", names[i]);
    sysfs_names_free(names, count);
}

/* "domain 0\nlocation_id 18176\nhive_id 123\n...", location_id = bus << 8 | device << 3 | function
 */
static long long kfd_property(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return (long long)strtoull(line + length, NULL, 10);
    }
    return 0;
}

static bool kfd_is_gpu(const char *text, unsigned domain, unsigned location)
{
    return kfd_property(text, "simd_count") > 0 &&
           kfd_property(text, "domain") == (long long)domain &&
           kfd_property(text, "location_id") == (long long)location;
}

/* Number and hive of the KFD topology nodes with the GPU's PCI address. */
static void read_amd_nodes(const char *root, struct gpu *gpu)
{
    unsigned domain, bus, slot, function;
    char **names;
    size_t count;

    if (sscanf(gpu->location.pci, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
        return;
    count = sysfs_names(root, &names, "sys/class/kfd/kfd/topology/nodes");
    for (size_t i = 0; i < count; i++) {
        char *text =
            sysfs_file(root, 16384, "sys/class/kfd/kfd/topology/nodes/%s/properties", names[i]);

        if (text && kfd_is_gpu(text, domain, bus << 8 | slot << 3 | function)) {
            gpu->is_partitioned = gpu->is_partitioned || gpu->ordinal >= 0;
            if (gpu->ordinal < 0)
                gpu->ordinal = (int)strtol(names[i], NULL, 10);
            if (!gpu->fabric_id[0] && kfd_property(text, "hive_id") != 0)
                snprintf(gpu->fabric_id, sizeof gpu->fabric_id, "%llx",
                         (unsigned long long)kfd_property(text, "hive_id"));
        }
        free(text);
    }
    sysfs_names_free(names, count);
}

static void read_amd(const char *root, const char *device, struct gpu *gpu)
{
    char model[INVENTORY_NAME];

    if (sysfs_line(root, model, sizeof model, "%s/product_name", device) == 0 && model[0])
        strcpy(gpu->model, model);
    sysfs_line(root, gpu->serial, sizeof gpu->serial, "%s/unique_id", device);
    if (!gpu->serial[0])
        sysfs_line(root, gpu->serial, sizeof gpu->serial, "%s/serial_number", device);
    sysfs_line(root, gpu->firmware, sizeof gpu->firmware, "%s/vbios_version", device);
    gpu->memory_bytes = sysfs_number(root, "%s/mem_info_vram_total", device);
    read_amd_ras(root, device, gpu);
    read_render_file(root, device, gpu);
    read_amd_nodes(root, gpu);
}

/* How many of the names in a directory are the prefix and a number. */
static int count_numbered(const char *root, const char *prefix, const char *directory)
{
    char **names;
    size_t count = sysfs_names(root, &names, "%s", directory);
    int found = 0;

    for (size_t i = 0; i < count; i++) {
        const char *digits = names[i] + strlen(prefix);

        found += strncmp(names[i], prefix, strlen(prefix)) == 0 && *digits != '\0' &&
                 digits[strspn(digits, "0123456789")] == '\0';
    }
    sysfs_names_free(names, count);
    return found;
}

/* A tile is device/tileN with the driver xe and drm/cardN/gt/gtN with i915 (as Intel's
 * compute-runtime looks for them, ioctl_helper_xe.cpp and ioctl_helper_i915.cpp). */
static void read_intel(const char *root, const char *device, struct gpu *gpu)
{
    char **names, directory[SYSFS_PATH];
    size_t count = sysfs_names(root, &names, "%s/drm", device);

    read_render_file(root, device, gpu);
    gpu->tile_count = count_numbered(root, "tile", device);
    for (size_t i = 0; i < count && gpu->tile_count == 0; i++)
        if (strncmp(names[i], "card", 4) == 0 && FITS(directory, "%s/drm/%s/gt", device, names[i]))
            gpu->tile_count = count_numbered(root, "gt", directory);
    sysfs_names_free(names, count);
}

static void read_gaudi_card(const char *root, const char *card, struct gpu *gpu)
{
    char text[INVENTORY_NAME];
    long long hard, soft;

    sysfs_line(root, gpu->state, sizeof gpu->state, "%s/status", card);
    if (sysfs_line(root, text, sizeof text, "%s/device_type", card) == 0 && text[0])
        strcpy(gpu->model, text);
    sysfs_line(root, gpu->firmware, sizeof gpu->firmware, "%s/cpucp_ver", card);
    if (!gpu->firmware[0])
        sysfs_line(root, gpu->firmware, sizeof gpu->firmware, "%s/uboot_ver", card);
    gpu->ordinal = (int)sysfs_number(root, "%s/module_id", card);
    hard = sysfs_number(root, "%s/hard_reset_cnt", card);
    soft = sysfs_number(root, "%s/soft_reset_cnt", card);
    if (hard >= 0 || soft >= 0)
        gpu->reset_count = (long)((hard > 0 ? hard : 0) + (soft > 0 ? soft : 0));
}

/* Looks for the card with the GPU's PCI address in /sys/class/accel (since Linux 6.2) or
 * /sys/class/habanalabs. Other vendors have accel devices too. */
static void read_gaudi(const char *root, const char *class, const char *prefix,
                       const char *attributes, const char *device_directory, struct gpu *gpu)
{
    char **names;
    size_t count = sysfs_names(root, &names, "sys/class/%s", class);

    for (size_t i = 0; i < count; i++) {
        char card[SYSFS_PATH], pci[INVENTORY_NAME];
        struct location location;

        if (strncmp(names[i], prefix, strlen(prefix)) != 0 || strstr(names[i], "controlD") ||
            !FITS(card, "sys/class/%s/%s%s", class, names[i], attributes))
            continue;
        if (sysfs_line(root, pci, sizeof pci, "%s/pci_addr", card) < 0) {
            char device[SYSFS_PATH];

            if (!FITS(device, "sys/class/%s/%s/device", class, names[i]))
                continue;
            location_read(root, device, &location);
            strcpy(pci, location.pci);
        }
        if (strcasecmp(pci, gpu->location.pci) != 0)
            continue;
        read_gaudi_card(root, card, gpu);
        snprintf(gpu->device_file, sizeof gpu->device_file, "%s/%.32s", device_directory, names[i]);
        break;
    }
    sysfs_names_free(names, count);
}

static void read_gpu(const char *root, const char *pci, long long vendor, long long model,
                     struct gpu *gpu)
{
    char device[SYSFS_PATH];

    gpu->vendor = gpu_vendor_of(vendor);
    gpu->memory_bytes = gpu->ecc_uncorrected = gpu->ecc_corrected = gpu->reset_count = -1;
    gpu->ordinal = -1;
    if (!FITS(device, "sys/bus/pci/devices/%s", pci))
        return;
    location_read(root, device, &gpu->location);
    snprintf(gpu->location.pci, sizeof gpu->location.pci, "%s", pci);
    sysfs_link(root, gpu->driver, sizeof gpu->driver, "%s/driver", device);
    snprintf(gpu->model, sizeof gpu->model, "%04llx:%04llx", vendor, model);
    if (gpu->vendor == GPU_NVIDIA) {
        read_nvidia(root, gpu);
    } else if (gpu->vendor == GPU_AMD) {
        read_amd(root, device, gpu);
    } else if (gpu->vendor == GPU_INTEL) {
        read_intel(root, device, gpu);
    } else {
        read_gaudi(root, "habanalabs", "hl", "", "/dev", gpu);
        read_gaudi(root, "accel", "accel", "/device", "/dev/accel", gpu);
    }
}

/* Hexadecimal, so not in natural order; the domain may have more digits than four. */
static int compare_pci(const void *a, const void *b)
{
    const char *one = *(char *const *)a, *other = *(char *const *)b;
    size_t length = strlen(one), other_length = strlen(other);

    return length != other_length ? (length < other_length ? -1 : 1) : strcmp(one, other);
}

int gpus_read(const char *root, struct inventory *inventory, struct error *err)
{
    char **names;
    size_t count = sysfs_names(root, &names, "sys/bus/pci/devices");
    int result = 0;

    if (count > 1)
        qsort(names, count, sizeof *names, compare_pci);
    for (size_t i = 0; i < count && result == 0; i++) {
        long long class, vendor, device;

        if (!location_is_pci(names[i]))
            continue;
        class = sysfs_number(root, "sys/bus/pci/devices/%s/class", names[i]);
        if (class < 0 || !is_gpu_class(class))
            continue;
        vendor = sysfs_number(root, "sys/bus/pci/devices/%s/vendor", names[i]);
        device = sysfs_number(root, "sys/bus/pci/devices/%s/device", names[i]);
        if (gpu_vendor_of(vendor) == GPU_OTHER || is_board_display(vendor, device) ||
            is_no_data_centre_gpu(vendor, class, names[i]))
            continue;
        if (inventory->gpu_count == INVENTORY_GPUS)
            result = error_set(err, "more than %d GPUs", INVENTORY_GPUS);
        else
            read_gpu(root, names[i], vendor, device < 0 ? 0 : device,
                     &inventory->gpus[inventory->gpu_count++]);
    }
    sysfs_names_free(names, count);
    return result;
}
