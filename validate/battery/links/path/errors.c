/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/links/path/errors.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/netif/dcb.h"

static const struct {
    const char *name;
    size_t offset; /* in struct counters */
    bool is_fault;
    const char *meaning; /* NULL: the name says it */
} kinds[ERROR_KINDS] = {
    {"crc_errors", offsetof(struct counters, rx_crc_errors), true},
    {"rx_errors", offsetof(struct counters, rx_errors), true},
    {"tx_errors", offsetof(struct counters, tx_errors), true},
    {"checksum_errors", offsetof(struct counters, checksum_errors), false,
     "TCP threw them away; what they had was damaged on the way"},
    {"rx_dropped", offsetof(struct counters, rx_dropped), false},
    {"collisions", offsetof(struct counters, collisions), true},
    {"carrier_changes", offsetof(struct counters, carrier_changes), true},
    {"symbol_errors", offsetof(struct counters, symbol_errors), true},
    {"link_downed", offsetof(struct counters, link_downed), true},
    {"link_error_recovery", offsetof(struct counters, link_error_recovery), true},
    {"port_rcv_errors", offsetof(struct counters, port_rcv_errors), true},
    {"rdma_retransmits", offsetof(struct counters, rdma_retransmits), false},
    {"rdma_not_ready", offsetof(struct counters, rdma_not_ready), false,
     "a receiver had no buffer posted: it is slower than its sender, or its processor is busy"},
    {"rdma_discards", offsetof(struct counters, rdma_discards), true,
     "it had no room for them, or was held back too long; check flow control (PFC) of the port and "
     "of its switch port, and the other end for a slow receiver"},
    {"rdma_marked", offsetof(struct counters, rdma_marked), false,
     "a switch on the way was congested"},
    {"rdma_slowed", offsetof(struct counters, rdma_slowed), false,
     "congestion control held it back"},
    {"pauses_received", offsetof(struct counters, pauses_received), false,
     "the switch held it back: it, or what is behind it, is congested"},
    {"pauses_sent", offsetof(struct counters, pauses_sent), false,
     "it held the switch back: it takes data more slowly than they come; look at its PCIe link, "
     "its host's memory, and how many send to it"},
    {"pcie_correctable", offsetof(struct counters, pcie_correctable), true},
    {"pcie_nonfatal", offsetof(struct counters, pcie_nonfatal), true},
    {"pcie_fatal", offsetof(struct counters, pcie_fatal), true},
};

static uint64_t count_of(const struct counters *counters, int kind)
{
    uint64_t count;

    memcpy(&count, (const char *)counters + kinds[kind].offset, sizeof count);
    return count;
}

/* What is not told counts as none. */
static void read_pauses(const char *interface, struct counters *counters)
{
    struct netlink netlink;

    if (netlink_open(&netlink, NULL) != 0)
        return;
    if (dcb_count_pauses(&netlink, interface, &counters->pauses_sent, &counters->pauses_received,
                         NULL) != 0)
        counters->pauses_sent = counters->pauses_received = 0;
    netlink_close(&netlink);
}

void errors_read(const struct rail *rail, struct counters *counters, bool *can_count)
{
    const char *pci = rail->port ? rail->port->location.pci : rail->nic->location.pci;

    *can_count =
        counters_read("", rail->nic ? rail->nic->name : "", rail->port ? rail->port->device : "",
                      rail->port ? rail->port->port : 0, counters) == 0;
    if (rail->nic)
        read_pauses(rail->nic->name, counters);
    counters_read_pci("", pci, counters);
    counters_read_tcp("", counters);
}

double errors_arrived_bytes(const struct rail *rail)
{
    struct counters counters;

    if (counters_read("", rail->nic ? rail->nic->name : "", rail->port ? rail->port->device : "",
                      rail->port ? rail->port->port : 0, &counters) != 0)
        return -1;
    return (double)counters.rx_bytes + (double)counters.rdma_rx_bytes;
}

void errors_between(const struct counters *before, const struct counters *after,
                    struct errors *errors)
{
    for (int i = 0; i < ERROR_KINDS; i++) {
        uint64_t old = count_of(before, i), new = count_of(after, i);

        errors->counts[i] = new > old ? (double)(new - old) : 0;
    }
}

const char *error_name(int kind)
{
    return kinds[kind].name;
}

const char *error_meaning(int kind)
{
    return kinds[kind].meaning ? kinds[kind].meaning : "";
}

bool error_is_fault(int kind)
{
    return kinds[kind].is_fault;
}
