/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/library.h"

#include <stdio.h>
#include <stdlib.h>

/* NVIDIA Management Library. Prototypes, layouts and numbers: nvml.h of NVML 13.3.29 (as in
 * NVIDIA/go-nvml, gen/nvml/nvml.h) and the NVML API Reference Guide. */

enum nvml_return {
    NVML_SUCCESS = 0,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_LIB_RM_VERSION_MISMATCH = 18,
    NVML_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_DEPRECATED = 26,
};

enum {
    NVML_CLOCK_SM = 1,
    NVML_CLOCK_MEM = 2,
    NVML_TEMPERATURE_GPU = 0,
    NVML_CORRECTED = 0,
    NVML_UNCORRECTED = 1,
    NVML_VOLATILE = 0,
    NVML_AGGREGATE = 1,
    NVML_LINKS_MAX = 36,
    NVML_PROCESSES = 128,
    FIELD_NVLINK_RECOVERY = 162,
    FIELD_NVLINK_CRC = 163,
    FIELD_NVLINK_RECOVERY_FAILED = 214,
    FIELD_RECOVERY_ACTION = 230,
    LINK_FIELDS = 3,
};

struct nvml_pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

struct nvml_sram {
    unsigned version;
    unsigned long long counts[11];
    unsigned threshold_exceeded;
};

struct nvml_temperature {
    unsigned version, sensor;
    int temperature;
};

struct nvml_fabric_v3 {
    unsigned version;
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state; /* nvmlGpuFabricState_t */
    unsigned health_mask;
    unsigned char health_summary; /* v2 ends before it */
};

