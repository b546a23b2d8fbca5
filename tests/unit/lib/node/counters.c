/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/counters.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <stdio.h>

/* Counters with the names of several drivers; no device has all of them. */
static void put_hw_counters(const char *root)
{
    static const struct {
        const char *file, *value;
    } files[] = {
        {"hw_counters/retrans_pkts", "2\n"},                /* efa */
        {"hw_counters/seq_err_naks_rcvd", "20\n"},          /* bnxt_re */
        {"hw_counters/roce_adp_retrans", "200\n"},          /* mlx5 */
        {"hw_counters/rnr_nak_retry_err", "30\n"},          /* mlx5 */
        {"hw_counters/rnr_naks_rcvd", "300\n"},             /* bnxt_re */
        {"counters/port_xmit_discards", "5\n"},             /* of the port itself */
        {"hw_counters/out_of_buffer", "50\n"},              /* mlx5 */
        {"hw_counters/rx_roce_discards", "500\n"},          /* bnxt_re */
        {"hw_counters/np_ecn_marked_roce_packets", "11\n"}, /* mlx5 */
        {"hw_counters/RxECNMrkd", "110\n"},                 /* irdma */
        {"hw_counters/rp_cnp_handled", "13\n"},             /* mlx5 */
        {"hw_counters/cnpHandled", "130\n"},                /* irdma */
    };
    char path[128];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "sys/class/infiniband/mlx5_0/ports/1/%s", files[i].file);
        tree_put(root, path, files[i].value);
    }
}

