/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/library.h"

#include <unistd.h>

/* Habana Labs Management Library. Prototypes, layouts and numbers: hlml.h of HLML 1.15 (as in
 * HabanaAI/gohlml); newer ones have longer PCI structures, of which only the beginning is read.
 * Counters of ports are not read: the firmware needs 100 ms for each port. The library lists no
 * processes. */

enum hlml_return {
    HLML_SUCCESS = 0,
    HLML_NOT_SUPPORTED = 3,
    HLML_DRIVER_NOT_LOADED = 9,
    HLML_AIP_IS_LOST = 15,
    HLML_NO_DATA = 21,
};

enum {
    HLML_CLOCK_SOC = 0,
    HLML_TEMPERATURE_ON_AIP = 0,
    HLML_TEMPERATURE_SLOWDOWN = 1,
    HLML_CORRECTED = 0,
    HLML_UNCORRECTED = 1,
    HLML_VOLATILE = 0,
    HLML_AGGREGATE = 1,
    HLML_THROTTLE_POWER = 1,
    HLML_THROTTLE_THERMAL = 2,
    HLML_ROWS_SINGLE_BIT = 0,
    HLML_ROWS_DOUBLE_BIT = 1,
    HLML_PORT_WORDS = 2, /* of 64 ports */
};

struct hlml_pci {
    unsigned bus;
    char bus_id[15]; /* "0000:19:00.0"; 19 bytes in newer ones */
};

struct hlml_memory {
    unsigned long long free, total, used;
};

static const struct reading_status statuses[] = {
    {HLML_NOT_SUPPORTED, ANSWER_NOT_SUPPORTED, ACCELERATOR_OK},
    {HLML_NO_DATA, ANSWER_NOT_SUPPORTED, ACCELERATOR_OK},
    {HLML_AIP_IS_LOST, ANSWER_ERROR, ACCELERATOR_LOST},
    {0},
};

static const struct reading_number numbers[] = {
    {ACCELERATOR_CLOCK, "hlml_device_get_clock_info", FORM_TYPE_U32, HLML_CLOCK_SOC},
    {ACCELERATOR_CLOCK_MAX, "hlml_device_get_max_clock_info", FORM_TYPE_U32, HLML_CLOCK_SOC},
    {ACCELERATOR_TEMPERATURE, "hlml_device_get_temperature", FORM_TYPE_U32,
     HLML_TEMPERATURE_ON_AIP},
    {ACCELERATOR_TEMPERATURE_LIMIT, "hlml_device_get_temperature_threshold", FORM_TYPE_U32,
     HLML_TEMPERATURE_SLOWDOWN},
    {ACCELERATOR_POWER_LIMIT, "hlml_device_get_power_management_limit"}, /* after 1.15 */
    {ACCELERATOR_POWER_LIMIT_DEFAULT, "hlml_device_get_power_management_default_limit"},
    {ACCELERATOR_ECC_VOLATILE_CORRECTED, "hlml_device_get_total_ecc_errors", FORM_TYPES_U64,
     HLML_CORRECTED, HLML_VOLATILE},
    {ACCELERATOR_ECC_VOLATILE_UNCORRECTED, "hlml_device_get_total_ecc_errors", FORM_TYPES_U64,
     HLML_UNCORRECTED, HLML_VOLATILE},
    {ACCELERATOR_ECC_AGGREGATE_CORRECTED, "hlml_device_get_total_ecc_errors", FORM_TYPES_U64,
     HLML_CORRECTED, HLML_AGGREGATE},
    {ACCELERATOR_ECC_AGGREGATE_UNCORRECTED, "hlml_device_get_total_ecc_errors", FORM_TYPES_U64,
     HLML_UNCORRECTED, HLML_AGGREGATE},
    {ACCELERATOR_ROWS_PENDING, "hlml_device_get_replaced_rows_pending_status"},
    {ACCELERATOR_PCIE_REPLAYS, "hlml_device_get_pcie_replay_counter"},
    {ACCELERATOR_PCIE_WIDTH, "hlml_device_get_curr_pcie_link_width"},
    {ACCELERATOR_PCIE_GENERATION, "hlml_device_get_curr_pcie_link_generation"},
    {0},
};

static void read_modes(struct reading *reading, struct accelerator *device)
{
    unsigned now = 0, pending = 0;
    unsigned long long bits = 0;
    int result = READING_CALL(reading, "hlml_device_get_ecc_mode", (void *, unsigned *, unsigned *),
                              reading->handle, &now, &pending);

    reading_take(reading, device, ACCELERATOR_ECC_ENABLED, result, now);
    reading_take(reading, device, ACCELERATOR_ECC_PENDING, result, pending);
    result = reading_query(reading, "hlml_device_get_current_clocks_throttle_reasons", &bits);
    reading_take(reading, device, ACCELERATOR_CLOCK_REASONS, result,
                 (bits & HLML_THROTTLE_POWER ? CLOCK_REASON_POWER_CAP : 0) |
                     (bits & HLML_THROTTLE_THERMAL ? CLOCK_REASON_HW_THERMAL : 0));
}

