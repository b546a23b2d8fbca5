/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/counters.h"
#include "lib/base/sysfs.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RDMA_WORD_BYTES = 4 }; /* port_xmit_data counts words of 32 bits (IBTA, PortCounters) */

struct source {
    const char *file;
    size_t offset; /* in struct counters */
    unsigned factor;
};

static const struct source netdev_sources[] = {
    {"statistics/tx_bytes", offsetof(struct counters, tx_bytes), 1},
    {"statistics/rx_bytes", offsetof(struct counters, rx_bytes), 1},
    {"statistics/tx_errors", offsetof(struct counters, tx_errors), 1},
    {"statistics/rx_errors", offsetof(struct counters, rx_errors), 1},
    {"statistics/rx_dropped", offsetof(struct counters, rx_dropped), 1},
    {"statistics/rx_crc_errors", offsetof(struct counters, rx_crc_errors), 1},
    {"statistics/tx_carrier_errors", offsetof(struct counters, tx_carrier_errors), 1},
    {"statistics/collisions", offsetof(struct counters, collisions), 1},
    {"carrier_changes", offsetof(struct counters, carrier_changes), 1},
};

/* What there was no room for (Linux, include/uapi/linux/if_link.h, struct rtnl_link_stats64). mlx5
 * tells as tx_aborted_errors what its port threw away (drivers/net/ethernet/mellanox/mlx5/core/
 * en_main.c, mlx5e_get_stats). */
static const struct {
    size_t offset; /* in struct counters */
    const char *files[3];
} room_sources[] = {
    {offsetof(struct counters, rx_missed),
     {"rx_missed_errors", "rx_fifo_errors", "rx_over_errors"}},
    {offsetof(struct counters, tx_discards), {"tx_aborted_errors", "tx_fifo_errors"}},
};

static const struct source port_sources[] = {
    {"port_xmit_data", offsetof(struct counters, rdma_tx_bytes), RDMA_WORD_BYTES},
    {"port_rcv_data", offsetof(struct counters, rdma_rx_bytes), RDMA_WORD_BYTES},
    {"symbol_error", offsetof(struct counters, symbol_errors), 1},
    {"link_downed", offsetof(struct counters, link_downed), 1},
    {"link_error_recovery", offsetof(struct counters, link_error_recovery), 1},
    {"port_rcv_errors", offsetof(struct counters, port_rcv_errors), 1},
    {"local_link_integrity_errors", offsetof(struct counters, link_integrity_errors), 1},
    {"excessive_buffer_overrun_errors", offsetof(struct counters, buffer_overruns), 1},
    {"port_rcv_remote_physical_errors", offsetof(struct counters, remote_errors), 1},
    {"port_xmit_discards", offsetof(struct counters, rdma_discards), 1},
};

/* Each driver has names of its own, and a device some of them. Linux 6.12, drivers/infiniband:
 * hw/mlx5/counters.c, hw/bnxt_re/hw_counters.c, hw/irdma/verbs.c, hw/efa/efa_verbs.c,
 * sw/rxe/rxe_hw_counters.c; irdma of Intel's own package leaves "tcp" out of one name. What the two
 * ends of one event count are different names, and both count. */
static const struct {
    size_t offset; /* in struct counters */
    const char *files[12];
} hw_sources[] = {
    {offsetof(struct counters, rdma_retransmits),
     {"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "out_of_seq_request",
      "rcvd_seq_err", "to_retransmits", "seq_err_naks_rcvd", "retrans_pkts", "roce_adp_retrans",
      "tcpRetransSegs", "RetransSegs", "implied_nak_seq_err"}},
    {offsetof(struct counters, rdma_not_ready),
     {"rnr_nak_retry_err", "rnr_naks_rcvd", "rcvd_rnr_err", "send_rnr_err"}},
    {offsetof(struct counters, rdma_discards),
     {"out_of_buffer", "rx_roce_discards", "tx_roce_discards", "rx_out_of_buffer", "oos_drop_count",
      "ip4InDiscards", "ip6InDiscards", "rx_drops"}},
    {offsetof(struct counters, rdma_marked),
     {"np_ecn_marked_roce_packets", "RxECNMrkd", "rx_ecn_marked_pkts"}},
    {offsetof(struct counters, rdma_slowed), {"rp_cnp_handled", "cnpHandled", "rx_cnp_pkts"}},
};

/* Of drivers whose ports have no port_xmit_data: bnxt_re and efa; irdma (as above). */
static const struct {
    size_t offset; /* in struct counters */
    const char *files[3];
} byte_sources[] = {
    {offsetof(struct counters, rdma_tx_bytes), {"tx_bytes", "ip4OutOctets", "ip6OutOctets"}},
    {offsetof(struct counters, rdma_rx_bytes), {"rx_bytes", "ip4InOctets", "ip6InOctets"}},
};

static void read_sources(const char *root, const char *directory, const struct source *sources,
                         size_t count, struct counters *counters)
{
    for (size_t i = 0; i < count; i++) {
        long long number = sysfs_number(root, "%s/%s", directory, sources[i].file);
        uint64_t value = number < 0 ? 0 : (uint64_t)number * sources[i].factor;

        memcpy((char *)counters + sources[i].offset, &value, sizeof value);
    }
}

static uint64_t *counter_at(struct counters *counters, size_t offset)
{
    return (uint64_t *)(void *)((char *)counters + offset);
}

static void read_room(const char *root, const char *directory, struct counters *counters)
{
    enum { FILES = sizeof room_sources->files / sizeof *room_sources->files };

    for (size_t i = 0; i < sizeof room_sources / sizeof *room_sources; i++) {
        uint64_t *sum = counter_at(counters, room_sources[i].offset);

        for (int k = 0; k < FILES && room_sources[i].files[k]; k++) {
            long long number =
                sysfs_number(root, "%s/statistics/%s", directory, room_sources[i].files[k]);

            *sum += number > 0 ? (uint64_t)number : 0;
        }
    }
}

