/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/path/errors.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/fabric/rail_counters.h"
#include "lib/netif/dcb.h"

/* Ethernet switches may cut through: they pass on a damaged frame before they know of it. */
#define OF_CABLE "clean or replace the cable and transceiver"
#define OF_ETHERNET                                                                                \
    "frames were damaged on the cable to this port, or before a cut-through switch: " OF_CABLE

static const char rx_direction[] = " in what it received", tx_direction[] = " in what it sent";

/* A NIC has counters of four kinds. Of its link: what arrived damaged over it, or that it was lost.
 * Of its host: no buffers were ready, or PCIe had errors. Of congestion elsewhere: what was
 * discarded, paused, marked or slowed for want of room (IBTA, PortCounters: PortXmitDiscards; IEEE
 * 802.1Qbb; RFC 3168; Linux, if_link.h, rtnl_link_stats64). Of damage before this link: a switch
 * marked the packet, or TCP's checksum did not fit while the link's did. Only the first two are a
 * fault here. A link that is as good as its standard asks for has one bit of 10^12 wrong at most
 * (IEEE 802.3, IBTA). What is sent here in a measurement, some 10^10 bits, is hardly ever damaged,
 * so a single error counts. */
const struct error_kind error_kinds[ERROR_KINDS] = {
    /* of the link */
    {"crc_errors", offsetof(struct counters, rx_crc_errors), FAULT_LINK_ERRORS, rx_direction,
     OF_ETHERNET},
    {"rx_errors", offsetof(struct counters, rx_errors), FAULT_LINK_ERRORS, rx_direction,
     OF_ETHERNET},
    {"tx_errors", offsetof(struct counters, tx_errors), FAULT_LINK_ERRORS, tx_direction, NULL},
    {"collisions", offsetof(struct counters, collisions), FAULT_LINK_ERRORS, NULL,
     "one end of the cable is half duplex: set both ends to autonegotiate"},
    {"symbol_errors", offsetof(struct counters, symbol_errors), FAULT_LINK_ERRORS, rx_direction,
     OF_CABLE},
    {"port_rcv_errors", offsetof(struct counters, port_rcv_errors), FAULT_LINK_ERRORS, rx_direction,
     OF_CABLE},
    {"link_integrity_errors", offsetof(struct counters, link_integrity_errors), FAULT_LINK_ERRORS,
     rx_direction, OF_CABLE},
    {"link_error_recovery", offsetof(struct counters, link_error_recovery), FAULT_LINK_ERRORS, NULL,
     "the link was retrained: " OF_CABLE},
    {"buffer_overruns", offsetof(struct counters, buffer_overruns), FAULT_LINK_ERRORS, rx_direction,
     "the port at the other end of the cable sent more than its credits allow"},
    {"carrier_changes", offsetof(struct counters, carrier_changes), FAULT_LINK_LOST, NULL, NULL},
    {"tx_carrier_errors", offsetof(struct counters, tx_carrier_errors), FAULT_LINK_LOST,
     tx_direction, NULL},
    {"link_downed", offsetof(struct counters, link_downed), FAULT_LINK_LOST, NULL, NULL},
    /* of the host */
    {"rx_missed", offsetof(struct counters, rx_missed), FAULT_NIC_OVERRUN, rx_direction,
     "the host had no buffers for them: enlarge its receive ring (ethtool -G), check its PCIe link "
     "and interrupts"},
    {"rdma_discards", offsetof(struct counters, rdma_discards), FAULT_NIC_OVERRUN, NULL,
     "its buffers were full, or flow control paused it too long; check flow control (PFC) of the "
     "port and of its switch port, and the other end for a slow receiver"},
    {"pcie_correctable", offsetof(struct counters, pcie_correctable), FAULT_PCIE_ERRORS, NULL,
     NULL},
    {"pcie_nonfatal", offsetof(struct counters, pcie_nonfatal), FAULT_PCIE_ERRORS, NULL, NULL},
    {"pcie_fatal", offsetof(struct counters, pcie_fatal), FAULT_PCIE_ERRORS, NULL, NULL},
    /* of damage before this link, and what was repeated for it */
    {"checksum_errors", offsetof(struct counters, checksum_errors), FAULT_NONE, NULL,
     "TCP discarded them; their data was damaged on the way"},
    {"remote_errors", offsetof(struct counters, remote_errors), FAULT_NONE, rx_direction,
     "a switch on the way marked them as damaged: not this link"},
    {"rdma_retransmits", offsetof(struct counters, rdma_retransmits), FAULT_NONE, NULL, NULL},
    /* of congestion */
    {"rx_dropped", offsetof(struct counters, rx_dropped), FAULT_NONE, rx_direction,
     "they arrived, but this host was too slow for them or did not need them"},
    {"socket_drops", offsetof(struct counters, socket_drops), FAULT_NONE, rx_direction,
     "they arrived, but the receiving process or this host was too slow for them"},
    {"tx_discards", offsetof(struct counters, tx_discards), FAULT_NONE, tx_direction,
     "flow control paused the port for too long: the path behind it is congested"},
    {"rdma_not_ready", offsetof(struct counters, rdma_not_ready), FAULT_NONE, NULL,
     "the receiver had no buffer posted: it is slower than its sender, or its processor is busy"},
    {"rdma_marked", offsetof(struct counters, rdma_marked), FAULT_NONE, NULL,
     "a switch on the way was congested"},
    {"rdma_slowed", offsetof(struct counters, rdma_slowed), FAULT_NONE, NULL,
     "congestion control slowed it down"},
    {"pauses_received", offsetof(struct counters, pauses_received), FAULT_NONE, NULL,
     "the switch paused it: the switch, or the path behind it, is congested"},
    {"pauses_sent", offsetof(struct counters, pauses_sent), FAULT_NONE, NULL,
     "it paused the switch: it receives data more slowly than they arrive; check its PCIe link, "
     "its host's memory, and the number of its senders"},
};

