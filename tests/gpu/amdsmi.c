/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/gpu/amd.h"

#include <stdbool.h>

/* A stand-in for libamd_smi.so. Prototypes, structures and constants: amdsmi.h of AMD SMI 26.5
 * (ROCm/rocm-systems), with STAND_IN_OLD of 24.5 (ROCm 6.1). A healthy device is an MI300X of a
 * board of eight. */

enum { DEVICES_MAX = 64, XGMI_LINKS = 8 };
enum { OUT_OF_RESOURCES = 15, NOT_STARTED = 32, NOT_LOADED = 34, INSUFFICIENT_SIZE = 41 };

typedef const char *device_t; /* points into devices; the offset is the index */
static const char devices[DEVICES_MAX];

static int device_index(device_t device)
{
    return device >= devices && device < devices + DEVICES_MAX ? (int)(device - devices) : -1;
}

/* ---------------------------------------------------------------- library */

API(amdsmi_init, uint64_t flags)
{
    int result = start(__func__, NOT_LOADED);

    if (result != OK)
        return result;
    is_started = flags & 2; /* GPUs */
    return is_started ? OK : INVALID;
}

API(amdsmi_shut_down, void)
{
    is_started = 0;
    return OK;
}

struct version {
#ifdef STAND_IN_OLD
    uint32_t year;
#endif
    uint32_t major, minor, release;
    const char *build;
};

API(amdsmi_get_lib_version, struct version *version)
{
    int result = state_enter(-1, __func__);

    if (result != OK)
        return result;
#ifdef STAND_IN_OLD
    *version = (struct version){24, (uint32_t)state_number(-1, "library_minor", 5), 1, 0, "24.5.1"};
#else
    *version = (struct version){(uint32_t)state_number(-1, "library_major", 26), 5, 0, "26.5.0"};
#endif
    return OK;
}

/* A socket for each device. */
API(amdsmi_get_socket_handles, uint32_t *count, void **sockets)
{
    int result = state_enter(-1, __func__);

    if (!is_started || result != OK)
        return is_started ? result : NOT_STARTED;
    for (int i = 0; sockets && i < device_count() && i < (int)*count; i++)
        sockets[i] = (void *)(devices + i);
    *count = (uint32_t)device_count();
    return OK;
}

API(amdsmi_get_processor_handles, void *socket, uint32_t *count, void **processors)
{
    if (device_index(socket) < 0)
        return INVALID;
    if (processors && *count > 0)
        processors[0] = socket;
    *count = 1;
    return OK;
}

DEFINE_NUMBER(amdsmi_get_processor_type, uint32_t, 1) /* a GPU of AMD's */

/* ---------------------------------------------------------------- identity */

API(amdsmi_get_gpu_device_bdf, device_t device, uint64_t *bdf)
{
    static const unsigned buses[8] = {0x0c, 0x22, 0x38, 0x5c, 0x9f, 0xaf, 0xbf, 0xdf};
    int each;

    ENTER(device, bdf);
    each = (int)state_number(-1, "partitions", 1);
    *bdf = (uint64_t)buses[device_index(device) / each % 8] << 8 |
           (uint64_t)(device_index(device) % each);
    return OK;
}

API(amdsmi_get_gpu_device_uuid, device_t device, unsigned *length, char *uuid)
{
    ENTER(device, uuid);
    if (*length < 38)
        return INVALID;
    snprintf(uuid, *length, "%02xff74a1-0000-1000-80c6-28f2e18ab91c", device_index(device));
    return OK;
}

#ifdef STAND_IN_OLD
enum { STRING = 64, NAME = 256, SHORT = 32 };
#else
enum { STRING = 256, NAME = 256, SHORT = 256 };
#endif

struct asic {
    char market_name[NAME];
    uint32_t vendor_id;
    char vendor_name[STRING];
    uint32_t subvendor_id;
    uint64_t device_id;
    uint32_t rev_id;
    char asic_serial[SHORT];
    uint32_t oam_id, compute_units;
    uint64_t target;
    uint32_t subsystem_id;
    uint64_t flags;
    uint32_t reserved[18];
};

API(amdsmi_get_gpu_asic_info, device_t device, struct asic *asic)
{
    ENTER(device, asic);
    memset(asic, 0, sizeof *asic);
    snprintf(asic->market_name, sizeof asic->market_name, "%s",
             state_text(device_index(device), "name", "AMD Instinct MI300X"));
    return OK;
}

struct driver {
    char version[STRING], date[STRING], name[STRING];
};

API(amdsmi_get_gpu_driver_info, device_t device, struct driver *driver)
{
    ENTER(device, driver);
    memset(driver, 0, sizeof *driver);
    snprintf(driver->version, sizeof driver->version, "%s", state_text(-1, "driver", "6.14.14"));
    return OK;
}

/* ---------------------------------------------------------------- numbers */

