/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/gpu/vendor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/node/gpu/files.h"
#include "lib/node/gpu/mig.h"
#include "lib/node/inventory-parts.h"

/* The driver's files: NVIDIA's README, chapter "Using the /proc file system interface". */

/* ---------------------------------------------------------------- the driver's files */

/* Reads the driver's version: of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue
 * Mar ..." the first word that begins with a digit and has a dot. */
static void read_driver(const char *root, char *version, size_t size)
{
    char line[256], *rest = line, *word;

    if (sysfs_line(root, version, size, "sys/module/nvidia/version") == 0 ||
        sysfs_line(root, line, sizeof line, "proc/driver/nvidia/version") < 0)
        return;
    while ((word = strsep(&rest, " "))) {
        if (word[0] >= '0' && word[0] <= '9' && strchr(word, '.')) {
            snprintf(version, size, "%s", word);
            return;
        }
    }
}

/* Reads the value of a line "KEY value". Leaves value unchanged if there is no such line or
 * value. */
static void read_key(const char *text, const char *key, char *value, size_t size)
{
    const char *found = text_after(text, key);

    found = found ? found + strspn(found, " \t") : "";
    if (*found && *found != '\n')
        snprintf(value, size, "%.*s", (int)strcspn(found, "\r\n"), found);
}

/* A GPU that is divided has directories of GPU instances, "gi7", with directories of their compute
 * instances, "ci0" (NVIDIA's MIG User Guide, "/proc based nvidia-capabilities"). */
#define CAPABILITIES "proc/driver/nvidia/capabilities"

size_t mig_instances_count(const char *root)
{
    char **gpus, **instances, directory[SYSFS_PATH];
    size_t gpu_count = sysfs_names(root, &gpus, CAPABILITIES), found = 0;

    for (size_t i = 0; i < gpu_count; i++) {
        size_t count = sysfs_names(root, &instances, CAPABILITIES "/%s/mig", gpus[i]);

        for (size_t k = 0; k < count; k++)
            if (FITS(directory, CAPABILITIES "/%s/mig/%s", gpus[i], instances[k]))
                found += gpu_count_numbered(root, "ci", directory);
        sysfs_names_free(instances, count);
    }
    sysfs_names_free(gpus, gpu_count);
    return found;
}

static void read_gpu(const char *root, const char *device, struct gpu *gpu)
{
    char minor[16] = "", excluded[8] = "", mig[64];
    char *text =
        sysfs_file(root, 16384, "proc/driver/nvidia/gpus/%s/information", gpu->location.pci);

    (void)device;
    if (!text)
        return;
    read_key(text, "Model:", gpu->model, sizeof gpu->model);
    /* these are "GPU-????????-..." and "??.??.??.??.??" while nobody uses the GPU */
    read_key(text, "GPU UUID:", gpu->serial, sizeof gpu->serial);
    if (strchr(gpu->serial, '?'))
        gpu->serial[0] = '\0';
    read_key(text, "Video BIOS:", gpu->firmware, sizeof gpu->firmware);
    if (strchr(gpu->firmware, '?'))
        gpu->firmware[0] = '\0';
    read_key(text, "GPU Excluded:", excluded, sizeof excluded);
    gpu->is_excluded = strcmp(excluded, "Yes") == 0;
    read_key(text, "Device Minor:", minor, sizeof minor);
    if (minor[0] >= '0' && minor[0] <= '9') {
        snprintf(gpu->device_file, sizeof gpu->device_file, "/dev/nvidia%ld",
                 strtol(minor, NULL, 10));
        snprintf(mig, sizeof mig, CAPABILITIES "/gpu%ld/mig", strtol(minor, NULL, 10));
        gpu->is_partitioned = gpu_count_numbered(root, "gi", mig) > 0;
    }
    free(text);
}

/* ---------------------------------------------------------------- a job's variables */

