/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/gpu/handles.h"

#include <stdbool.h>
#include <stdint.h>

/* A stand-in for libhlml.so. Prototypes, structures and constants: hlml.h of HLML 1.15 (as in
 * HabanaAI/gohlml). A healthy device is a Gaudi 2 of a board of eight. */

enum { PORTS = 24 };

/* ---------------------------------------------------------------- library */

API(hlml_init, void)
{
    return start("gaudi", __func__);
}

API(hlml_get_hlml_version, char *text, unsigned length)
{
    return copy(state_text(-1, "library", "1.15.0"), text, length);
}

API(hlml_get_driver_version, char *text, unsigned length)
{
    return copy(state_text(-1, "driver", "1.15.0-a596ef0"), text, length);
}

API(hlml_device_get_count, unsigned *count)
{
    return count_devices(count, __func__);
}

API(hlml_device_get_handle_by_index, unsigned index, device_t *device)
{
    return open_device(index, device, __func__);
}

/* ---------------------------------------------------------------- texts */

struct pci {
    unsigned bus;
    char bus_id[15];
    unsigned device, domain, pci_device_id;
    struct {
        char link_speed[10], link_width[10];
    } caps;
};

API(hlml_device_get_pci_info, device_t device, struct pci *pci)
{
    static const unsigned buses[8] = {0x19, 0x33, 0x34, 0x4d, 0x9a, 0x9b, 0xb3, 0xb4};

    ENTER(device);
    memset(pci, 0, sizeof *pci);
    pci->bus = buses[device_index(device) % 8];
    pci->pci_device_id = 0x10201da3;
    snprintf(pci->bus_id, sizeof pci->bus_id, "0000:%02x:00.0", pci->bus);
    return OK;
}

DEFINE_TEXT(hlml_device_get_name, "name", "HL-225")
DEFINE_TEXT(hlml_device_get_uuid, "uuid", "01P0-HL2080A0-15-TNPS34-20-07-00")
DEFINE_TEXT(hlml_device_get_serial, "serial", "AN18013573")
DEFINE_TEXT(hlml_get_fw_os_version, "firmware", "hl-gaudi2-1.15.0-fw-48.2.1")

/* ---------------------------------------------------------------- numbers */

DEFINE_OF_TYPE(hlml_device_get_clock_info, 0, "clock", 200, "clock", 200)
DEFINE_OF_TYPE(hlml_device_get_max_clock_info, 0, "clock_max", 1650, "clock_max", 1650)
DEFINE_OF_TYPE(hlml_device_get_temperature, 0, "temperature", 28, "temperature_board", 24)
DEFINE_OF_TYPE(hlml_device_get_temperature_threshold, 1, "temperature_limit", 95, "temperature_off",
               105)

DEFINE_NUMBER(hlml_device_get_power_management_default_limit, "power_limit_default", 600000)
DEFINE_NUMBER(hlml_device_get_pcie_replay_counter, "pcie_replays", 0)
DEFINE_NUMBER(hlml_device_get_curr_pcie_link_width, "pcie_width", 16)
DEFINE_NUMBER(hlml_device_get_curr_pcie_link_generation, "pcie_generation", 4)
DEFINE_NUMBER(hlml_device_get_replaced_rows_pending_status, "rows_pending", 0)

DEFINE_MODE(hlml_device_get_ecc_mode, "ecc", 1)

API(hlml_device_get_total_ecc_errors, device_t device, unsigned type, unsigned counter,
    unsigned long long *count)
{
    ENTER(device);
    if (type == 0)
        return NOT_SUPPORTED;
    *count = (unsigned long long)(counter == 0 ? NUMBER("ecc_volatile_uncorrected", 0)
                                               : NUMBER("ecc_aggregate_uncorrected", 0));
    return OK;
}

/* clock_reasons has the bits of NVML, so that a test describes a fault alike for all vendors. */
API(hlml_device_get_current_clocks_throttle_reasons, device_t device, unsigned long long *reasons)
{
    ENTER(device);
    *reasons =
        (NUMBER("clock_reasons", 0) & 0x4 ? 1 : 0) | (NUMBER("clock_reasons", 0) & 0x68 ? 2 : 0);
    return OK;
}

struct memory {
    unsigned long long free, total, used;
};

API(hlml_device_get_memory_info, device_t device, struct memory *memory)
{
    ENTER(device);
    memory->total = (unsigned long long)NUMBER("memory", 103079215104);
    memory->used = (unsigned long long)NUMBER("memory_used", 0) + 805306368;
    memory->free = memory->total - memory->used;
    return OK;
}

struct row {
    uint8_t hbm, pc, sid, bank;
    uint16_t row;
};

API(hlml_device_get_replaced_rows, device_t device, int cause, unsigned *count, struct row *rows)
{
    unsigned size = *count;

    ENTER(device);
    *count = (unsigned)(cause == 0 ? NUMBER("rows_corrected", 0) : NUMBER("rows_uncorrected", 0));
    if (rows && size < *count)
        return INSUFFICIENT_SIZE;
    return OK;
}

/* ---------------------------------------------------------------- ports */

API(hlml_get_mac_addr_info, device_t device, uint64_t *mask, uint64_t *external)
{
    ENTER(device);
    mask[0] = (1ULL << PORTS) - 1;
    external[0] = (1ULL << 8) | (1ULL << 22) | (1ULL << 23);
    mask[1] = external[1] = 0;
    return OK;
}

API(hlml_nic_get_link, device_t device, uint32_t port, bool *is_up)
{
    ENTER(device);
    *is_up = port >= (uint32_t)NUMBER("links_down", 0) && port != 8 && port < 22; /* no cable */
    return port < PORTS ? OK : INVALID_ARGUMENT;
}
