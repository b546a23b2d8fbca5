/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/library.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* NVIDIA Management Library. Prototypes, layouts and numbers: nvml.h of NVML 13.3.29 (as in
 * NVIDIA/go-nvml, gen/nvml/nvml.h) and the NVML API Reference Guide. */

typedef struct nvml_device *nvml_device; /* opaque */

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
    unsigned char health_summary;
};

struct nvml_fabric_v2 {
    unsigned version;
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state;
    unsigned health_mask;
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

/* NVML_STRUCT_VERSION(): size and version of the structure that the caller has. */
#define VERSION(type, number) (unsigned)(sizeof(type) | (number) << 24)

/* ---------------------------------------------------------------- answers */

/* Whether the library's answer is a number; else notes what it was. A device that is lost says so
 * at any call. */
static bool is_told(struct accelerator *device, enum accelerator_value_id id, int result)
{
    switch (result) {
    case NVML_SUCCESS:
        return true;
    case NVML_NOT_SUPPORTED:
    case NVML_DEPRECATED:
        value_fail(device, id, ANSWER_NOT_SUPPORTED, result);
        return false;
    case NVML_FUNCTION_NOT_FOUND:
    case NVML_ARGUMENT_VERSION_MISMATCH:
        value_fail(device, id, ANSWER_NO_FUNCTION, result);
        return false;
    case NVML_NO_PERMISSION:
        value_fail(device, id, ANSWER_NO_PERMISSION, result);
        return false;
    case NVML_GPU_IS_LOST:
        device->state = ACCELERATOR_LOST;
        break;
    case NVML_RESET_REQUIRED:
        if (device->state == ACCELERATOR_OK)
            device->state = ACCELERATOR_RESET_REQUIRED;
        break;
    default:
        break;
    }
    if (device->state != ACCELERATOR_OK && device->error == 0)
        device->error = result;
    value_fail(device, id, ANSWER_ERROR, result);
    return false;
}

static void take(struct accelerator *device, enum accelerator_value_id id, int result,
                 long long number)
{
    if (is_told(device, id, result))
        value_set(device, id, number);
}

/* ---------------------------------------------------------------- one device */

/* Functions of one unsigned number. */
static void read_numbers(struct reading *reading, nvml_device handle, struct accelerator *device)
{
    static const struct {
        const char *function;
        enum accelerator_value_id id;
    } numbers[] = {
        {"nvmlDeviceGetEnforcedPowerLimit", ACCELERATOR_POWER_LIMIT},
        {"nvmlDeviceGetPowerManagementDefaultLimit", ACCELERATOR_POWER_LIMIT_DEFAULT},
        {"nvmlDeviceGetCurrPcieLinkWidth", ACCELERATOR_PCIE_WIDTH},
        {"nvmlDeviceGetMaxPcieLinkWidth", ACCELERATOR_PCIE_WIDTH_MAX},
        {"nvmlDeviceGetCurrPcieLinkGeneration", ACCELERATOR_PCIE_GENERATION},
        {"nvmlDeviceGetMaxPcieLinkGeneration", ACCELERATOR_PCIE_GENERATION_MAX},
        {"nvmlDeviceGetPcieReplayCounter", ACCELERATOR_PCIE_REPLAYS},
        {"nvmlDeviceGetPersistenceMode", ACCELERATOR_PERSISTENCE},
        {"nvmlDeviceGetComputeMode", ACCELERATOR_COMPUTE_MODE},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int (*get)(nvml_device, unsigned *) = reading_function(reading, numbers[i].function);
        unsigned number = 0;
        int result = get ? get(handle, &number) : NVML_FUNCTION_NOT_FOUND;

        take(device, numbers[i].id, result, number);
    }
}

static void read_clocks(struct reading *reading, nvml_device handle, struct accelerator *device)
{
    static const struct {
        const char *function;
        unsigned type;
        enum accelerator_value_id id;
    } clocks[] = {
        {"nvmlDeviceGetClockInfo", NVML_CLOCK_SM, ACCELERATOR_CLOCK},
        {"nvmlDeviceGetMaxClockInfo", NVML_CLOCK_SM, ACCELERATOR_CLOCK_MAX},
        {"nvmlDeviceGetClockInfo", NVML_CLOCK_MEM, ACCELERATOR_MEMORY_CLOCK},
        {"nvmlDeviceGetMaxClockInfo", NVML_CLOCK_MEM, ACCELERATOR_MEMORY_CLOCK_MAX},
    };
    unsigned long long reasons = 0;
    int (*get_reasons)(nvml_device, unsigned long long *);
    int result;

    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        int (*get)(nvml_device, unsigned, unsigned *) =
            reading_function(reading, clocks[i].function);
        unsigned mhz = 0;

        result = get ? get(handle, clocks[i].type, &mhz) : NVML_FUNCTION_NOT_FOUND;
        take(device, clocks[i].id, result, mhz);
    }
    get_reasons = reading_function(reading, "nvmlDeviceGetCurrentClocksEventReasons");
    if (!get_reasons) /* its name before NVML 12 */
        get_reasons = reading_function(reading, "nvmlDeviceGetCurrentClocksThrottleReasons");
    result = get_reasons ? get_reasons(handle, &reasons) : NVML_FUNCTION_NOT_FOUND;
    take(device, ACCELERATOR_CLOCK_REASONS, result, (long long)reasons);
}