DEFINE_TEMPERATURE(amdsmi_get_temp_metric, 1, 41, 100)
DEFINE_OF_FIRST(amdsmi_get_gpu_memory_total, NUMBER("memory", 206141652992))
/* includes the memory that the driver reserves */
DEFINE_OF_FIRST(amdsmi_get_gpu_memory_usage, NUMBER("memory_used", 0) + 297500672)
DEFINE_NUMBER(amdsmi_gpu_xgmi_error_status, int, NUMBER("link_status", 0))

API(amdsmi_get_gpu_pci_replay_counter, device_t device, uint64_t *count)
{
    ENTER(device, count);
    return NOT_SUPPORTED; /* MI300 has it in amdsmi_get_pcie_info() only */
}

struct clock {
    uint32_t clk, min_clk, max_clk;
#ifdef STAND_IN_OLD
    uint32_t sleep_clk;
#else
    uint8_t locked, deep_sleep;
#endif
    uint32_t reserved[4];
};

API(amdsmi_get_clock_info, device_t device, int type, struct clock *clock)
{
    ENTER(device, clock);
    memset(clock, 0, sizeof *clock);
    if (type != 0 && type != 4)
        return NOT_SUPPORTED;
    clock->clk = (uint32_t)(type == 0 ? NUMBER("clock", 132) : NUMBER("memory_clock", 900));
    clock->max_clk =
        (uint32_t)(type == 0 ? NUMBER("clock_max", 2100) : NUMBER("memory_clock_max", 1300));
    return OK;
}

struct power_cap {
    uint64_t power_cap, default_power_cap, dpm_cap, min_power_cap, max_power_cap, reserved[3];
};

API(amdsmi_get_power_cap_info, device_t device, uint32_t sensor, struct power_cap *cap)
{
    ENTER(device, cap);
    memset(cap, 0, sizeof *cap);
    if (sensor != 0)
        return NOT_SUPPORTED;
    cap->power_cap = (uint64_t)NUMBER("power_limit", 750000) * 1000; /* uW */
    cap->default_power_cap = (uint64_t)NUMBER("power_limit_default", 750000) * 1000;
    return OK;
}

struct pcie {
    struct {
        uint16_t max_width;
        uint32_t max_speed, interface_version;
        int slot_type;
#ifdef STAND_IN_OLD
        uint64_t reserved[10];
#else
        uint32_t max_interface_version;
        uint64_t reserved[9];
#endif
    } fixed;
    struct {
        uint16_t width;
        uint32_t speed, bandwidth;
        uint64_t replay_count, l0_to_recovery, rollover, nak_sent, nak_received;
        uint32_t other_end;
        uint64_t reserved[12];
    } metric;
    uint64_t reserved[32];
};

API(amdsmi_get_pcie_info, device_t device, struct pcie *pcie)
{
    ENTER(device, pcie);
    memset(pcie, 0, sizeof *pcie);
    pcie->fixed.max_width = (uint16_t)NUMBER("pcie_width_max", 16);
    pcie->fixed.max_speed = 32000;
    pcie->fixed.interface_version = (uint32_t)NUMBER("pcie_generation_max", 5);
    pcie->metric.width = (uint16_t)NUMBER("pcie_width", 16);
    pcie->metric.speed = (uint32_t)NUMBER("pcie_speed", 32000);
    pcie->metric.replay_count = (uint64_t)NUMBER("pcie_replays", 0);
    return OK;
}

/* ---------------------------------------------------------------- memory and its errors */

DEFINE_NUMBER(amdsmi_get_gpu_ecc_enabled, uint64_t, ERROR_BLOCKS)

struct error_count {
    uint64_t correctable, uncorrectable, deferred, reserved[5];
};

DEFINE_ERROR_COUNT(amdsmi_get_gpu_ecc_count)

API(amdsmi_get_gpu_bad_page_info, device_t device, uint32_t *count, struct page *pages)
{
    ENTER(device, count);
    *count = read_pages(device_index(device), pages, *count);
    return OK;
}

/* ---------------------------------------------------------------- processes and partitions */

struct process {
    uint32_t process_id;
#ifdef STAND_IN_OLD
    uint32_t pasid;
#endif
    uint64_t vram_usage, sdma_usage;
    uint32_t cu_occupancy;
#ifndef STAND_IN_OLD
    uint32_t evicted_time;
#endif
};
_Static_assert(sizeof(struct process) == 32, "as both versions have it");

static uint32_t process_of(int device)
{
    return (uint32_t)state_number(device, "process", 0);
}

/* The list has the caller's own process, as that of the real library has. */
API(amdsmi_get_gpu_compute_process_info, struct process *processes, uint32_t *count)
{
    uint32_t size = *count, found = 0;

    if (!is_started)
        return NOT_STARTED;
    for (int i = -1; i < device_count(); i++) {
        uint32_t pid = i < 0 ? (uint32_t)getpid() : process_of(i);

        if (pid == 0)
            continue;
        if (processes && found < size) {
            memset(&processes[found], 0, sizeof *processes);
            processes[found].process_id = pid;
        }
        found++;
    }
    *count = found;
    return processes && found > size ? OUT_OF_RESOURCES : OK;
}

