/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/gpu/state.h"

#include <stddef.h>
#include <stdint.h>

/* librocm_smi64.so over a file of text. Prototypes, structures and numbers: rocm_smi.h of ROCm SMI
 * 7.3 (ROCm 6.2). A healthy device is an MI250X. */

enum {
    OK = 0,
    INVALID_ARGS = 1,
    NOT_SUPPORTED = 2,
    INIT_ERROR = 8,
    INSUFFICIENT_SIZE = 11,
};

static int is_started;

#define ENTER(index, answer)                                                                       \
    do {                                                                                           \
        int result_ = !is_started                            ? INIT_ERROR                          \
                      : index >= device_count() || !(answer) ? INVALID_ARGS                        \
                                                             : state_enter((int)index, __func__);  \
        if (result_ != OK)                                                                         \
            return result_;                                                                        \
    } while (0)
#define NUMBER(key, standard) state_number((int)index, key, standard)

static uint32_t device_count(void)
{
    return (uint32_t)state_number(-1, "devices", 8);
}

static int copy(const char *value, char *text, size_t length)
{
    if (strlen(value) + 1 > length)
        return INSUFFICIENT_SIZE;
    strcpy(text, value);
    return OK;
}

API(rsmi_init, uint64_t flags)
{
    int result = state_enter(-1, __func__);

    (void)flags;
    if (result != OK)
        return result;
    if (access(state_path(), R_OK) != 0 || strcmp(state_text(-1, "vendor", "amd"), "amd") != 0)
        return INIT_ERROR;
    is_started = 1;
    return OK;
}

API(rsmi_num_monitor_devices, uint32_t *count)
{
    int result = state_enter(-1, __func__);

    *count = device_count();
    return result;
}

struct version {
    uint32_t major, minor, patch;
    const char *build;
};

API(rsmi_version_get, struct version *version)
{
    *version = (struct version){7, 3, 0, "7.3.0"};
    return OK;
}

API(rsmi_version_str_get, int component, char *text, uint32_t length)
{
    return component == 0 ? copy(state_text(-1, "driver", "6.8.5"), text, length) : NOT_SUPPORTED;
}

API(rsmi_dev_name_get, uint32_t index, char *name, size_t length)
{
    ENTER(index, name);
    return copy(state_text((int)index, "name", "AMD Instinct MI250X"), name, length);
}

API(rsmi_dev_pci_id_get, uint32_t index, uint64_t *bdf)
{
    static const unsigned buses[8] = {0xc1, 0xc6, 0xc9, 0xce, 0xd1, 0xd6, 0xd9, 0xde};

    ENTER(index, bdf);
    *bdf = (uint64_t)buses[index % 8] << 8;
    return OK;
}

API(rsmi_dev_unique_id_get, uint32_t index, uint64_t *id)
{
    ENTER(index, id);
    *id = 0x5f1a9b3c00000000 + index;
    return OK;
}

API(rsmi_dev_vbios_version_get, uint32_t index, char *text, uint32_t length)
{
    ENTER(index, text);
    return copy("113-D65209-073", text, length);
}

API(rsmi_dev_xgmi_hive_id_get, uint32_t index, uint64_t *hive)
{
    ENTER(index, hive);
    *hive = 0x1a2b3c4d5e6f7081;
    return OK;
}

API(rsmi_dev_temp_metric_get, uint32_t index, uint32_t sensor, int metric, int64_t *millidegrees)
{
    ENTER(index, millidegrees);
    if (sensor != 1 || (metric != 0 && metric != 5))
        return NOT_SUPPORTED;
    *millidegrees =
        1000 * (metric == 0 ? NUMBER("temperature", 38) : NUMBER("temperature_limit", 105));
    return OK;
}

API(rsmi_dev_power_cap_get, uint32_t index, uint32_t sensor, uint64_t *cap)
{
    ENTER(index, cap);
    *cap = (uint64_t)NUMBER("power_limit", 560000) * 1000;
    return sensor == 0 ? OK : NOT_SUPPORTED;
}