static void read_temperature(struct reading *reading, nvml_device handle,
                             struct accelerator *device)
{
    int (*get_new)(nvml_device, struct nvml_temperature *) =
        reading_function(reading, "nvmlDeviceGetTemperatureV");
    struct nvml_temperature temperature = {.version = VERSION(struct nvml_temperature, 1),
                                           .sensor = NVML_TEMPERATURE_GPU};
    int (*get)(nvml_device, unsigned, unsigned *);
    unsigned celsius = 0;
    int result = get_new ? get_new(handle, &temperature) : NVML_FUNCTION_NOT_FOUND;

    if (result == NVML_SUCCESS) {
        value_set(device, ACCELERATOR_TEMPERATURE, temperature.temperature);
        return;
    }
    get = reading_function(reading, "nvmlDeviceGetTemperature"); /* until NVML 13 */
    if (get)
        result = get(handle, NVML_TEMPERATURE_GPU, &celsius);
    take(device, ACCELERATOR_TEMPERATURE, result, celsius);
}

static void read_ecc(struct reading *reading, nvml_device handle, struct accelerator *device)
{
    static const struct {
        unsigned type, counter;
        enum accelerator_value_id id;
    } totals[] = {
        {NVML_CORRECTED, NVML_VOLATILE, ACCELERATOR_ECC_VOLATILE_CORRECTED},
        {NVML_UNCORRECTED, NVML_VOLATILE, ACCELERATOR_ECC_VOLATILE_UNCORRECTED},
        {NVML_CORRECTED, NVML_AGGREGATE, ACCELERATOR_ECC_AGGREGATE_CORRECTED},
        {NVML_UNCORRECTED, NVML_AGGREGATE, ACCELERATOR_ECC_AGGREGATE_UNCORRECTED},
    };
    int (*get_mode)(nvml_device, unsigned *, unsigned *) =
        reading_function(reading, "nvmlDeviceGetEccMode");
    unsigned now = 0, pending = 0;
    int result = get_mode ? get_mode(handle, &now, &pending) : NVML_FUNCTION_NOT_FOUND;
    int (*get)(nvml_device, unsigned, unsigned, unsigned long long *);
    int (*get_sram)(nvml_device, struct nvml_sram *);
    struct nvml_sram sram = {.version = VERSION(struct nvml_sram, 1)};

    take(device, ACCELERATOR_ECC_ENABLED, result, now);
    take(device, ACCELERATOR_ECC_PENDING, result, pending);
    get = reading_function(reading, "nvmlDeviceGetTotalEccErrors");
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        unsigned long long count = 0;

        result =
            get ? get(handle, totals[i].type, totals[i].counter, &count) : NVML_FUNCTION_NOT_FOUND;
        take(device, totals[i].id, result, (long long)count);
    }
    get_sram = reading_function(reading, "nvmlDeviceGetSramEccErrorStatus");
    result = get_sram ? get_sram(handle, &sram) : NVML_FUNCTION_NOT_FOUND;
    take(device, ACCELERATOR_SRAM_THRESHOLD, result, sram.threshold_exceeded != 0);
}

