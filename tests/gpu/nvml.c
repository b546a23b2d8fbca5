/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/gpu/handles.h"

/* A stand-in for libnvidia-ml.so.1. Prototypes and constants: nvml.h of NVML 13.3.29 (as in
 * NVIDIA/go-nvml). A healthy device is an H100 SXM of an HGX board. */

enum { LINKS = 18, RESET_REQUIRED = 16, VERSION_MISMATCH = 25 };

/* ---------------------------------------------------------------- library */

API(nvmlInit_v2, void)
{
    return start("nvidia", __func__);
}

API(nvmlShutdown, void)
{
    is_started = 0;
    return OK;
}

__attribute__((visibility("default"))) const char *nvmlErrorString(int result);
const char *nvmlErrorString(int result)
{
    return result == OK ? "The operation was successful" : "An error of the stand-in";
}

API(nvmlSystemGetDriverVersion, char *text, unsigned length)
{
    return is_started ? copy(state_text(-1, "driver", "580.65.06"), text, length) : UNINITIALIZED;
}

API(nvmlSystemGetNVMLVersion, char *text, unsigned length)
{
    return copy(state_text(-1, "library", "13.580.65.06"), text, length);
}

API(nvmlDeviceGetCount_v2, unsigned *count)
{
    return count_devices(count, __func__);
}

API(nvmlDeviceGetHandleByIndex_v2, unsigned index, device_t *device)
{
    int result = open_device(index, device, __func__);

    return result == OK && state_number((int)index, "reset_required", 0) ? RESET_REQUIRED : result;
}

/* ---------------------------------------------------------------- texts */

/* A text whose standard has the index of the device in it. */
#define TEXT_OF(function, key, standard)                                                           \
    API(function, device_t device, char *text, unsigned length)                                    \
    {                                                                                              \
        char made[96];                                                                             \
                                                                                                   \
        ENTER(device);                                                                             \
        snprintf(made, sizeof made, standard, device_index(device));                               \
        return copy(state_text(device_index(device), key, made), text, length);                    \
    }

DEFINE_TEXT(nvmlDeviceGetName, "name", "NVIDIA H100 80GB HBM3")
TEXT_OF(nvmlDeviceGetUUID, "uuid", "GPU-00000000-0000-4000-8000-%012d")
TEXT_OF(nvmlDeviceGetSerial, "serial", "16510230%05d")
TEXT_OF(nvmlDeviceGetVbiosVersion, "vbios", "96.00.74.00.0%d")

struct pci {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char bus_id[32];
};

API(nvmlDeviceGetPciInfo_v3, device_t device, struct pci *pci)
{
    static const unsigned buses[8] = {0x18, 0x2a, 0x3a, 0x5d, 0x9a, 0xab, 0xba, 0xdb};
    char made[32];

    ENTER(device);
    memset(pci, 0, sizeof *pci);
    pci->bus = buses[device_index(device) % 8];
    pci->id = 0x233010de;
    snprintf(made, sizeof made, "00000000:%02X:00.0", pci->bus);
    snprintf(pci->bus_id, sizeof pci->bus_id, "%.31s",
             state_text(device_index(device), "pci", made));
    snprintf(pci->legacy, sizeof pci->legacy, "%.12s", made + 4);
    return OK;
}

/* ---------------------------------------------------------------- numbers */

DEFINE_NUMBER(nvmlDeviceGetEnforcedPowerLimit, "power_limit", 700000)
DEFINE_NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, "power_limit_default", 700000)
DEFINE_NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width", 16)
DEFINE_NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max", 16)
DEFINE_NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_generation", 5)
DEFINE_NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_generation_max", 5)
DEFINE_NUMBER(nvmlDeviceGetPcieReplayCounter, "pcie_replays", 0)
DEFINE_NUMBER(nvmlDeviceGetPersistenceMode, "persistence", 1)
DEFINE_NUMBER(nvmlDeviceGetComputeMode, "compute_mode", 0)

DEFINE_MODE(nvmlDeviceGetEccMode, "ecc", 1)
DEFINE_MODE(nvmlDeviceGetMigMode, "mig", 0)

DEFINE_OF_TYPE(nvmlDeviceGetClockInfo, 1, "clock", 345, "memory_clock", 2619)
DEFINE_OF_TYPE(nvmlDeviceGetMaxClockInfo, 1, "clock_max", 1980, "memory_clock_max", 2619)
DEFINE_OF_TYPE(nvmlDeviceGetTemperature, 0, "temperature", 34, "temperature", 34)

#ifdef STAND_IN_OLD
API(nvmlDeviceGetCurrentClocksThrottleReasons, device_t device, unsigned long long *reasons)
#else
API(nvmlDeviceGetCurrentClocksEventReasons, device_t device, unsigned long long *reasons)
#endif
{
    ENTER(device);
    *reasons = (unsigned long long)NUMBER("clock_reasons", 1);
    return OK;
}

/* ---------------------------------------------------------------- memory and its errors */

API(nvmlDeviceGetTotalEccErrors, device_t device, unsigned type, unsigned counter,
    unsigned long long *count)
{
    static const char *const keys[2][2] = {
        {"ecc_volatile_corrected", "ecc_aggregate_corrected"},
        {"ecc_volatile_uncorrected", "ecc_aggregate_uncorrected"},
    };

    ENTER(device);
    if (type > 1 || counter > 1)
        return INVALID_ARGUMENT;
    if (!NUMBER("ecc", 1))
        return NOT_SUPPORTED;
    *count = (unsigned long long)NUMBER(keys[type][counter], 0);
    return OK;
}