struct nvml_process { /* of v2 and v3 */
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

struct nvml_field {
    unsigned field, scope;
    long long timestamp, latency_us;
    unsigned type; /* enum nvml_value_type */
    int result;
    union {
        double d;
        int i;
        unsigned u;
        unsigned long ul;
        unsigned long long ull;
        long long ll;
        unsigned short us;
    } value;
};

/* NVML_STRUCT_VERSION(): size and version of the caller's structure. */
#define VERSION(type, number) (unsigned)(sizeof(type) | (number) << 24)

static const struct reading_status statuses[] = {
    {NVML_NOT_SUPPORTED, ANSWER_NOT_SUPPORTED, ACCELERATOR_OK},
    {NVML_DEPRECATED, ANSWER_NOT_SUPPORTED, ACCELERATOR_OK},
    {NVML_FUNCTION_NOT_FOUND, ANSWER_NO_FUNCTION, ACCELERATOR_OK},
    {NVML_ARGUMENT_VERSION_MISMATCH, ANSWER_NO_FUNCTION, ACCELERATOR_OK},
    {NVML_NO_PERMISSION, ANSWER_NO_PERMISSION, ACCELERATOR_OK},
    {NVML_GPU_IS_LOST, ANSWER_ERROR, ACCELERATOR_LOST},
    {NVML_RESET_REQUIRED, ANSWER_ERROR, ACCELERATOR_RESET_REQUIRED},
    {0},
};

/* ---------------------------------------------------------------- one device */

static const struct reading_number numbers[] = {
    {ACCELERATOR_POWER_LIMIT, "nvmlDeviceGetEnforcedPowerLimit"},
    {ACCELERATOR_POWER_LIMIT_DEFAULT, "nvmlDeviceGetPowerManagementDefaultLimit"},
    {ACCELERATOR_PCIE_WIDTH, "nvmlDeviceGetCurrPcieLinkWidth"},
    {ACCELERATOR_PCIE_WIDTH_MAX, "nvmlDeviceGetMaxPcieLinkWidth"},
    {ACCELERATOR_PCIE_GENERATION, "nvmlDeviceGetCurrPcieLinkGeneration"},
    {ACCELERATOR_PCIE_GENERATION_MAX, "nvmlDeviceGetMaxPcieLinkGeneration"},
    {ACCELERATOR_PCIE_REPLAYS, "nvmlDeviceGetPcieReplayCounter"},
    {ACCELERATOR_PERSISTENCE, "nvmlDeviceGetPersistenceMode"},
    {ACCELERATOR_COMPUTE_MODE, "nvmlDeviceGetComputeMode"},
    {ACCELERATOR_CLOCK, "nvmlDeviceGetClockInfo", FORM_TYPE_U32, NVML_CLOCK_SM},
    {ACCELERATOR_CLOCK_MAX, "nvmlDeviceGetMaxClockInfo", FORM_TYPE_U32, NVML_CLOCK_SM},
    {ACCELERATOR_MEMORY_CLOCK, "nvmlDeviceGetClockInfo", FORM_TYPE_U32, NVML_CLOCK_MEM},
    {ACCELERATOR_MEMORY_CLOCK_MAX, "nvmlDeviceGetMaxClockInfo", FORM_TYPE_U32, NVML_CLOCK_MEM},
    {ACCELERATOR_CLOCK_REASONS, "nvmlDeviceGetCurrentClocksEventReasons", FORM_U64},
    {ACCELERATOR_CLOCK_REASONS, "nvmlDeviceGetCurrentClocksThrottleReasons", FORM_U64}, /* to 11 */
    {ACCELERATOR_ECC_VOLATILE_CORRECTED, "nvmlDeviceGetTotalEccErrors", FORM_TYPES_U64,
     NVML_CORRECTED, NVML_VOLATILE},
    {ACCELERATOR_ECC_VOLATILE_UNCORRECTED, "nvmlDeviceGetTotalEccErrors", FORM_TYPES_U64,
     NVML_UNCORRECTED, NVML_VOLATILE},
    {ACCELERATOR_ECC_AGGREGATE_CORRECTED, "nvmlDeviceGetTotalEccErrors", FORM_TYPES_U64,
     NVML_CORRECTED, NVML_AGGREGATE},
    {ACCELERATOR_ECC_AGGREGATE_UNCORRECTED, "nvmlDeviceGetTotalEccErrors", FORM_TYPES_U64,
     NVML_UNCORRECTED, NVML_AGGREGATE},
    {0},
};

static void read_temperature(struct reading *reading, struct accelerator *device)
{
    struct nvml_temperature temperature = {.version = VERSION(struct nvml_temperature, 1),
                                           .sensor = NVML_TEMPERATURE_GPU};
    unsigned celsius = 0;
    int result = reading_query(reading, "nvmlDeviceGetTemperatureV", &temperature), older;

    if (result == NVML_SUCCESS) {
        value_set(device, ACCELERATOR_TEMPERATURE, temperature.temperature);
        return;
    }
    older = READING_CALL(reading, "nvmlDeviceGetTemperature", (void *, unsigned, unsigned *),
                         reading->handle, NVML_TEMPERATURE_GPU, &celsius); /* until NVML 13 */
    reading_take(reading, device, ACCELERATOR_TEMPERATURE,
                 older == READING_NO_FUNCTION ? result : older, celsius);
}

static void read_ecc(struct reading *reading, struct accelerator *device)
{
    struct nvml_sram sram = {.version = VERSION(struct nvml_sram, 1)};
    unsigned now = 0, pending = 0;
    int result = READING_CALL(reading, "nvmlDeviceGetEccMode", (void *, unsigned *, unsigned *),
                              reading->handle, &now, &pending);

    reading_take(reading, device, ACCELERATOR_ECC_ENABLED, result, now);
    reading_take(reading, device, ACCELERATOR_ECC_PENDING, result, pending);
    result = reading_query(reading, "nvmlDeviceGetSramEccErrorStatus", &sram);
    reading_take(reading, device, ACCELERATOR_SRAM_THRESHOLD, result, sram.threshold_exceeded != 0);
}

static void read_rows(struct reading *reading, struct accelerator *device)
{
    unsigned corrected = 0, uncorrected = 0, is_pending = 0, has_failed = 0;
    int result = READING_CALL(reading, "nvmlDeviceGetRemappedRows",
                              (void *, unsigned *, unsigned *, unsigned *, unsigned *),
                              reading->handle, &corrected, &uncorrected, &is_pending, &has_failed);

    reading_take(reading, device, ACCELERATOR_ROWS_CORRECTED, result, corrected);
    reading_take(reading, device, ACCELERATOR_ROWS_UNCORRECTED, result, uncorrected);
    reading_take(reading, device, ACCELERATOR_ROWS_PENDING, result, is_pending != 0);
    reading_take(reading, device, ACCELERATOR_ROWS_FAILED, result, has_failed != 0);
}

static long long field_number(const struct nvml_field *field)
{
    switch (field->type) {
    case 0:
        return (long long)field->value.d;
    case 1:
        return field->value.u;
    case 2:
        return (long long)field->value.ul;
    case 5:
        return field->value.i;
    case 6:
        return field->value.us;
    default:
        return (long long)field->value.ull;
    }
}

/* Fills the fields; each has its own result. An error of the whole call becomes that of each field.
 */
static void get_fields(struct reading *reading, struct nvml_field *fields, int count)
{
    int result = READING_CALL(reading, "nvmlDeviceGetFieldValues",
                              (void *, int, struct nvml_field *), reading->handle, count, fields);

    for (int i = 0; i < count && result != NVML_SUCCESS; i++)
        fields[i].result = result;
}

static void read_recovery_action(struct reading *reading, struct accelerator *device)
{
    struct nvml_field field = {.field = FIELD_RECOVERY_ACTION};

    get_fields(reading, &field, 1);
    /* a library that does not know the field returns an invalid argument */
    if (field.result == NVML_INVALID_ARGUMENT)
        field.result = NVML_FUNCTION_NOT_FOUND;
    reading_take(reading, device, ACCELERATOR_RECOVERY_ACTION, field.result, field_number(&field));
}

/* Reads the errors of the active links. A sum is valid only if each link returned its count. */
static void read_link_errors(struct reading *reading, struct accelerator *device,
                             const bool *is_active)
{
    static const struct {
        unsigned field;
        enum accelerator_value_id id;
    } kinds[LINK_FIELDS] = {
        {FIELD_NVLINK_CRC, ACCELERATOR_LINK_CRC_ERRORS},
        {FIELD_NVLINK_RECOVERY, ACCELERATOR_LINK_RECOVERIES},
        {FIELD_NVLINK_RECOVERY_FAILED, ACCELERATOR_LINK_RECOVERIES_FAILED},
    };
    struct nvml_field fields[LINK_FIELDS * NVML_LINKS_MAX] = {{0}};
    int count = 0, per_kind;

    for (int kind = 0; kind < LINK_FIELDS; kind++)
        for (unsigned link = 0; link < NVML_LINKS_MAX; link++)
            if (is_active[link])
                fields[count++] = (struct nvml_field){.field = kinds[kind].field, .scope = link};
    per_kind = count / LINK_FIELDS;
    if (count > 0)
        get_fields(reading, fields, count);
    for (int kind = 0; kind < LINK_FIELDS && count > 0; kind++) {
        long long sum = 0;
        int result = NVML_SUCCESS;

        for (int i = kind * per_kind; i < (kind + 1) * per_kind; i++) {
            if (result == NVML_SUCCESS)
                result = fields[i].result == NVML_INVALID_ARGUMENT ? NVML_FUNCTION_NOT_FOUND
                                                                   : fields[i].result;
            sum += field_number(&fields[i]);
        }
        reading_take(reading, device, kinds[kind].id, result, sum);
    }
}

static void read_links(struct reading *reading, struct accelerator *device)
{
    bool is_active[NVML_LINKS_MAX] = {false};
    int links = 0, active = 0, result = NVML_SUCCESS;

    for (unsigned link = 0; link < NVML_LINKS_MAX; link++) {
        unsigned state = 0;

        result = READING_CALL(reading, "nvmlDeviceGetNvLinkState", (void *, unsigned, unsigned *),
                              reading->handle, link, &state);
        if (result != NVML_SUCCESS)
            break; /* after the last link: an invalid argument, or not supported */
        links++;
        is_active[link] = state == 1;
        active += is_active[link];
    }
    if (links > 0 && (result == NVML_INVALID_ARGUMENT || result == NVML_NOT_SUPPORTED))
        result = NVML_SUCCESS;
    else if (links == 0 && result == NVML_INVALID_ARGUMENT)
        result = NVML_NOT_SUPPORTED;
    reading_take(reading, device, ACCELERATOR_LINKS, result, links);
    reading_take(reading, device, ACCELERATOR_LINKS_ACTIVE, result, active);
    read_link_errors(reading, device, is_active);
}

static void read_fabric(struct reading *reading, struct accelerator *device)
{
    struct nvml_fabric_v3 fabric = {.version = VERSION(struct nvml_fabric_v3, 3)};
    int result = reading_query(reading, "nvmlDeviceGetGpuFabricInfoV", &fabric);
    bool has_summary = result == NVML_SUCCESS;

    if (result == NVML_ARGUMENT_VERSION_MISMATCH || result == NVML_INVALID_ARGUMENT) {
        fabric.version = (unsigned)offsetof(struct nvml_fabric_v3, health_summary) | 2 << 24;
        result = reading_query(reading, "nvmlDeviceGetGpuFabricInfoV", &fabric);
    }
    reading_take(reading, device, ACCELERATOR_FABRIC_STATE, result, fabric.state);
    reading_take(reading, device, ACCELERATOR_FABRIC_STATUS, result, fabric.status);
    reading_take(reading, device, ACCELERATOR_FABRIC_CLIQUE, result, fabric.clique);
    if (result == NVML_SUCCESS && !has_summary)
        value_fail(device, ACCELERATOR_FABRIC_HEALTH, ANSWER_NO_FUNCTION, 0);
    else
        reading_take(reading, device, ACCELERATOR_FABRIC_HEALTH, result, fabric.health_summary);
    for (size_t i = 0; result == NVML_SUCCESS && fabric.state == 3 && i < 16; i++)
        snprintf(device->fabric_cluster + 2 * i, 3, "%02x", fabric.cluster[i]);
}

static void read_memory(struct reading *reading, struct accelerator *device)
{
    struct nvml_memory_v2 memory = {.version = VERSION(struct nvml_memory_v2, 2)};
    int result = reading_query(reading, "nvmlDeviceGetMemoryInfo_v2", &memory);
    struct nvml_memory older = {0};

    if (result == NVML_SUCCESS) {
        value_set(device, ACCELERATOR_MEMORY_TOTAL, (long long)memory.total);
        value_set(device, ACCELERATOR_MEMORY_USED, (long long)memory.used);
        return;
    }
    /* the older function counts memory reserved by the driver as used, so its `used` is not read */
    reading_take(reading, device, ACCELERATOR_MEMORY_USED, result, 0);
    result = reading_query(reading, "nvmlDeviceGetMemoryInfo", &older);
    reading_take(reading, device, ACCELERATOR_MEMORY_TOTAL, result, (long long)older.total);
}

static void read_processes(struct reading *reading, struct accelerator *device)
{
    struct nvml_process *processes = NULL;
    unsigned count = 0;
    int result = NVML_INSUFFICIENT_SIZE;

    /* the call that fails returns their number; more may start until the next */
    for (int i = 0; i < 3 && result == NVML_INSUFFICIENT_SIZE; i++) {
        free(processes);
        count += NVML_PROCESSES;
        processes = calloc(count, sizeof *processes);
        if (processes)
            result = READING_CALL(reading, "nvmlDeviceGetComputeRunningProcesses_v3",
                                  (void *, unsigned *, struct nvml_process *), reading->handle,
                                  &count, processes);
    }
    reading_take(reading, device, ACCELERATOR_PROCESSES, result, count);
    for (unsigned i = 0; result == NVML_SUCCESS && i < count && i < ACCELERATOR_USERS; i++)
        device->processes[i] = (pid_t)processes[i].pid;
    free(processes);
}

static void read_mig(struct reading *reading, struct accelerator *device)
{
    unsigned now = 0, pending = 0;
    int result = READING_CALL(reading, "nvmlDeviceGetMigMode", (void *, unsigned *, unsigned *),
                              reading->handle, &now, &pending);

    reading_take(reading, device, ACCELERATOR_MIG, result, now);
}

static void identify(struct reading *reading, struct accelerator *device)
{
    struct nvml_pci pci = {.domain = 0};

    if (reading_query(reading, "nvmlDeviceGetPciInfo_v3", &pci) == NVML_SUCCESS) {
        pci.bus_id[sizeof pci.bus_id - 1] = '\0';
        reading_pci_text(device, pci.bus_id);
    }
    reading_text(reading, "nvmlDeviceGetName", device->model);
    reading_text(reading, "nvmlDeviceGetUUID", device->uuid);
    reading_text(reading, "nvmlDeviceGetSerial", device->serial);
    reading_text(reading, "nvmlDeviceGetVbiosVersion", device->firmware);
}

static reading_part_fn *const parts[] = {
    read_recovery_action, read_ecc,    read_rows,      read_temperature, read_links,
    read_fabric,          read_memory, read_processes, read_mig,         NULL,
};

/* ---------------------------------------------------------------- all */

static int start(struct reading *reading)
{
    int (*init)(void) = reading_function(reading, "nvmlInit_v2");
    const char *(*explain)(int);
    int result;

    if (!init || !reading_function(reading, "nvmlDeviceGetHandleByIndex_v2"))
        return reading_end(reading, OUTCOME_NO_LIBRARY, "missing function %s", *reading->function);
    *reading->function = "nvmlInit_v2";
    result = init();
    reading_system_text(reading, "nvmlSystemGetNVMLVersion", reading->report->library_version);
    switch (result) {
    case NVML_SUCCESS:
        reading_system_text(reading, "nvmlSystemGetDriverVersion", reading->report->driver_version);
        return 0;
    case NVML_DRIVER_NOT_LOADED:
        return reading_end(reading, OUTCOME_NO_DRIVER, "no driver found");
    case NVML_LIB_RM_VERSION_MISMATCH:
        return reading_end(reading, OUTCOME_VERSION_MISMATCH,
                           "library %s does not match the loaded driver",
                           reading->report->library_version);
    default:
        explain = reading_function(reading, "nvmlErrorString");
        return reading_end(reading, OUTCOME_ERROR, "nvmlInit_v2 returned %d (%.80s)", result,
                           explain ? explain(result) : "no text");
    }
}

/* 512 rows: DCGM; 93 C: Azure's healthagent. */
const struct accelerator_reader accelerator_nvml = {
    .vendor = GPU_NVIDIA,
    .libraries = {"libnvidia-ml.so.1"},
    .traits = {"NVLink", "row", "remapped", .rows_limit = 511, .temperature_C = 93},
    .statuses = statuses,
    .start = start,
    .count_function = "nvmlDeviceGetCount_v2",
    .open_function = "nvmlDeviceGetHandleByIndex_v2",
    .identify = identify,
    .numbers = numbers,
    .parts = parts,
};