API(rsmi_dev_power_cap_default_get, uint32_t index, uint64_t *cap)
{
    ENTER(index, cap);
    *cap = (uint64_t)NUMBER("power_limit_default", 560000) * 1000;
    return OK;
}

API(rsmi_dev_memory_total_get, uint32_t index, int type, uint64_t *total)
{
    ENTER(index, total);
    *total = (uint64_t)NUMBER("memory", 68702699520);
    return type == 0 ? OK : NOT_SUPPORTED;
}

API(rsmi_dev_memory_usage_get, uint32_t index, int type, uint64_t *used)
{
    ENTER(index, used);
    *used = (uint64_t)NUMBER("memory_used", 0) + 11000000;
    return type == 0 ? OK : NOT_SUPPORTED;
}

API(rsmi_dev_pci_replay_counter_get, uint32_t index, uint64_t *count)
{
    ENTER(index, count);
    *count = (uint64_t)NUMBER("pcie_replays", 0);
    return OK;
}

API(rsmi_dev_xgmi_error_status, uint32_t index, int *status)
{
    ENTER(index, status);
    *status = (int)NUMBER("link_status", 0);
    return OK;
}

API(rsmi_dev_ecc_enabled_get, uint32_t index, uint64_t *blocks)
{
    ENTER(index, blocks);
    *blocks = NUMBER("ecc", 1) ? 1 | 4 | 0x80 : 0;
    return OK;
}

struct error_count {
    uint64_t correctable, uncorrectable;
};

API(rsmi_dev_ecc_count_get, uint32_t index, uint64_t block, struct error_count *count)
{
    ENTER(index, count);
    *count = (struct error_count){0, 0};
    if (block == 1)
        *count = (struct error_count){(uint64_t)NUMBER("ecc_volatile_corrected", 0),
                                      (uint64_t)NUMBER("ecc_volatile_uncorrected", 0)};
    else if (block == 0x80)
        count->correctable = (uint64_t)NUMBER("link_crc_errors", 0);
    return block == 1 || block == 4 || block == 0x80 ? OK : NOT_SUPPORTED;
}

struct page {
    uint64_t address, size;
    int status;
};

API(rsmi_dev_memory_reserved_pages_get, uint32_t index, uint32_t *count, struct page *pages)
{
    uint32_t retired = (uint32_t)NUMBER("rows_uncorrected", 0);
    uint32_t pending = (uint32_t)NUMBER("rows_pending", 0);
    uint32_t all = retired + pending + (uint32_t)NUMBER("rows_failed", 0), size = *count;

    ENTER(index, count);
    for (uint32_t i = 0; pages && i < all && i < size; i++)
        pages[i] = (struct page){i * 4096, 4096, i < retired ? 0 : i < retired + pending ? 1 : 2};
    *count = all;
    return pages && all > size ? INSUFFICIENT_SIZE : OK;
}

API(rsmi_dev_compute_partition_get, uint32_t index, char *text, uint32_t length)
{
    ENTER(index, text);
    (void)length;
    return NOT_SUPPORTED; /* MI250X has none */
}

struct process {
    uint32_t process_id, pasid;
    uint64_t vram_usage, sdma_usage;
    uint32_t cu_occupancy;
};

API(rsmi_compute_process_info_get, struct process *processes, uint32_t *count)
{
    uint32_t size = *count, found = 0;

    for (uint32_t i = 0; i < device_count(); i++) {
        uint32_t pid = (uint32_t)state_number((int)i, "process", 0);

        if (pid > 0 && processes && found < size)
            processes[found] = (struct process){pid, 0, 0, 0, 0};
        found += pid > 0;
    }
    *count = found;
    return OK;
}

API(rsmi_compute_process_gpus_get, uint32_t pid, uint32_t *indices, uint32_t *count)
{
    uint32_t size = *count, found = 0;

    for (uint32_t i = 0; i < device_count(); i++)
        if (state_number((int)i, "process", 0) == (long long)pid && found < size)
            indices[found++] = i;
    *count = found;
    return OK;
}
