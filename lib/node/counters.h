/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COUNTERS_H
#define MUSTER_COUNTERS_H

#include <stdint.h>

/* What a NIC has counted since its driver was loaded. A counter that the NIC does not have is 0. */
struct counters {
    uint64_t tx_bytes, rx_bytes; /* netdev statistics */
    uint64_t tx_errors, rx_errors, rx_dropped, rx_crc_errors, collisions;
    uint64_t carrier_changes;
    uint64_t rdma_tx_bytes, rdma_rx_bytes; /* port_xmit_data x 4: those count 32-bit words */
    uint64_t symbol_errors, link_downed, link_error_recovery, port_rcv_errors;
};

/* Reads the counters of an interface, of an RDMA port, or both ("" and port 0 for "none").
 * root as in inventory_read(). Missing files count as 0. Returns 0, or -1 when neither exists. */
int counters_read(const char *root, const char *netdev, const char *rdma_device, int rdma_port,
                  struct counters *counters);

#endif