int main(void)
{
    struct counters counters;
    char *root = tree_unpack("h100-ib");

    is_int(counters_read(root, "ib0", "mlx5_0", 1, &counters), 0,
           "counters of an interface and its port are read");
    is_int(counters.rdma_tx_bytes, 4000, "the port counts words of four bytes");
    is_int(counters.rdma_rx_bytes, 8000, "... in both directions");
    is_int(counters.carrier_changes, 2, "carrier changes");
    is_int(counters.rx_crc_errors, 0, "a counter without a file is 0");
    is_int(counters_read(root, "", "mlx5_0", 1, &counters), 0,
           "a port without an interface is read");
    is_int(counters.carrier_changes, 0, "... has no carrier changes");
    is_int(counters_read(root, "ib0", "", 0, &counters), 0, "an interface without a port is read");
    is_int(counters_read(root, "ib0", "mlx5_9", 1, &counters), 0,
           "an interface or a port is enough");
    is_int(counters_read(root, "eth9", "mlx5_0", 2, &counters), -1,
           "neither of the two is an error");
    tree_put(root, "sys/class/net/ib0/statistics/rx_crc_errors", "17\n");
    counters_read(root, "ib0", "", 0, &counters);
    is_int(counters.rx_crc_errors, 17, "CRC errors");
    tree_put(root, "sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err", "3\n");
    tree_put(root, "sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", "4\n");
    counters_read(root, "", "mlx5_0", 1, &counters);
    is_int(counters.rdma_retransmits, 7, "RDMA retransmits are summed");
    put_hw_counters(root);
    counters_read(root, "", "mlx5_0", 1, &counters);
    is_int(counters.rdma_retransmits, 7 + 2 + 20 + 200, "... also by the names of other drivers");
    is_int(counters.rdma_not_ready, 30 + 300, "RNR counters are summed");
    is_int(counters.rdma_discards, 5 + 50 + 500,
           "discards of the port and of its driver are summed");
    is_int(counters.rdma_marked, 11 + 110, "packets with congestion marks are summed");
    is_int(counters.rdma_slowed, 13 + 130, "... and the notifications that slowed the sender");
    ok(!counters.lacks_rdma_bytes, "a port with byte counters has RDMA bytes");
    tree_put(root, "sys/class/infiniband/irdma0/ports/1/state", "4: ACTIVE\n");
    counters_read(root, "", "irdma0", 1, &counters);
    ok(counters.lacks_rdma_bytes, "... and a port without them lacks RDMA bytes");
    tree_put(root, "sys/class/infiniband/irdma0/ports/1/hw_counters/ip4OutOctets", "70\n");
    tree_put(root, "sys/class/infiniband/irdma0/ports/1/hw_counters/ip6OutOctets", "7\n");
    tree_put(root, "sys/class/infiniband/irdma0/ports/1/hw_counters/ip4InOctets", "8\n");
    counters_read(root, "", "irdma0", 1, &counters);
    ok(!counters.lacks_rdma_bytes, "... unless its driver counts them");
    is_int(counters.rdma_tx_bytes, 77, "... all bytes sent");
    is_int(counters.rdma_rx_bytes, 8, "... and received");
    tree_put(root, "sys/class/net/ib0/statistics/rx_missed_errors", "6\n");
    tree_put(root, "sys/class/net/ib0/statistics/rx_fifo_errors", "1\n");
    tree_put(root, "sys/class/net/ib0/statistics/tx_aborted_errors", "4\n");
    tree_put(root, "sys/class/net/ib0/statistics/tx_carrier_errors", "2\n");
    tree_put(root, "sys/class/infiniband/mlx5_0/ports/1/counters/local_link_integrity_errors",
             "8\n");
    tree_put(root, "sys/class/infiniband/mlx5_0/ports/1/counters/excessive_buffer_overrun_errors",
             "9\n");
    tree_put(root, "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_remote_physical_errors",
             "3\n");
    counters_read(root, "ib0", "mlx5_0", 1, &counters);
    is_int(counters.rx_missed, 7, "frames without a buffer in the host are summed");
    is_int(counters.tx_discards, 4, "frames that a congested port discarded");
    is_int(counters.tx_carrier_errors, 2, "frames aborted by a carrier error");
    is_int(counters.link_integrity_errors, 8, "link integrity");
    is_int(counters.buffer_overruns, 9, "buffer overruns");
    is_int(counters.remote_errors, 3, "packets that were damaged before this port");
    tree_put(root, "sys/bus/pci/devices/0000:3b:00.0/aer_dev_correctable",
             "RxErr 0\nRollover 4\nTimeout 1\nTOTAL_ERR_COR 5\n");
    tree_put(root, "sys/bus/pci/devices/0000:3b:00.0/aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 2\n");
    counters_read_pci(root, "0000:3b:00.0", &counters);
    is_int(counters.pcie_correctable, 5, "corrected PCIe errors");
    is_int(counters.pcie_nonfatal, 2, "... uncorrected nonfatal ones");
    is_int(counters.pcie_fatal, 0, "... fatal ones, whose file is missing, are 0");
    is_int(counters.rdma_retransmits, 229, "... other counters are unchanged");
    ok(!counters_lacks(&counters, offsetof(struct counters, pcie_fatal)),
       "... and the missing file counts as known");
    tree_put(root, "sys/bus/pci/devices/0000:3b:00.0/aer_dev_fatal/no_file", "");
    counters_read_pci(root, "0000:3b:00.0", &counters);
    ok(counters_lacks(&counters, offsetof(struct counters, pcie_fatal)) &&
           !counters_lacks(&counters, offsetof(struct counters, pcie_nonfatal)),
       "... a file that cannot be read counts as not known");
    counters_read_pci(root, "", &counters);
    is_int(counters.pcie_correctable, 5, "no device: nothing changes");
    tree_put(root, "proc/self/net/snmp",
             "Ip: Forwarding InCsumErrors\nIp: 1 99\nTcp: RtoMin RetransSegs InCsumErrors OutRsts\n"
             "Tcp: 200 5 7 3\nUdp: InDatagrams InCsumErrors\nUdp: 4 88\n");
    counters_read_tcp(root, &counters);
    is_int(counters.checksum_errors, 7, "TCP segments with a wrong checksum");
    tree_put(root, "proc/self/net/netstat",
             "TcpExt: SyncookiesSent RcvPruned TCPBacklogDrop TCPRcvQDrop\nTcpExt: 9 1 20 300\n"
             "IpExt: InNoRoutes\nIpExt: 5\n");
    counters_read_tcp(root, &counters);
    is_int(counters.socket_drops, 321, "... and segments that a socket had no room for");
    counters.checksum_errors = 7;
    tree_put(root, "proc/self/net/snmp", "Tcp: InCsumErrors\n");
    counters_read_tcp(root, &counters);
    is_int(counters.checksum_errors, 7, "... a file that is cut off changes nothing");
    tree_remove(root);
    root = tree_unpack("broken");
    counters_read(root, "", "mlx5_0", 1, &counters);
    is_int(counters.rdma_tx_bytes, 0, "a counter that is too large is 0");
    is_int(counters.symbol_errors, 0, "a negative counter is 0");
    tree_remove(root);
    return tap_done();
}