API(nvmlDeviceGetRemappedRows, device_t device, unsigned *corrected, unsigned *uncorrected,
    unsigned *is_pending, unsigned *has_failed)
{
    ENTER(device);
    *corrected = (unsigned)NUMBER("rows_corrected", 0);
    *uncorrected = (unsigned)NUMBER("rows_uncorrected", 0);
    *is_pending = (unsigned)NUMBER("rows_pending", 0);
    *has_failed = (unsigned)NUMBER("rows_failed", 0);
    return OK;
}

struct memory {
    unsigned long long total, free, used;
};

API(nvmlDeviceGetMemoryInfo, device_t device, struct memory *memory)
{
    ENTER(device);
    memory->total = (unsigned long long)NUMBER("memory", 85520809984);
    memory->used = 557842432 + /* reserved by the driver */
                   (unsigned long long)NUMBER("memory_used", 0);
    memory->free = memory->total - memory->used;
    return OK;
}

struct process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

API(nvmlDeviceGetComputeRunningProcesses_v3, device_t device, unsigned *count,
    struct process *processes)
{
    unsigned pid, size = *count;

    ENTER(device);
    pid = (unsigned)NUMBER("process", 0);
    *count = pid > 0 ? (unsigned)NUMBER("processes", 1) : 0;
    if (*count > size)
        return INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < *count; i++)
        processes[i] = (struct process){pid, 1 << 20, ~0U, ~0U};
    return OK;
}

/* ---------------------------------------------------------------- links and fields */

API(nvmlDeviceGetNvLinkState, device_t device, unsigned link, unsigned *is_active)
{
    ENTER(device);
    if (link >= (unsigned)NUMBER("links", LINKS))
        return INVALID_ARGUMENT;
    *is_active = link >= (unsigned)NUMBER("links_down", 0);
    return OK;
}

struct field {
    unsigned id, scope;
    long long timestamp, latency_us;
    unsigned type;
    int result;
    union {
        unsigned u;
        unsigned long long ull;
    } value;
};

API(nvmlDeviceGetFieldValues, device_t device, int count, struct field *fields)
{
    static const struct {
        unsigned id;
        const char *key;
    } known[] = {
        {162, "link_recoveries"},
        {163, "link_crc_errors"},
#ifndef STAND_IN_OLD
        {214, "link_recoveries_failed"},
        {230, "recovery_action"},
#endif
    };

    ENTER(device);
    for (int i = 0; i < count; i++) {
        fields[i].result = INVALID_ARGUMENT;
        for (size_t j = 0; j < sizeof known / sizeof *known; j++)
            if (known[j].id == fields[i].id) {
                fields[i].result = OK;
                fields[i].type = 1; /* unsigned int */
                fields[i].value.ull = ~0ULL;
                fields[i].value.u = fields[i].scope == 0 ? (unsigned)NUMBER(known[j].key, 0) : 0;
            }
    }
    return OK;
}

#ifndef STAND_IN_OLD

struct temperature {
    unsigned version, sensor;
    int temperature;
};

API(nvmlDeviceGetTemperatureV, device_t device, struct temperature *temperature)
{
    ENTER(device);
    if (temperature->version != (sizeof *temperature | 1 << 24))
        return VERSION_MISMATCH;
    temperature->temperature = (int)NUMBER("temperature", 34);
    return OK;
}

struct sram {
    unsigned version;
    unsigned long long counts[11];
    unsigned is_exceeded;
};

API(nvmlDeviceGetSramEccErrorStatus, device_t device, struct sram *sram)
{
    ENTER(device);
    if (sram->version != (sizeof *sram | 1 << 24))
        return VERSION_MISMATCH;
    memset(sram->counts, 0, sizeof sram->counts);
    sram->is_exceeded = (unsigned)NUMBER("sram_threshold", 0);
    return OK;
}

struct fabric {
    unsigned version;
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state;
    unsigned mask;
    unsigned char summary;
};

API(nvmlDeviceGetGpuFabricInfoV, device_t device, struct fabric *fabric)
{
    ENTER(device);
    /* version 2 ends before the summary, and is as long as version 1 with its version word */
    if (fabric->version >> 24 == 3 && state_number(-1, "fabric_version", 3) < 3)
        return VERSION_MISMATCH;
    memset(fabric->cluster, 0, sizeof fabric->cluster);
    fabric->status = (int)NUMBER("fabric_status", 0);
    fabric->clique = (unsigned)NUMBER("fabric_clique", 0);
    fabric->state = (unsigned char)NUMBER("fabric_state", 3);
    fabric->mask = 0;
    if (fabric->version >> 24 == 3)
        fabric->summary = (unsigned char)NUMBER("fabric_health", 1);
    return OK;
}

struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};

API(nvmlDeviceGetMemoryInfo_v2, device_t device, struct memory_v2 *memory)
{
    ENTER(device);
    if (memory->version != (sizeof *memory | 2 << 24))
        return VERSION_MISMATCH;
    memory->total = (unsigned long long)NUMBER("memory", 85520809984);
    memory->reserved = 557842432;
    memory->used = (unsigned long long)NUMBER("memory_used", 0);
    memory->free = memory->total - memory->reserved - memory->used;
    return OK;
}

#endif