static void read_rows(struct reading *reading, struct accelerator *device)
{
    static const struct {
        enum accelerator_value_id id;
        unsigned cause;
    } causes[] = {
        {ACCELERATOR_ROWS_CORRECTED, HLML_ROWS_SINGLE_BIT},
        {ACCELERATOR_ROWS_UNCORRECTED, HLML_ROWS_DOUBLE_BIT},
    };

    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        unsigned count = 0;
        int result = READING_CALL(reading, "hlml_device_get_replaced_rows",
                                  (void *, unsigned, unsigned *, void *), reading->handle,
                                  causes[i].cause, &count, NULL);

        reading_take(reading, device, causes[i].id, result, count);
    }
}

static void read_memory(struct reading *reading, struct accelerator *device)
{
    struct hlml_memory memory = {0};
    int result = reading_query(reading, "hlml_device_get_memory_info", &memory);

    reading_take(reading, device, ACCELERATOR_MEMORY_TOTAL, result, (long long)memory.total);
    reading_take(reading, device, ACCELERATOR_MEMORY_USED, result, (long long)memory.used);
}

/* Reads the ports to the node's other devices; ports to other nodes are network interfaces. */
static void read_ports(struct reading *reading, struct accelerator *device)
{
    int (*get_ports)(void *, uint64_t *, uint64_t *) =
        reading_function(reading, "hlml_get_mac_addr_info");
    int (*get_link)(void *, uint32_t, bool *) = reading_function(reading, "hlml_nic_get_link");
    uint64_t ports[8] = {0}, external[8] = {0};
    int result = READING_NO_FUNCTION;
    long long count = 0, active = 0;

    *reading->function = "hlml_get_mac_addr_info";
    if (get_ports && get_link)
        result = get_ports(reading->handle, ports, external);
    *reading->function = "hlml_nic_get_link";
    for (uint32_t port = 0; port < 64 * HLML_PORT_WORDS && result == HLML_SUCCESS; port++) {
        bool is_up = false;

        if (!(ports[port / 64] & ~external[port / 64] & 1ULL << port % 64))
            continue;
        result = get_link(reading->handle, port, &is_up);
        count++;
        active += is_up;
    }
    reading_take(reading, device, ACCELERATOR_LINKS, result, count);
    reading_take(reading, device, ACCELERATOR_LINKS_ACTIVE, result, active);
}

static void identify(struct reading *reading, struct accelerator *device)
{
    union {
        struct hlml_pci of;
        char room[512];
    } pci = {.room = ""};

    if (reading_query(reading, "hlml_device_get_pci_info", &pci) == HLML_SUCCESS)
        reading_pci_text(device, pci.of.bus_id);
    reading_text(reading, "hlml_device_get_name", device->model);
    reading_text(reading, "hlml_device_get_uuid", device->uuid);
    reading_text(reading, "hlml_device_get_serial", device->serial);
    reading_text(reading, "hlml_get_fw_os_version", device->firmware);
}

static reading_part_fn *const parts[] = {
    read_modes, read_rows, read_memory, read_ports, NULL,
};

static int start(struct reading *reading)
{
    int (*init)(void) = reading_function(reading, "hlml_init");
    int result;

    if (!init || !reading_function(reading, "hlml_device_get_handle_by_index"))
        return reading_end(reading, OUTCOME_NO_LIBRARY, "missing function %s", *reading->function);
    *reading->function = "hlml_init";
    result = init();
    if (result == HLML_DRIVER_NOT_LOADED ||
        (result != HLML_SUCCESS && access("/sys/module/habanalabs", F_OK) != 0))
        return reading_end(reading, OUTCOME_NO_DRIVER, "no driver found");
    if (result != HLML_SUCCESS)
        return reading_end(reading, OUTCOME_ERROR, "hlml_init returned %d", result);
    reading_system_text(reading, "hlml_get_hlml_version", reading->report->library_version);
    reading_system_text(reading, "hlml_get_driver_version", reading->report->driver_version);
    return 0;
}

const struct accelerator_reader accelerator_hlml = {
    .vendor = GPU_GAUDI,
    .libraries = {"libhlml.so"},
    .traits = {"internal port", "row", "replaced"},
    .statuses = statuses,
    .start = start,
    .count_function = "hlml_device_get_count",
    .open_function = "hlml_device_get_handle_by_index",
    .identify = identify,
    .numbers = numbers,
    .parts = parts,
};
