/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/amd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/checks_constants.h"

enum {
    AMDSMI_NOT_SUPPORTED = 2,
    AMDSMI_NOT_YET_IMPLEMENTED = 3,
    AMDSMI_NO_PERMISSION = 10,
    AMDSMI_INIT_ERROR = 18,
    AMDSMI_DRIVER_NOT_LOADED = 34,
    AMDSMI_NO_DATA = 40,
    AMDSMI_INIT_GPUS = 2,
    AMDSMI_GPU = 1, /* processor type */
    AMDSMI_CLOCK_GRAPHICS = 0,
    AMDSMI_CLOCK_MEMORY = 4,
    AMDSMI_LINK_DOWN = 0,
    AMDSMI_LINK_UP = 1,
    AMDSMI_LINKS = 8,
};

struct amdsmi_version { /* of 24: year, major, minor, release; of 26: major, minor, release */
    uint32_t numbers[4];
    const char *build; /* at the same offset in 26, by alignment */
};

struct amdsmi_pcie {
    uint16_t width_max;
    uint32_t speed_max, generation_max, slot;
    uint64_t reserved[10];
    uint16_t width;
    uint32_t speed, bandwidth; /* MT/s, Mb/s */
    uint64_t replays;
};

struct amdsmi_clock {
    uint32_t now, lowest, highest;
};

struct amdsmi_power_cap {
    uint64_t now, standard; /* uW */
};

struct amdsmi_xgmi {
    uint8_t lanes;
    uint64_t hive, node;
};

struct amdsmi_links { /* since 25 */
    uint32_t total, states[AMDSMI_LINKS];
};

struct amdsmi_metrics { /* since 24.7, up to the last member that is read */
    uint16_t size;
    uint8_t format, content;
    uint16_t temperatures[6], activities[3], power;
    uint64_t energy, system_time;
    uint16_t average_clocks[7], clocks[7];
    uint32_t throttle_status;
    uint16_t fan, pcie_width, pcie_speed;
    uint32_t graphics_activity, memory_activity;
    uint16_t hbm_temperatures[4];
    uint64_t firmware_time;
    uint16_t voltages[3];
    uint64_t throttle_bits;
    uint16_t socket_power, video_activity[4];
    uint32_t locks;
    uint16_t xgmi_width, xgmi_speed;
    uint64_t pcie[5], xgmi_read[8], xgmi_write[8];
    uint16_t graphics_clocks[8], other_clocks[12], jpeg[32];
    uint32_t naks[2];
    uint64_t samples;
    uint64_t prochot, power_capped, socket_hot, regulators_hot, memory_hot;
};

/* Read before the devices. The child makes only one reading, so it is static. */
static struct {
    uint32_t version[2]; /* 24.7 */
    void *handles[ACCELERATOR_MAX];
    unsigned count;
    struct {
        int result;
        double time_s;
        struct amdsmi_metrics metrics;
    } samples[ACCELERATOR_MAX];
} known;

static bool is_since(unsigned first, unsigned second)
{
    return known.version[0] > first || (known.version[0] == first && known.version[1] >= second);
}

/* As reading_query(), but not for versions later than this program, whose layouts are unknown. */
static int query_struct(struct reading *reading, const char *function, void *answer)
{
    return is_since(27, 0) ? READING_NO_FUNCTION : reading_query(reading, function, answer);
}

static const struct reading_status statuses[] = {
    {AMDSMI_NOT_SUPPORTED, ANSWER_NOT_SUPPORTED, ACCELERATOR_OK},
    {AMDSMI_NOT_YET_IMPLEMENTED, ANSWER_NOT_SUPPORTED, ACCELERATOR_OK},
    {AMDSMI_NO_DATA, ANSWER_NOT_SUPPORTED, ACCELERATOR_OK},
    {AMDSMI_NO_PERMISSION, ANSWER_NO_PERMISSION, ACCELERATOR_OK},
    {0},
};

