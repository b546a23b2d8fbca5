/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/gpu/vendor.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/sysfs.h"
#include "lib/node/inventory-parts.h"

/* The driver's files: Linux's Documentation/ABI/testing/sysfs-driver-habanalabs. */

/* ---------------------------------------------------------------- the driver's files */

static void read_card(const char *root, const char *card, struct gpu *gpu)
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
static void read_class(const char *root, const char *class, const char *prefix,
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
        read_card(root, card, gpu);
        snprintf(gpu->device_file, sizeof gpu->device_file, "%s/%.32s", device_directory, names[i]);
        break;
    }
    sysfs_names_free(names, count);
}

static void read_gpu(const char *root, const char *device, struct gpu *gpu)
{
    (void)device;
    read_class(root, "habanalabs", "hl", "", "/dev", gpu);
    read_class(root, "accel", "accel", "/device", "/dev/accel", gpu);
}

/* ---------------------------------------------------------------- a job's variables */

/* Returns the number at the end of "/dev/accel/accel5" or "/dev/hl5", or -1. */
static long device_number(const struct gpu *gpu)
{
    const char *digits = gpu->device_file + strlen(gpu->device_file);

    while (digits > gpu->device_file && isdigit((unsigned char)digits[-1]))
        digits--;
    return *digits != '\0' ? strtol(digits, NULL, 10) : -1;
}

static long find_gpu(const struct gpu_choice *choice, long number, bool is_module)
{
    for (size_t i = 0; i < choice->count; i++)
        if ((is_module ? gpu_choice_at(choice, i)->ordinal
                       : device_number(gpu_choice_at(choice, i))) == number)
            return (long)i;
    return -1;
}

static int filter_visible(struct gpu_choice *choice)
{
    static const char *const names[] = {"HLS_MODULE_ID", "HABANA_VISIBLE_MODULES",
                                        "HABANA_VISIBLE_DEVICES"};
    size_t indexes[INVENTORY_GPUS], count = 0, i = 0;
    const char *list = NULL;
    char token[GPU_LIST_WORD];

    for (; i < 3 && (list == NULL || *list == '\0'); i++)
        list = choice->getenv_fn(names[i], choice->context);
    if (list == NULL || *list == '\0' || strcmp(list, "all") == 0)
        return 0;
    gpu_choice_show(choice, names[i - 1], list);
    for (size_t j = 0; j < choice->count && i < 3; j++)
        if (gpu_choice_at(choice, j)->ordinal < 0)
            return gpu_choice_fail(choice, "the driver does not report module numbers");
    for (const char *rest = list; rest != NULL;) {
        long number, index;

        rest = gpu_list_next(rest, token);
        number = gpu_list_index(token, true);
        if (number == GPU_LIST_NO_INDEX)
            return gpu_choice_fail(choice, "not a list of numbers");
        index = find_gpu(choice, number, i < 3);
        if (!gpu_choice_check_entry(choice, token, rest, index >= 0))
            return gpu_choice_fail(choice, i < 3
                                               ? "no module that can be opened has such a number"
                                               : "no device that can be opened has such a number");
        if (!gpu_list_has(indexes, count, (size_t)index))
            indexes[count++] = (size_t)index;
    }
    gpu_choice_keep(choice, indexes, count);
    return 0;
}

const struct gpu_vendor_info gpu_vendor_gaudi = {
    .name = "Gaudi",
    .pci_vendor = 0x1da3,
    .driver = "habanalabs",
    .driver_difference = "HCCL needs the same driver version on all nodes of a job",
    .read = read_gpu,
    .filter = filter_visible,
};