static uint64_t count_of(const struct counters *counters, size_t offset)
{
    uint64_t count;

    memcpy(&count, (const char *)counters + offset, sizeof count);
    return count;
}

/* Reads PFC pauses, or marks them unread. */
static void read_pauses(const char *interface, struct counters *counters)
{
    struct netlink netlink;
    int rv = netlink_open(&netlink, NULL);

    if (rv == 0) {
        rv = dcb_count_pauses(&netlink, interface, &counters->pauses_sent,
                              &counters->pauses_received, NULL);
        netlink_close(&netlink);
    }
    if (rv != 0) {
        counters_mark_unread(counters, offsetof(struct counters, pauses_sent));
        counters_mark_unread(counters, offsetof(struct counters, pauses_received));
    }
}

/* Returns whether the counters include all that the rail carries. Its interface counts what goes by
 * TCP. */
static bool rail_read(const struct rail *rail, struct counters *counters)
{
    return rail_counters_read("", rail, counters) == 0 &&
           (!counters->lacks_rdma_bytes || !fabric_class_is_rdma(rail->class));
}

void errors_read(const struct rail *rail, struct counters *counters, bool *can_count)
{
    *can_count = rail_read(rail, counters);
    if (rail->nic)
        read_pauses(rail->nic->name, counters);
    counters_read_pci("", rail_location(rail)->pci, counters);
    counters_read_tcp("", counters);
}

double errors_arrived_bytes(const struct rail *rail)
{
    struct counters counters;

    if (!rail_read(rail, &counters))
        return -1;
    return (double)counters.rx_bytes + (double)counters.rdma_rx_bytes;
}

/* Returns the increase of the counter at that offset; 0 if it could not be read, or was reset. */
static double more(const struct counters *before, const struct counters *after, size_t offset)
{
    uint64_t was = count_of(before, offset), is = count_of(after, offset);

    return counters_lacks(before, offset) || counters_lacks(after, offset) || is < was
               ? 0
               : (double)(is - was);
}

void errors_between(const struct counters *before, const struct counters *after,
                    struct errors *errors)
{
    double received = more(before, after, offsetof(struct counters, rx_missed)) +
                      more(before, after, offsetof(struct counters, rx_crc_errors));
    double sent = more(before, after, offsetof(struct counters, tx_discards)) +
                  more(before, after, offsetof(struct counters, tx_carrier_errors));

    for (int i = 0; i < ERROR_KINDS; i++) {
        errors->counts[i] = more(before, after, error_kinds[i].offset);
        /* errors with a counter of their own are reported once */
        if (error_kinds[i].offset == offsetof(struct counters, rx_errors))
            errors->counts[i] = fmax(errors->counts[i] - received, 0);
        if (error_kinds[i].offset == offsetof(struct counters, tx_errors))
            errors->counts[i] = fmax(errors->counts[i] - sent, 0);
    }
}