static const struct reading_number numbers[] = {
    {ACCELERATOR_TEMPERATURE, "amdsmi_get_temp_metric", FORM_TYPES_U64, AMD_HOTSPOT,
     AMD_TEMPERATURE_NOW},
    {ACCELERATOR_TEMPERATURE_LIMIT, "amdsmi_get_temp_metric", FORM_TYPES_U64, AMD_HOTSPOT,
     AMD_TEMPERATURE_CRITICAL},
    {ACCELERATOR_MEMORY_TOTAL, "amdsmi_get_gpu_memory_total", FORM_TYPE_U64, AMD_MEMORY_VRAM},
    {ACCELERATOR_MEMORY_USED, "amdsmi_get_gpu_memory_usage", FORM_TYPE_U64, AMD_MEMORY_VRAM},
    {ACCELERATOR_PCIE_REPLAYS, "amdsmi_get_gpu_pci_replay_counter", FORM_U64},
    {ACCELERATOR_LINK_STATUS, "amdsmi_gpu_xgmi_error_status", FORM_U32},
    {ACCELERATOR_ROWS_LIMIT, "amdsmi_get_gpu_bad_page_threshold", FORM_U32},
    {0},
};

static int start(struct reading *reading)
{
    int (*init)(uint64_t) = reading_function(reading, "amdsmi_init");
    int (*get_version)(void *) = reading_function(reading, "amdsmi_get_lib_version");
    AMD_ROOM(struct amdsmi_version, version);
    int result;

    if (!init || !get_version)
        return reading_end(reading, OUTCOME_NO_LIBRARY, "missing function amdsmi_%s",
                           init ? "get_lib_version" : "init");
    *reading->function = "amdsmi_init";
    result = init(AMDSMI_INIT_GPUS);
    if (result != AMD_OK)
        return amd_fail_start(reading, "amdsmi_init", result,
                              result == AMDSMI_DRIVER_NOT_LOADED || result == AMDSMI_INIT_ERROR);
    *reading->function = "amdsmi_get_lib_version";
    if (get_version(&version) == AMD_OK) {
        memcpy(known.version, version.of.numbers, sizeof known.version);
        snprintf(reading->report->library_version, INVENTORY_NAME, "%u.%u.%u",
                 version.of.numbers[0], version.of.numbers[1], version.of.numbers[2]);
    }
    if (!is_since(24, 5)) {
        READING_CALL(reading, "amdsmi_shut_down", (void));
        return reading_end(reading, OUTCOME_NO_LIBRARY,
                           "found version %s, expected 24.5 (ROCm 6.1) or later",
                           reading->report->library_version);
    }
    return 0;
}

static void sample_metrics(struct reading *reading, unsigned index, struct amdsmi_metrics *metrics)
{
    AMD_ROOM(struct amdsmi_metrics, now);
    int result;

    reading->handle = known.handles[index];
    result = is_since(24, 7) ? query_struct(reading, "amdsmi_get_gpu_metrics_info", &now)
                             : READING_NO_FUNCTION;
    if (result == AMD_OK && now.of.samples == UINT64_MAX)
        result = AMDSMI_NOT_SUPPORTED; /* not by this device */
    known.samples[index].result = result;
    *metrics = now.of;
}

static int count_devices(struct reading *reading, unsigned *count)
{
    void *sockets[ACCELERATOR_MAX], *processors[ACCELERATOR_MAX];
    uint32_t socket_count = ACCELERATOR_MAX;
    int (*get_sockets)(uint32_t *, void **) =
        reading_function(reading, "amdsmi_get_socket_handles");
    int (*get_processors)(void *, uint32_t *, void **) =
        reading_function(reading, "amdsmi_get_processor_handles");
    int (*get_type)(void *, uint32_t *) = reading_function(reading, "amdsmi_get_processor_type");
    int result = READING_NO_FUNCTION;

    *reading->function = "amdsmi_get_socket_handles";
    if (get_sockets && get_processors)
        result = get_sockets(&socket_count, sockets);
    *reading->function = "amdsmi_get_processor_handles";
    for (uint32_t i = 0; result == AMD_OK && i < socket_count && i < ACCELERATOR_MAX; i++) {
        uint32_t processor_count = ACCELERATOR_MAX;

        result = get_processors(sockets[i], &processor_count, processors);
        for (uint32_t j = 0; result == AMD_OK && j < processor_count && j < ACCELERATOR_MAX; j++) {
            uint32_t type = AMDSMI_GPU;

            if (known.count < ACCELERATOR_MAX &&
                (!get_type || get_type(processors[j], &type) != AMD_OK || type == AMDSMI_GPU))
                known.handles[known.count++] = processors[j];
        }
    }
    *count = known.count;
    if (result != AMD_OK)
        return result;
    amd_find_processes(reading);
    for (unsigned i = 0; i < known.count; i++) {
        known.samples[i].time_s = clock_s();
        sample_metrics(reading, i, &known.samples[i].metrics);
    }
    return AMD_OK;
}