API(amdsmi_get_gpu_compute_process_gpus, uint32_t pid, uint32_t *indices, uint32_t *count)
{
    uint32_t size = *count, found = 0;

    for (int i = 0; i < device_count(); i++)
        if ((pid == (uint32_t)getpid() || process_of(i) == pid) && found < size)
            indices[found++] = (uint32_t)i;
    *count = found;
    return OK;
}

DEFINE_TEXT(amdsmi_get_gpu_compute_partition, uint32_t,
            state_text(device_index(device), "compute_partition", "SPX"))
DEFINE_TEXT(amdsmi_get_gpu_memory_partition, uint32_t,
            state_text(device_index(device), "memory_partition", "NPS1"))

/* ---------------------------------------------------------------- links */

struct xgmi {
    uint8_t lanes;
    uint64_t hive_id, node_id;
    uint32_t index, reserved[9];
};

API(amdsmi_get_xgmi_info, device_t device, struct xgmi *xgmi)
{
    ENTER(device, xgmi);
    *xgmi = (struct xgmi){16, 0x7153d1a1e5b4d5f1, (uint64_t)device_index(device), 0, {0}};
    return OK;
}

#ifndef STAND_IN_OLD

DEFINE_NUMBER(amdsmi_get_gpu_bad_page_threshold, uint32_t, NUMBER("rows_limit", 256))

struct link_status {
    uint32_t total;
    int status[XGMI_LINKS]; /* 0 down, 1 up, 2 disabled */
    uint64_t reserved[7];
};

API(amdsmi_get_gpu_xgmi_link_status, device_t device, struct link_status *links)
{
    ENTER(device, links);
    memset(links, 0, sizeof *links);
    links->total = XGMI_LINKS;
    for (int i = 0; i < XGMI_LINKS; i++) {
        bool is_own = i == device_index(device) % XGMI_LINKS;
        bool is_down = i - (i > device_index(device)) < NUMBER("links_down", 0);

        links->status[i] = is_own || NUMBER("no_links", 0) ? 2 : is_down ? 0 : 1;
    }
    return OK;
}

struct partition_metrics {
    uint32_t gfx_busy_inst[8];
    uint16_t jpeg_busy[40], vcn_busy[4];
    uint64_t accumulated[6][8];
    uint16_t temperature_xcd[8];
};

struct metrics {
    uint16_t structure_size;
    uint8_t format_revision, content_revision;
    uint16_t temperature_edge, temperature_hotspot, temperature_mem, temperature_vrgfx;
    uint16_t temperature_vrsoc, temperature_vrmem;
    uint16_t average_gfx_activity, average_umc_activity, average_mm_activity;
    uint16_t average_socket_power;
    uint64_t energy_accumulator, system_clock_counter;
    uint16_t average_gfxclk, average_socclk, average_uclk, average_vclk0, average_dclk0;
    uint16_t average_vclk1, average_dclk1;
    uint16_t gfxclk, socclk, uclk, vclk0, dclk0, vclk1, dclk1;
    uint32_t throttle_status;
    uint16_t fan_speed, pcie_link_width, pcie_link_speed;
    uint32_t gfx_activity_acc, mem_activity_acc;
    uint16_t temperature_hbm[4];
    uint64_t firmware_timestamp;
    uint16_t voltage_soc, voltage_gfx, voltage_mem;
    uint64_t indep_throttle_status;
    uint16_t current_socket_power, vcn_activity[4];
    uint32_t gfxclk_lock_status;
    uint16_t xgmi_link_width, xgmi_link_speed;
    uint64_t pcie_bandwidth_acc, pcie_bandwidth_inst, l0_to_recov, replay, rollover;
    uint64_t xgmi_read[8], xgmi_write[8];
    uint16_t gfxclks[8], socclks[4], vclk0s[4], dclk0s[4];
    uint16_t jpeg_activity[32];
    uint32_t nak_sent, nak_received;
    uint64_t accumulation_counter, prochot, ppt, socket_thm, vr_thm, hbm_thm;
    uint16_t num_partition;
    struct partition_metrics partitions[8];
    uint32_t other_end_recovery;
    uint64_t vram_max_bandwidth;
    uint16_t xgmi_link_status[8], temperature_hbm_stacks[12], mid[2], aid[2], uclk_aid[2];
    uint16_t socclks_mid[2];
    void *apu;
};

/* clock_reasons has the bits of NVML, so that a test describes a fault alike for all vendors. */
API(amdsmi_get_gpu_metrics_info, device_t device, struct metrics *metrics)
{
    static uint64_t samples;
    long long reasons = NUMBER("clock_reasons", 0);

    ENTER(device, metrics);
    memset(metrics, 0xff, sizeof *metrics);
    samples++;
    if (NUMBER("no_counters", 0))
        return OK;
    metrics->accumulation_counter = 1000 * samples;
    metrics->prochot = reasons & 0x8 ? 100 + samples : 100;
    metrics->ppt = reasons & 0x4 ? 100 + samples : 100;
    metrics->socket_thm = reasons & 0x40 ? 100 + samples : 100;
    metrics->vr_thm = metrics->hbm_thm = 100;
    return OK;
}

#endif