static void read_rows(struct reading *reading, nvml_device handle, struct accelerator *device)
{
    int (*get)(nvml_device, unsigned *, unsigned *, unsigned *, unsigned *) =
        reading_function(reading, "nvmlDeviceGetRemappedRows");
    unsigned corrected = 0, uncorrected = 0, is_pending = 0, has_failed = 0;
    int result = get ? get(handle, &corrected, &uncorrected, &is_pending, &has_failed)
                     : NVML_FUNCTION_NOT_FOUND;

    take(device, ACCELERATOR_ROWS_CORRECTED, result, corrected);
    take(device, ACCELERATOR_ROWS_UNCORRECTED, result, uncorrected);
    take(device, ACCELERATOR_ROWS_PENDING, result, is_pending != 0);
    take(device, ACCELERATOR_ROWS_FAILED, result, has_failed != 0);
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

/* Fills the fields; each has its own result. What the library says of them all is each one's. */
static void get_fields(struct reading *reading, nvml_device handle, struct nvml_field *fields,
                       int count)
{
    int (*get)(nvml_device, int, struct nvml_field *) =
        reading_function(reading, "nvmlDeviceGetFieldValues");
    int result = get ? get(handle, count, fields) : NVML_FUNCTION_NOT_FOUND;

    for (int i = 0; i < count && result != NVML_SUCCESS; i++)
        fields[i].result = result;
}

static void read_recovery_action(struct reading *reading, nvml_device handle,
                                 struct accelerator *device)
{
    struct nvml_field field = {.field = FIELD_RECOVERY_ACTION};

    get_fields(reading, handle, &field, 1);
    /* a library that does not know the field calls it an invalid argument */
    if (field.result == NVML_INVALID_ARGUMENT)
        field.result = NVML_FUNCTION_NOT_FOUND;
    take(device, ACCELERATOR_RECOVERY_ACTION, field.result, field_number(&field));
}

/* Errors of the links that are active. The sums hold where each link told its own. */
static void read_link_errors(struct reading *reading, nvml_device handle,
                             struct accelerator *device, const bool *is_active)
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
        get_fields(reading, handle, fields, count);
    for (int kind = 0; kind < LINK_FIELDS && count > 0; kind++) {
        long long sum = 0;
        int result = NVML_SUCCESS;

        for (int i = kind * per_kind; i < (kind + 1) * per_kind; i++) {
            if (result == NVML_SUCCESS)
                result = fields[i].result == NVML_INVALID_ARGUMENT ? NVML_FUNCTION_NOT_FOUND
                                                                   : fields[i].result;
            sum += field_number(&fields[i]);
        }
        take(device, kinds[kind].id, result, sum);
    }
}

static void read_links(struct reading *reading, nvml_device handle, struct accelerator *device)
{
    int (*get)(nvml_device, unsigned, unsigned *) =
        reading_function(reading, "nvmlDeviceGetNvLinkState");
    bool is_active[NVML_LINKS_MAX] = {false};
    int links = 0, active = 0, result = NVML_SUCCESS;

    for (unsigned link = 0; link < NVML_LINKS_MAX; link++) {
        unsigned state = 0;

        result = get ? get(handle, link, &state) : NVML_FUNCTION_NOT_FOUND;
        if (result != NVML_SUCCESS)
            break; /* past the last link: an invalid argument, or not supported */
        links++;
        is_active[link] = state == 1;
        active += is_active[link];
    }
    if (links > 0 && (result == NVML_INVALID_ARGUMENT || result == NVML_NOT_SUPPORTED))
        result = NVML_SUCCESS;
    else if (links == 0 && result == NVML_INVALID_ARGUMENT)
        result = NVML_NOT_SUPPORTED;
    take(device, ACCELERATOR_LINKS, result, links);
    take(device, ACCELERATOR_LINKS_ACTIVE, result, active);
    read_link_errors(reading, handle, device, is_active);
}

static void read_fabric(struct reading *reading, nvml_device handle, struct accelerator *device)
{
    int (*get)(nvml_device, void *) = reading_function(reading, "nvmlDeviceGetGpuFabricInfoV");
    struct nvml_fabric_v3 fabric = {.version = VERSION(struct nvml_fabric_v3, 3)};
    int result = get ? get(handle, &fabric) : NVML_FUNCTION_NOT_FOUND;
    bool has_summary = result == NVML_SUCCESS;

    if (get && (result == NVML_ARGUMENT_VERSION_MISMATCH || result == NVML_INVALID_ARGUMENT)) {
        struct nvml_fabric_v2 older = {.version = VERSION(struct nvml_fabric_v2, 2)};

        result = get(handle, &older);
        memcpy(&fabric, &older, sizeof older);
    }
    take(device, ACCELERATOR_FABRIC_STATE, result, fabric.state);
    take(device, ACCELERATOR_FABRIC_STATUS, result, fabric.status);
    take(device, ACCELERATOR_FABRIC_CLIQUE, result, fabric.clique);
    if (result == NVML_SUCCESS && !has_summary)
        value_fail(device, ACCELERATOR_FABRIC_HEALTH, ANSWER_NO_FUNCTION, 0);
    else
        take(device, ACCELERATOR_FABRIC_HEALTH, result, fabric.health_summary);
    for (size_t i = 0; result == NVML_SUCCESS && fabric.state == 3 && i < 16; i++)
        snprintf(device->fabric_cluster + 2 * i, 3, "%02x", fabric.cluster[i]);
}

