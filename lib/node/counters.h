/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COUNTERS_H
#define MUSTER_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a NIC has counted since its driver was loaded. A counter that the NIC does not have is 0. */
struct counters {
    uint64_t tx_bytes, rx_bytes; /* netdev statistics */
    uint64_t tx_errors, rx_errors, rx_dropped, rx_crc_errors, collisions;
    /* For want of room; some drivers count these among the errors of that way as well. */
    uint64_t rx_missed;         /* frames that arrived, and the host had no buffer for */
    uint64_t tx_discards;       /* frames that a congested port threw away */
    uint64_t tx_carrier_errors; /* frames that were cut off as the link was lost */
    uint64_t carrier_changes;
    uint64_t rdma_tx_bytes, rdma_rx_bytes; /* port_xmit_data x 4: those count 32-bit words;
                                               or what the driver has instead */
    uint64_t symbol_errors, link_downed, link_error_recovery, port_rcv_errors;
    uint64_t link_integrity_errors, buffer_overruns; /* of an InfiniBand port */
    uint64_t remote_errors; /* packets that were marked as damaged on their way before this link */
    /* Sums of what hw_counters has of these under its driver's names; the discards have the port's
     * port_xmit_discards too. */
    uint64_t rdma_retransmits; /* packets sent again or out of order */
    uint64_t rdma_not_ready;   /* told, or been told, that there is no receive buffer (RNR) */
    uint64_t rdma_discards;    /* packets thrown away for want of room or of a way */
    uint64_t rdma_marked;      /* packets that arrived with ECN's mark of congestion */
    uint64_t rdma_slowed;      /* notifications of congestion (CNP) on which the port slowed down */
    uint64_t checksum_errors;  /* of TCP, of the whole host: counters_read_tcp() */
    uint64_t socket_drops;     /* likewise */
    uint64_t pauses_sent, pauses_received; /* of PFC: dcb_count_pauses() of lib/netif/dcb.h */
    uint64_t pcie_correctable, pcie_nonfatal, pcie_fatal; /* counters_read_pci() */
    uint64_t unread;                                      /* a bit for each: counters_lacks() */
    bool lacks_rdma_bytes; /* the port has no counter of them: what RDMA carries is not known */
};

/* Reads the counters of an interface, of an RDMA port, or both ("" and port 0 for "none").
 * root as in inventory_read(). Missing files count as 0. Returns 0, or -1 when neither exists. */
int counters_read(const char *root, const char *netdev, const char *rdma_device, int rdma_port,
                  struct counters *counters);

/* Whether the counter at that offset, not one of TCP's, is there and could not be read whole: its
 * figure is too low by what could not be read. */
bool counters_lacks(const struct counters *counters, size_t offset);
/* Of a counter that others read. */
void counters_mark_unread(struct counters *counters, size_t offset);

/* Adds how many segments TCP threw away, of any interface: because their checksum was wrong, and
 * because a socket had no room for them, as its process or the host was too slow. */
void counters_read_tcp(const char *root, struct counters *counters);

/* Adds what a PCI device has counted of errors on its PCIe link (AER), replays among the
 * correctable ones. pci as "0000:3b:00.0"; "" or a device without AER: nothing is added. */
void counters_read_pci(const char *root, const char *pci, struct counters *counters);

#endif