static int open_device(struct reading *reading, unsigned index)
{
    reading->handle = known.handles[index];
    return AMD_OK;
}

static void identify(struct reading *reading, struct accelerator *device)
{
    char uuid[256] = "";
    unsigned length = sizeof uuid - 1;
    uint64_t bdf = 0;
    AMD_ROOM(char, name);

    if (READING_CALL(reading, "amdsmi_get_gpu_device_uuid", (void *, unsigned *, char *),
                     reading->handle, &length, uuid) == AMD_OK)
        snprintf(device->uuid, sizeof device->uuid, "%.*s", INVENTORY_NAME - 1, uuid);
    if (reading_query(reading, "amdsmi_get_gpu_device_bdf", &bdf) == AMD_OK)
        reading_pci(device, (unsigned)(bdf >> 16), bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7);
    /* both structures begin with the text to read */
    if (reading_query(reading, "amdsmi_get_gpu_asic_info", &name) == AMD_OK)
        snprintf(device->model, sizeof device->model, "%.*s", INVENTORY_NAME - 1, name.room);
    if (!reading->report->driver_version[0] &&
        reading_query(reading, "amdsmi_get_gpu_driver_info", &name) == AMD_OK)
        snprintf(reading->report->driver_version, INVENTORY_NAME, "%.*s", INVENTORY_NAME - 1,
                 name.room);
}

static void read_clock(struct reading *reading, struct accelerator *device, uint32_t type,
                       enum accelerator_value_id now, enum accelerator_value_id highest)
{
    AMD_ROOM(struct amdsmi_clock, clock);
    int result = READING_CALL(reading, "amdsmi_get_clock_info", (void *, uint32_t, void *),
                              reading->handle, type, &clock);

    reading_take(reading, device, now, result, clock.of.now);
    reading_take(reading, device, highest, result, clock.of.highest);
}

static void read_clocks(struct reading *reading, struct accelerator *device)
{
    read_clock(reading, device, AMDSMI_CLOCK_GRAPHICS, ACCELERATOR_CLOCK, ACCELERATOR_CLOCK_MAX);
    read_clock(reading, device, AMDSMI_CLOCK_MEMORY, ACCELERATOR_MEMORY_CLOCK,
               ACCELERATOR_MEMORY_CLOCK_MAX);
}

static void read_power(struct reading *reading, struct accelerator *device)
{
    AMD_ROOM(struct amdsmi_power_cap, cap);
    int result = READING_CALL(reading, "amdsmi_get_power_cap_info", (void *, uint32_t, void *),
                              reading->handle, 0, &cap);

    reading_take(reading, device, ACCELERATOR_POWER_LIMIT, result, (long long)cap.of.now / 1000);
    reading_take(reading, device, ACCELERATOR_POWER_LIMIT_DEFAULT, result,
                 (long long)cap.of.standard / 1000);
}

/* Returns the generation of a PCIe link by its transfer rate. */
static int generation_of(uint32_t speed_MTps)
{
    static const uint32_t speeds_MTps[] = {5000, 8000, 16000, 32000, 64000}; /* of 2, 3 ... */
    int generation = 1;

    for (size_t i = 0; i < sizeof speeds_MTps / sizeof *speeds_MTps; i++)
        generation += speed_MTps >= speeds_MTps[i];
    return generation;
}

