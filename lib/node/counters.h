/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COUNTERS_H
#define MUSTER_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The counters of a NIC since its driver was loaded. A counter that the NIC does not have is 0. */
struct counters {
    uint64_t tx_bytes, rx_bytes; /* netdev statistics */
    uint64_t tx_errors, rx_errors, rx_dropped, rx_crc_errors, collisions;
    /* Frames dropped for lack of buffers; some drivers count them also in rx_errors, tx_errors. */
    uint64_t rx_missed;         /* received frames for which the host had no buffer */
    uint64_t tx_discards;       /* frames that a congested port discarded */
    uint64_t tx_carrier_errors; /* frames that were cut off when the link was lost */
    uint64_t carrier_changes;
    uint64_t rdma_tx_bytes, rdma_rx_bytes; /* port_xmit_data and port_rcv_data x 4 (these count
                                              32-bit words), or the driver's own byte counters */
    uint64_t symbol_errors, link_downed, link_error_recovery, port_rcv_errors;
    uint64_t link_integrity_errors, buffer_overruns; /* of an InfiniBand port */
    uint64_t remote_errors; /* packets that were marked as damaged before they reached this link */
    /* Sums of the driver's counters of these in hw_counters; discards also have the port's
     * port_xmit_discards. */
    uint64_t rdma_retransmits; /* packets sent again or out of order */
    uint64_t rdma_not_ready;   /* RNR NAKs (no receive buffer), sent or received */
    uint64_t rdma_discards;    /* packets discarded because there was no buffer or no route */
    uint64_t rdma_marked;      /* packets received with ECN's congestion mark */
    uint64_t rdma_slowed;      /* congestion notifications (CNP) on which the port slowed down */
    uint64_t checksum_errors;  /* of TCP on the whole host: counters_read_tcp() */
    uint64_t socket_drops;     /* of TCP on the whole host: counters_read_tcp() */
    uint64_t pauses_sent, pauses_received; /* of PFC: dcb_count_pauses() of lib/netif/dcb.h */
    uint64_t pcie_correctable, pcie_nonfatal, pcie_fatal; /* counters_read_pci() */
    uint64_t unread;       /* one bit per counter: see counters_lacks() */
    bool lacks_rdma_bytes; /* the port has no byte counters: the RDMA traffic is not known */
};

/* Reads the counters of an interface, of an RDMA port, or both ("" and port 0 for "none").
 * root as in inventory_read(). Missing files count as 0. Returns 0, or -1 when neither exists. */
int counters_read(const char *root, const char *netdev, const char *rdma_device, int rdma_port,
                  struct counters *counters);

/* Returns whether a file of the counter at this offset exists but could not be read, so that the
 * counter is too low. Not for the counters of TCP. */
bool counters_lacks(const struct counters *counters, size_t offset);
/* Marks a counter that another function could not read. */
void counters_mark_unread(struct counters *counters, size_t offset);

/* Adds the number of received segments that TCP discarded on all interfaces: checksum_errors for a
 * wrong checksum, socket_drops for a full socket, as its process or the host was too slow. */
void counters_read_tcp(const char *root, struct counters *counters);

/* Sets the error counters of a device's PCIe link (AER); replays count as correctable. pci as
 * "0000:3b:00.0". Changes nothing for ""; a device without AER has 0. */
void counters_read_pci(const char *root, const char *pci, struct counters *counters);

#endif