/* Returns why indices do not show which GPUs they mean, or NULL. */
static const char *index_problem(const struct gpu_choice *choice)
{
    const char *order = choice->getenv_fn("CUDA_DEVICE_ORDER", choice->context);

    if (choice->count < 2)
        return NULL;
    if (gpu_choice_has_partitions(choice))
        return "GPUs with MIG instances have no indices of their own";
    if ((order == NULL || strcmp(order, "PCI_BUS_ID") != 0) && !gpu_choice_is_alike(choice))
        return "CUDA numbers different models by speed, unless CUDA_DEVICE_ORDER=PCI_BUS_ID";
    return NULL;
}

/* Returns the index of the GPU of a MIG device, as gpu_choice_find_id(). "MIG-GPU-UUID/gi/ci" has
 * the GPU's UUID. "MIG-UUID" has only its own, so there must be only one GPU that can have it. */
static long find_mig(const struct gpu_choice *choice, const char *token)
{
    const char *id = token + strlen("MIG-");
    size_t partitioned = 0, found = 0;

    if (strncmp(id, "GPU-", strlen("GPU-")) == 0)
        return gpu_choice_find_id(choice, id, strcspn(id, "/"));
    for (size_t i = 0; i < choice->count; i++)
        if (gpu_choice_at(choice, i)->is_partitioned) {
            partitioned++;
            found = i;
        }
    if (choice->count == 1)
        return 0;
    return partitioned == 1 ? (long)found : -1;
}

/* The first entry decides whether the list is of GPUs, of MIG devices or of indices. */
static int filter_visible(struct gpu_choice *choice)
{
    const char *list = choice->getenv_fn("CUDA_VISIBLE_DEVICES", choice->context);
    const char *why_no_index = index_problem(choice), *prefix = "";
    size_t indexes[INVENTORY_GPUS], count = 0;
    char token[GPU_LIST_WORD];

    if (list == NULL)
        return choice->count > 1 && gpu_choice_has_partitions(choice)
                   ? gpu_choice_fail(choice, "GPUs with MIG instances, and no CUDA_VISIBLE_DEVICES")
                   : 0;
    gpu_choice_show(choice, "CUDA_VISIBLE_DEVICES", list);
    gpu_list_next(list, token);
    if (strncmp(token, "GPU-", 4) == 0 || strncmp(token, "MIG-", 4) == 0)
        prefix = *token == 'G' ? "GPU-" : "MIG-";
    for (const char *rest = list; rest != NULL;) {
        long index;

        rest = gpu_list_next(rest, token);
        if (!gpu_choice_check_entry(choice, token, rest,
                                    strncmp(token, prefix, strlen(prefix)) == 0))
            break;
        index = *prefix == 'G'   ? gpu_choice_find_id(choice, token, strlen(token))
                : *prefix == 'M' ? find_mig(choice, token)
                                 : gpu_list_index(token, false);
        if (*prefix == '\0' &&
            !gpu_choice_check_entry(choice, token, rest, index != GPU_LIST_NO_INDEX))
            break;
        if (index < 0)
            return gpu_choice_fail(choice, "the driver does not report which GPU that is");
        if (!gpu_choice_check_entry(choice, token, rest, index < (long)choice->count))
            break;
        if (*prefix == '\0' && why_no_index != NULL)
            return gpu_choice_fail(choice, why_no_index);
        if (!gpu_list_has(indexes, count, (size_t)index)) {
            indexes[count++] = (size_t)index;
        } else if (*prefix != 'M') { /* two MIG devices may be of one GPU */
            count = 0;               /* any other duplicate makes the list invalid */
            choice->is_cut = true;
            break;
        }
    }
    gpu_choice_keep(choice, indexes, count);
    return 0;
}

const struct gpu_vendor_info gpu_vendor_nvidia = {
    .name = "NVIDIA",
    .pci_vendor = 0x10de,
    .driver = "nvidia",
    .driver_difference = "NCCL and CUDA need the same driver version on all nodes of a job",
    .auto_detect = {"nvml", "nvidia"},
    .common_files = {{"/dev/nvidiactl", "CUDA", true}, {"/dev/nvidia-uvm", "CUDA", true}},
    .peer_modules = {"nvidia_peermem", "nv_peer_mem", "gdrdrv"},
    .read_driver = read_driver,
    .read = read_gpu,
    .filter = filter_visible,
};
