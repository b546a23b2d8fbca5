/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/amd.h"

#include <stdio.h>

enum {
    RSMI_NOT_SUPPORTED = 2,
    RSMI_FILE_ERROR = 3, /* usually the driver has no such file */
    RSMI_NO_PERMISSION = 4,
    RSMI_INIT_ERROR = 8,
    RSMI_NOT_YET_IMPLEMENTED = 9,
    RSMI_NO_DATA = 14,
    RSMI_DRIVER = 0, /* software component */
};

static const struct reading_status statuses[] = {
    {RSMI_NOT_SUPPORTED, ANSWER_NOT_SUPPORTED, ACCELERATOR_OK},
    {RSMI_FILE_ERROR, ANSWER_NOT_SUPPORTED, ACCELERATOR_OK},
    {RSMI_NOT_YET_IMPLEMENTED, ANSWER_NOT_SUPPORTED, ACCELERATOR_OK},
    {RSMI_NO_DATA, ANSWER_NOT_SUPPORTED, ACCELERATOR_OK},
    {RSMI_NO_PERMISSION, ANSWER_NO_PERMISSION, ACCELERATOR_OK},
    {0},
};

/* Clocks and PCIe lanes are not read: their structures changed without a new version. */
static const struct reading_number numbers[] = {
    {ACCELERATOR_TEMPERATURE, "rsmi_dev_temp_metric_get", FORM_TYPES_U64, AMD_HOTSPOT,
     AMD_TEMPERATURE_NOW, 1000},
    {ACCELERATOR_TEMPERATURE_LIMIT, "rsmi_dev_temp_metric_get", FORM_TYPES_U64, AMD_HOTSPOT,
     AMD_TEMPERATURE_CRITICAL, 1000},
    {ACCELERATOR_POWER_LIMIT, "rsmi_dev_power_cap_get", FORM_TYPE_U64, .divisor = 1000},
    {ACCELERATOR_POWER_LIMIT_DEFAULT, "rsmi_dev_power_cap_default_get", FORM_U64, .divisor = 1000},
    {ACCELERATOR_MEMORY_TOTAL, "rsmi_dev_memory_total_get", FORM_TYPE_U64, AMD_MEMORY_VRAM},
    {ACCELERATOR_MEMORY_USED, "rsmi_dev_memory_usage_get", FORM_TYPE_U64, AMD_MEMORY_VRAM},
    {ACCELERATOR_PCIE_REPLAYS, "rsmi_dev_pci_replay_counter_get", FORM_U64},
    {ACCELERATOR_LINK_STATUS, "rsmi_dev_xgmi_error_status", FORM_U32},
    {0},
};

static int start(struct reading *reading)
{
    int (*init)(uint64_t) = reading_function(reading, "rsmi_init");
    union {
        uint32_t numbers[3]; /* then a pointer to a text */
        char room[256];
    } version = {.room = ""};
    char driver[256] = "";
    int result;

    if (!init)
        return reading_end(reading, OUTCOME_NO_LIBRARY, "missing function rsmi_init");
    result = init(0);
    if (result != AMD_OK)
        return amd_fail_start(reading, "rsmi_init", result, result == RSMI_INIT_ERROR);
    if (READING_CALL(reading, "rsmi_version_get", (uint32_t *), version.numbers) == AMD_OK)
        snprintf(reading->report->library_version, INVENTORY_NAME, "%u.%u.%u", version.numbers[0],
                 version.numbers[1], version.numbers[2]);
    if (READING_CALL(reading, "rsmi_version_str_get", (uint32_t, char *, uint32_t), RSMI_DRIVER,
                     driver, sizeof driver - 1) == AMD_OK)
        snprintf(reading->report->driver_version, INVENTORY_NAME, "%.*s", INVENTORY_NAME - 1,
                 driver);
    return 0;
}

static int count_devices(struct reading *reading, unsigned *count)
{
    int result = READING_CALL(reading, "rsmi_num_monitor_devices", (uint32_t *), count);

    if (result == AMD_OK)
        amd_find_processes(reading);
    return result;
}

static void identify(struct reading *reading, struct accelerator *device)
{
    uint64_t bdf = 0, id = 0;
    void *get = reading_function(reading, "rsmi_dev_name_get");
    char name[256] = "";

    if (get && READING_CALL_DEVICE(reading, get, (char *, size_t), name, sizeof name - 1) == AMD_OK)
        snprintf(device->model, sizeof device->model, "%.*s", INVENTORY_NAME - 1, name);
    if (reading_query(reading, "rsmi_dev_pci_id_get", &bdf) == AMD_OK)
        reading_pci(device, (unsigned)(bdf >> 32), bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7);
    if (reading_query(reading, "rsmi_dev_unique_id_get", &id) == AMD_OK)
        snprintf(device->uuid, sizeof device->uuid, "%016llx", (unsigned long long)id);
    reading_text(reading, "rsmi_dev_vbios_version_get", device->firmware);
    if (reading_query(reading, "rsmi_dev_xgmi_hive_id_get", &id) == AMD_OK && id != 0)
        snprintf(device->fabric_cluster, sizeof device->fabric_cluster, "%llx",
                 (unsigned long long)id);
}

static reading_part_fn *const parts[] = {
    amd_read_errors, amd_read_pages, amd_read_partition, amd_read_processes, NULL,
};

const struct accelerator_reader accelerator_rsmi = {
    .vendor = GPU_AMD,
    .libraries = {"librocm_smi64.so", "librocm_smi64.so.7", "librocm_smi64.so.1"},
    .traits = AMD_TRAITS,
    .statuses = statuses,
    .is_indexed = true,
    .start = start,
    .count = count_devices,
    .identify = identify,
    .numbers = numbers,
    .parts = parts,
};