static void read_pcie(struct reading *reading, struct accelerator *device)
{
    AMD_ROOM(struct amdsmi_pcie, pcie);
    int result = query_struct(reading, "amdsmi_get_pcie_info", &pcie);
    const struct {
        enum accelerator_value_id id;
        long long number;
        bool is_supported; /* not all ones */
    } values[] = {
        {ACCELERATOR_PCIE_WIDTH, pcie.of.width, pcie.of.width != UINT16_MAX},
        {ACCELERATOR_PCIE_WIDTH_MAX, pcie.of.width_max, pcie.of.width_max != UINT16_MAX},
        {ACCELERATOR_PCIE_GENERATION, generation_of(pcie.of.speed), pcie.of.speed < 1000000},
        {ACCELERATOR_PCIE_GENERATION_MAX, pcie.of.generation_max, pcie.of.generation_max < 16},
    };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        reading_take(reading, device, values[i].id,
                     result == AMD_OK && !values[i].is_supported ? AMDSMI_NOT_SUPPORTED : result,
                     values[i].number);
    if (result == AMD_OK && pcie.of.replays != UINT64_MAX)
        value_set(device, ACCELERATOR_PCIE_REPLAYS, (long long)pcie.of.replays);
}

static void read_xgmi(struct reading *reading, struct accelerator *device)
{
    AMD_ROOM(struct amdsmi_xgmi, xgmi);
    AMD_ROOM(struct amdsmi_links, links);
    int result = query_struct(reading, "amdsmi_get_gpu_xgmi_link_status", &links);
    long long count = 0, active = 0;

    for (uint32_t i = 0; result == AMD_OK && i < links.of.total && i < AMDSMI_LINKS; i++) {
        count += links.of.states[i] == AMDSMI_LINK_UP || links.of.states[i] == AMDSMI_LINK_DOWN;
        active += links.of.states[i] == AMDSMI_LINK_UP;
    }
    reading_take(reading, device, ACCELERATOR_LINKS, result, count);
    reading_take(reading, device, ACCELERATOR_LINKS_ACTIVE, result, active);
    if (query_struct(reading, "amdsmi_get_xgmi_info", &xgmi) == AMD_OK && xgmi.of.hive != 0)
        snprintf(device->fabric_cluster, sizeof device->fabric_cluster, "%llx",
                 (unsigned long long)xgmi.of.hive);
}

static int reasons_between(const struct amdsmi_metrics *then, const struct amdsmi_metrics *now)
{
    const struct {
        uint64_t then, now;
        enum accelerator_clock_reason reason;
    } counters[] = {
        {then->prochot, now->prochot, CLOCK_REASON_HW_SLOWDOWN},
        {then->power_capped, now->power_capped, CLOCK_REASON_POWER_CAP},
        {then->socket_hot, now->socket_hot, CLOCK_REASON_HW_THERMAL},
        {then->regulators_hot, now->regulators_hot, CLOCK_REASON_HW_THERMAL},
        {then->memory_hot, now->memory_hot, CLOCK_REASON_HW_THERMAL},
    };
    int reasons = 0;

    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (counters[i].now != UINT64_MAX && counters[i].now > counters[i].then)
            reasons |= (int)counters[i].reason;
    return reasons;
}

/* Finds what lowered the clocks between two samples of the counters, for all devices after one
 * wait: the firmware updates the counters every 100 ms. */
static void finish(struct reading *reading)
{
    for (unsigned i = 0; i < known.count; i++) {
        double left_s = known.samples[i].time_s + ACCELERATOR_SAMPLES_S - clock_s();
        struct amdsmi_metrics now = {0};

        if (known.samples[i].result == AMD_OK) {
            if (left_s > 0)
                usleep((useconds_t)(left_s * 1e6));
            sample_metrics(reading, i, &now);
        }
        reading_take(reading, &reading->report->accelerators[i], ACCELERATOR_CLOCK_REASONS,
                     known.samples[i].result, reasons_between(&known.samples[i].metrics, &now));
    }
}

static reading_part_fn *const parts[] = {
    amd_read_errors, amd_read_pages,     read_clocks,        read_power, read_pcie,
    read_xgmi,       amd_read_partition, amd_read_processes, NULL,
};

const struct accelerator_reader accelerator_amdsmi = {
    .vendor = GPU_AMD,
    /* some packages install the name without a version only with the headers */
    .libraries = {"libamd_smi.so", "libamd_smi.so.26", "libamd_smi.so.25", "libamd_smi.so.24"},
    .traits = AMD_TRAITS,
    .statuses = statuses,
    .start = start,
    .count = count_devices,
    .open = open_device,
    .identify = identify,
    .numbers = numbers,
    .parts = parts,
    .finish = finish,
};