static void read_memory(struct reading *reading, nvml_device handle, struct accelerator *device)
{
    int (*get_new)(nvml_device, struct nvml_memory_v2 *) =
        reading_function(reading, "nvmlDeviceGetMemoryInfo_v2");
    struct nvml_memory_v2 memory = {.version = VERSION(struct nvml_memory_v2, 2)};
    int result = get_new ? get_new(handle, &memory) : NVML_FUNCTION_NOT_FOUND;
    int (*get)(nvml_device, struct nvml_memory *);
    struct nvml_memory older = {0};

    if (result == NVML_SUCCESS) {
        value_set(device, ACCELERATOR_MEMORY_TOTAL, (long long)memory.total);
        value_set(device, ACCELERATOR_MEMORY_USED, (long long)memory.used);
        return;
    }
    /* the older one counts as used what the driver reserves: it does not tell what jobs use */
    get = reading_function(reading, "nvmlDeviceGetMemoryInfo");
    take(device, ACCELERATOR_MEMORY_USED, result, 0);
    result = get ? get(handle, &older) : NVML_FUNCTION_NOT_FOUND;
    take(device, ACCELERATOR_MEMORY_TOTAL, result, (long long)older.total);
}

static void read_processes(struct reading *reading, nvml_device handle, struct accelerator *device)
{
    int (*get)(nvml_device, unsigned *, struct nvml_process *) =
        reading_function(reading, "nvmlDeviceGetComputeRunningProcesses_v3");
    struct nvml_process processes[128];
    unsigned count = sizeof processes / sizeof *processes;
    int result = get ? get(handle, &count, processes) : NVML_FUNCTION_NOT_FOUND;

    take(device, ACCELERATOR_PROCESSES, result, count);
    for (unsigned i = 0; result == NVML_SUCCESS && i < count && i < ACCELERATOR_USERS; i++) {
        device->processes[i].pid = (pid_t)processes[i].pid;
        /* NVML_VALUE_NOT_AVAILABLE is all ones */
        device->processes[i].memory_bytes =
            processes[i].memory == ~0ULL ? -1 : (long long)processes[i].memory;
    }
}

static void read_mig(struct reading *reading, nvml_device handle, struct accelerator *device)
{
    int (*get)(nvml_device, unsigned *, unsigned *) =
        reading_function(reading, "nvmlDeviceGetMigMode");
    unsigned now = 0, pending = 0;
    int result = get ? get(handle, &now, &pending) : NVML_FUNCTION_NOT_FOUND;

    take(device, ACCELERATOR_MIG, result, now);
}