static void read_hw_counters(const char *root, const char *device, int port,
                             struct counters *counters)
{
    enum { FILES = sizeof hw_sources->files / sizeof *hw_sources->files };

    for (size_t i = 0; i < sizeof hw_sources / sizeof *hw_sources; i++) {
        uint64_t *sum = counter_at(counters, hw_sources[i].offset);

        for (int k = 0; k < FILES && hw_sources[i].files[k]; k++) {
            long long number = sysfs_number(root, "sys/class/infiniband/%s/ports/%d/hw_counters/%s",
                                            device, port, hw_sources[i].files[k]);

            *sum += number > 0 ? (uint64_t)number : 0;
        }
    }
}

/* Returns whether the port tells the bytes of both ways. */
static bool read_bytes(const char *root, const char *device, int port, struct counters *counters)
{
    enum { FILES = sizeof byte_sources->files / sizeof *byte_sources->files };
    bool is_told = true;

    if (sysfs_number(root, "sys/class/infiniband/%s/ports/%d/counters/port_xmit_data", device,
                     port) >= 0)
        return true;
    for (size_t i = 0; i < sizeof byte_sources / sizeof *byte_sources; i++) {
        bool is_found = false;

        for (int k = 0; k < FILES; k++) {
            long long number = sysfs_number(root, "sys/class/infiniband/%s/ports/%d/hw_counters/%s",
                                            device, port, byte_sources[i].files[k]);

            is_found |= number >= 0;
            *counter_at(counters, byte_sources[i].offset) += number > 0 ? (uint64_t)number : 0;
        }
        is_told &= is_found;
    }
    return is_told;
}

int counters_read(const char *root, const char *netdev, const char *rdma_device, int rdma_port,
                  struct counters *counters)
{
    char directory[SYSFS_PATH];
    int result = -1;

    memset(counters, 0, sizeof *counters);
    if (netdev[0]) {
        snprintf(directory, sizeof directory, "sys/class/net/%s", netdev);
        if (sysfs_exists(root, "%s", directory)) {
            read_sources(root, directory, netdev_sources,
                         sizeof netdev_sources / sizeof *netdev_sources, counters);
            read_room(root, directory, counters);
            result = 0;
        }
    }
    if (rdma_device[0]) {
        snprintf(directory, sizeof directory, "sys/class/infiniband/%s/ports/%d/counters",
                 rdma_device, rdma_port);
        if (sysfs_exists(root, "sys/class/infiniband/%s/ports/%d", rdma_device, rdma_port)) {
            read_sources(root, directory, port_sources, sizeof port_sources / sizeof *port_sources,
                         counters);
            read_hw_counters(root, rdma_device, rdma_port, counters);
            counters->lacks_rdma_bytes = !read_bytes(root, rdma_device, rdma_port, counters);
            result = 0;
        }
    }
    return result;
}

/* A file has a line for each kind of error, "RxErr 0", and the sum last: "TOTAL_ERR_COR 0". */
static uint64_t read_total(const char *root, const char *pci, const char *file)
{
    char *text = sysfs_file(root, 4096, "sys/bus/pci/devices/%s/%s", pci, file);
    const char *total = text ? strstr(text, "TOTAL_ERR_") : NULL;
    uint64_t count = 0;

    total = total ? strchr(total, ' ') : NULL;
    if (total)
        count = strtoull(total, NULL, 10);
    free(text);
    return count;
}

void counters_read_pci(const char *root, const char *pci, struct counters *counters)
{
    if (!pci[0])
        return;
    counters->pcie_correctable = read_total(root, pci, "aer_dev_correctable");
    counters->pcie_nonfatal = read_total(root, pci, "aer_dev_nonfatal");
    counters->pcie_fatal = read_total(root, pci, "aer_dev_fatal");
}

/* Adds up those that are named of a file of names and numbers: a line "Tcp: NAME ...", then a line
 * "Tcp: NUMBER ...". */
static uint64_t protocol_sum(const char *root, const char *path, const char *protocol,
                             const char *const *wanted)
{
    char *text = sysfs_file(root, 16384, "%s", path);
    char *names = text ? strstr(text, protocol) : NULL;
    char *numbers = names ? strstr(names + 1, protocol) : NULL;
    char *rest_of_names, *rest_of_numbers;
    uint64_t sum = 0;

    for (char *name = names ? strtok_r(names, " \n", &rest_of_names) : NULL,
              *number = numbers ? strtok_r(numbers, " \n", &rest_of_numbers) : NULL;
         name && number && name < numbers; name = strtok_r(NULL, " \n", &rest_of_names),
              number = strtok_r(NULL, " \n", &rest_of_numbers))
        for (size_t i = 0; wanted[i]; i++)
            if (strcmp(name, wanted[i]) == 0)
                sum += strtoull(number, NULL, 10);
    free(text);
    return sum;
}

void counters_read_tcp(const char *root, struct counters *counters)
{
    /* Linux, Documentation/networking/snmp_counter.rst: each a packet that had arrived */
    static const char *const damaged[] = {"InCsumErrors", NULL}, *const dropped[] = {
                                                                     "TCPBacklogDrop",
                                                                     "TCPRcvQDrop", "RcvPruned",
                                                                     "PFMemallocDrop", NULL};

    counters->checksum_errors += protocol_sum(root, "proc/self/net/snmp", "Tcp: ", damaged);
    counters->socket_drops += protocol_sum(root, "proc/self/net/netstat", "TcpExt: ", dropped);
}
