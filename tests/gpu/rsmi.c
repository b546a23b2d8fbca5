/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/gpu/amd.h"

/* A stand-in for librocm_smi64.so. Prototypes, structures and constants: rocm_smi.h of ROCm SMI 7.3
 * (ROCm 6.2). A healthy device is an MI250X. */

enum { NOT_STARTED = 8, INSUFFICIENT_SIZE = 11 };

typedef uint32_t device_t;

static int device_index(device_t device)
{
    return (int)device < device_count() ? (int)device : -1;
}

API(rsmi_init, uint64_t flags)
{
    return start(__func__, NOT_STARTED);
}

API(rsmi_num_monitor_devices, uint32_t *count)
{
    int result = state_enter(-1, __func__);

    *count = (uint32_t)device_count();
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
    return component == 0 ? COPY(state_text(-1, "driver", "6.8.5"), text, length) : NOT_SUPPORTED;
}

DEFINE_TEXT(rsmi_dev_name_get, size_t, state_text((int)device, "name", "AMD Instinct MI250X"))

API(rsmi_dev_pci_id_get, device_t device, uint64_t *bdf)
{
    static const unsigned buses[8] = {0xc1, 0xc6, 0xc9, 0xce, 0xd1, 0xd6, 0xd9, 0xde};

    ENTER(device, bdf);
    *bdf = (uint64_t)buses[device % 8] << 8;
    return OK;
}

DEFINE_TEXT(rsmi_dev_vbios_version_get, uint32_t, "113-D65209-073")
DEFINE_NUMBER(rsmi_dev_unique_id_get, uint64_t, 0x5f1a9b3c00000000 + device)
DEFINE_NUMBER(rsmi_dev_xgmi_hive_id_get, uint64_t, 0x1a2b3c4d5e6f7081)
DEFINE_TEMPERATURE(rsmi_dev_temp_metric_get, 1000, 38, 105)
DEFINE_OF_FIRST(rsmi_dev_power_cap_get, NUMBER("power_limit", 560000) * 1000)
DEFINE_NUMBER(rsmi_dev_power_cap_default_get, uint64_t,
              NUMBER("power_limit_default", 560000) * 1000)
DEFINE_OF_FIRST(rsmi_dev_memory_total_get, NUMBER("memory", 68702699520))
DEFINE_OF_FIRST(rsmi_dev_memory_usage_get, NUMBER("memory_used", 0) + 11000000)
DEFINE_NUMBER(rsmi_dev_pci_replay_counter_get, uint64_t, NUMBER("pcie_replays", 0))
DEFINE_NUMBER(rsmi_dev_xgmi_error_status, int, NUMBER("link_status", 0))
DEFINE_NUMBER(rsmi_dev_ecc_enabled_get, uint64_t, ERROR_BLOCKS)

struct error_count {
    uint64_t correctable, uncorrectable;
};

DEFINE_ERROR_COUNT(rsmi_dev_ecc_count_get)

API(rsmi_dev_memory_reserved_pages_get, device_t device, uint32_t *count, struct page *pages)
{
    uint32_t size = *count;

    ENTER(device, count);
    *count = read_pages((int)device, pages, size);
    return pages && *count > size ? INSUFFICIENT_SIZE : OK;
}

API(rsmi_dev_compute_partition_get, device_t device, char *text, uint32_t length)
{
    ENTER(device, text);
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

    for (int i = 0; i < device_count(); i++) {
        uint32_t pid = (uint32_t)state_number(i, "process", 0);

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

    for (int i = 0; i < device_count(); i++)
        if (state_number(i, "process", 0) == (long long)pid && found < size)
            indices[found++] = (uint32_t)i;
    *count = found;
    return OK;
}