/* "00000000:1A:00.0" to "0000:1a:00.0" as the kernel writes it. */
static void pci_copy(const char *bus_id, char *pci, size_t size)
{
    unsigned domain, bus, slot, function;

    if (sscanf(bus_id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4)
        snprintf(pci, size, "%04x:%02x:%02x.%x", domain, bus, slot, function);
}

static void read_text(struct reading *reading, const char *function, nvml_device handle, char *text)
{
    int (*get)(nvml_device, char *, unsigned) = reading_function(reading, function);
    char found[96] = "";

    if (get && get(handle, found, sizeof found) == NVML_SUCCESS)
        snprintf(text, INVENTORY_NAME, "%.*s", INVENTORY_NAME - 1, found);
}

static void read_identity(struct reading *reading, nvml_device handle, struct accelerator *device)
{
    int (*get)(nvml_device, struct nvml_pci *) =
        reading_function(reading, "nvmlDeviceGetPciInfo_v3");
    struct nvml_pci pci = {.domain = 0};

    if (get && get(handle, &pci) == NVML_SUCCESS) {
        pci.bus_id[sizeof pci.bus_id - 1] = '\0';
        pci_copy(pci.bus_id, device->pci, sizeof device->pci);
    }
    read_text(reading, "nvmlDeviceGetName", handle, device->model);
    read_text(reading, "nvmlDeviceGetUUID", handle, device->uuid);
    read_text(reading, "nvmlDeviceGetSerial", handle, device->serial);
    read_text(reading, "nvmlDeviceGetVbiosVersion", handle, device->firmware);
}

static void read_device(struct reading *reading, unsigned index, struct accelerator *device)
{
    static void (*const parts[])(struct reading *, nvml_device, struct accelerator *) = {
        read_identity, read_recovery_action, read_ecc,       read_rows,
        read_clocks,   read_temperature,     read_numbers,   read_links,
        read_fabric,   read_memory,          read_processes, read_mig,
    };
    int (*get)(unsigned, nvml_device *) =
        reading_function(reading, "nvmlDeviceGetHandleByIndex_v2");
    nvml_device handle = NULL;
    int result = get(index, &handle);

    if (result != NVML_SUCCESS) {
        device->error = result;
        device->state = result == NVML_GPU_IS_LOST      ? ACCELERATOR_LOST
                        : result == NVML_RESET_REQUIRED ? ACCELERATOR_RESET_REQUIRED
                                                        : ACCELERATOR_UNREADABLE;
        return;
    }
    /* a lost device answers nothing more, and each question may take its time to fail */
    for (size_t i = 0; i < sizeof parts / sizeof *parts && device->state != ACCELERATOR_LOST; i++)
        parts[i](reading, handle, device);
}

/* ---------------------------------------------------------------- all */

static void read_system_text(struct reading *reading, const char *function, char *text)
{
    int (*get)(char *, unsigned) = reading_function(reading, function);
    char found[96] = "";

    if (get && get(found, sizeof found) == NVML_SUCCESS)
        snprintf(text, INVENTORY_NAME, "%.*s", INVENTORY_NAME - 1, found);
}

static int start(struct reading *reading)
{
    int (*init)(void) = reading_function(reading, "nvmlInit_v2");
    const char *(*explain)(int);
    int result;

    if (!init)
        return reading_end(reading, OUTCOME_NO_LIBRARY, "it has no function nvmlInit_v2");
    result = init();
    read_system_text(reading, "nvmlSystemGetNVMLVersion", reading->report->library_version);
    switch (result) {
    case NVML_SUCCESS:
        return 0;
    case NVML_DRIVER_NOT_LOADED:
        return reading_end(reading, OUTCOME_NO_DRIVER, "it finds no driver");
    case NVML_LIB_RM_VERSION_MISMATCH:
        return reading_end(reading, OUTCOME_VERSION_MISMATCH,
                           "library %s does not fit the loaded driver",
                           reading->report->library_version);
    default:
        explain = reading_function(reading, "nvmlErrorString");
        return reading_end(reading, OUTCOME_ERROR, "nvmlInit_v2 says %d (%.80s)", result,
                           explain ? explain(result) : "no text");
    }
}

static int read_library(struct reading *reading)
{
    int (*get_count)(unsigned *);
    unsigned count = 0;
    int result;

    if (start(reading) != 0)
        return -1;
    read_system_text(reading, "nvmlSystemGetDriverVersion", reading->report->driver_version);
    if (!reading_function(reading, "nvmlDeviceGetHandleByIndex_v2"))
        return reading_end(reading, OUTCOME_NO_LIBRARY,
                           "it has no function nvmlDeviceGetHandleByIndex_v2");
    get_count = reading_function(reading, "nvmlDeviceGetCount_v2");
    result = get_count ? get_count(&count) : NVML_FUNCTION_NOT_FOUND;
    if (result != NVML_SUCCESS)
        return reading_end(reading, OUTCOME_ERROR, "nvmlDeviceGetCount_v2 says %d", result);
    if (count > ACCELERATOR_MAX)
        count = ACCELERATOR_MAX;
    for (unsigned i = 0; i < count; i++) {
        *reading->device = (int)i;
        reading->report->count = i + 1;
        read_device(reading, i, &reading->report->accelerators[i]);
    }
    *reading->device = -1;
    return 0;
}

const struct accelerator_reader accelerator_nvml = {"libnvidia-ml.so.1", read_library};
