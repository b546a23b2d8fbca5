/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/counters.h"
#include "lib/base/sysfs.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RDMA_WORD_BYTES = 4 }; /* port_xmit_data counts words of 32 bits (IBTA, PortCounters) */

/* A counter of struct counters: the sum of the files that exist. */
struct source {
    size_t offset;
    const char *files[12];
    unsigned factor; /* 0 means 1 */
};

#define SOURCE(counter, ...)                                                                       \
    {                                                                                              \
        offsetof(struct counters, counter), {__VA_ARGS__}, 0                                       \
    }

/* The last two count frames without a buffer (Linux, include/uapi/linux/if_link.h, struct
 * rtnl_link_stats64). mlx5 reports its port's discards as tx_aborted_errors (drivers/net/
 * ethernet/mellanox/mlx5/core/en_main.c, mlx5e_get_stats). */
static const struct source netdev_sources[] = {
    SOURCE(tx_bytes, "statistics/tx_bytes"),
    SOURCE(rx_bytes, "statistics/rx_bytes"),
    SOURCE(tx_errors, "statistics/tx_errors"),
    SOURCE(rx_errors, "statistics/rx_errors"),
    SOURCE(rx_dropped, "statistics/rx_dropped"),
    SOURCE(rx_crc_errors, "statistics/rx_crc_errors"),
    SOURCE(tx_carrier_errors, "statistics/tx_carrier_errors"),
    SOURCE(collisions, "statistics/collisions"),
    SOURCE(carrier_changes, "carrier_changes"),
    SOURCE(rx_missed, "statistics/rx_missed_errors", "statistics/rx_fifo_errors",
           "statistics/rx_over_errors"),
    SOURCE(tx_discards, "statistics/tx_aborted_errors", "statistics/tx_fifo_errors"),
};

/* In hw_counters/, each driver has its own names, and a device has some of them. Linux 6.12,
 * drivers/infiniband: hw/mlx5/counters.c, hw/bnxt_re/hw_counters.c, hw/irdma/verbs.c,
 * hw/efa/efa_verbs.c, sw/rxe/rxe_hw_counters.c; irdma of Intel's own package has one name without
 * "tcp". The two ends of an event count it under different names; both are summed here. */
#define HW "hw_counters/"
static const struct source port_sources[] = {
    {offsetof(struct counters, rdma_tx_bytes), {"counters/port_xmit_data"}, RDMA_WORD_BYTES},
    {offsetof(struct counters, rdma_rx_bytes), {"counters/port_rcv_data"}, RDMA_WORD_BYTES},
    SOURCE(symbol_errors, "counters/symbol_error"),
    SOURCE(link_downed, "counters/link_downed"),
    SOURCE(link_error_recovery, "counters/link_error_recovery"),
    SOURCE(port_rcv_errors, "counters/port_rcv_errors"),
    SOURCE(link_integrity_errors, "counters/local_link_integrity_errors"),
    SOURCE(buffer_overruns, "counters/excessive_buffer_overrun_errors"),
    SOURCE(remote_errors, "counters/port_rcv_remote_physical_errors"),
    SOURCE(rdma_retransmits, HW "out_of_sequence", HW "packet_seq_err", HW "local_ack_timeout_err",
           HW "out_of_seq_request", HW "rcvd_seq_err", HW "to_retransmits", HW "seq_err_naks_rcvd",
           HW "retrans_pkts", HW "roce_adp_retrans", HW "tcpRetransSegs", HW "RetransSegs",
           HW "implied_nak_seq_err"),
    SOURCE(rdma_not_ready, HW "rnr_nak_retry_err", HW "rnr_naks_rcvd", HW "rcvd_rnr_err",
           HW "send_rnr_err"),
    SOURCE(rdma_discards, "counters/port_xmit_discards", HW "out_of_buffer", HW "rx_roce_discards",
           HW "tx_roce_discards", HW "rx_out_of_buffer", HW "oos_drop_count", HW "ip4InDiscards",
           HW "ip6InDiscards", HW "rx_drops"),
    SOURCE(rdma_marked, HW "np_ecn_marked_roce_packets", HW "RxECNMrkd", HW "rx_ecn_marked_pkts"),
    SOURCE(rdma_slowed, HW "rp_cnp_handled", HW "cnpHandled", HW "rx_cnp_pkts"),
};

/* For drivers whose ports have no port_xmit_data: bnxt_re and efa; irdma (as above). */
static const struct source byte_sources[] = {
    SOURCE(rdma_tx_bytes, HW "tx_bytes", HW "ip4OutOctets", HW "ip6OutOctets"),
    SOURCE(rdma_rx_bytes, HW "rx_bytes", HW "ip4InOctets", HW "ip6InOctets"),
};

static uint64_t *counter_at(struct counters *counters, size_t offset)
{
    return (uint64_t *)(void *)((char *)counters + offset);
}

static uint64_t unread_bit(size_t offset)
{
    return UINT64_C(1) << offset / sizeof(uint64_t);
}

bool counters_lacks(const struct counters *counters, size_t offset)
{
    return counters->unread & unread_bit(offset);
}

void counters_mark_unread(struct counters *counters, size_t offset)
{
    counters->unread |= unread_bit(offset);
}

/* Adds up the files of each source. Returns whether each source has a file that could be read. */
static bool read_sources(const char *root, const char *directory, const struct source *sources,
                         size_t count, struct counters *counters)
{
    enum { FILES = sizeof sources->files / sizeof *sources->files };
    bool are_there = true;

    for (size_t i = 0; i < count; i++) {
        uint64_t *sum = counter_at(counters, sources[i].offset);
        bool is_there = false;

        for (int k = 0; k < FILES && sources[i].files[k]; k++) {
            long long number;

            errno = 0;
            number = sysfs_number(root, "%s/%s", directory, sources[i].files[k]);
            if (number < 0 && errno != ENOENT && errno != ENOTDIR)
                counters_mark_unread(counters, sources[i].offset);
            is_there |= number >= 0;
            *sum += number > 0 ? (uint64_t)number * (sources[i].factor ? sources[i].factor : 1) : 0;
        }
        are_there &= is_there;
    }
    return are_there;
}

int counters_read(const char *root, const char *netdev, const char *rdma_device, int rdma_port,
                  struct counters *counters)
{
    char directory[SYSFS_PATH];
    int result = -1;

    memset(counters, 0, sizeof *counters);
    snprintf(directory, sizeof directory, "sys/class/net/%s", netdev);
    if (netdev[0] && sysfs_exists(root, "%s", directory)) {
        read_sources(root, directory, netdev_sources,
                     sizeof netdev_sources / sizeof *netdev_sources, counters);
        result = 0;
    }
    snprintf(directory, sizeof directory, "sys/class/infiniband/%s/ports/%d", rdma_device,
             rdma_port);
    if (rdma_device[0] && sysfs_exists(root, "%s", directory)) {
        read_sources(root, directory, port_sources, sizeof port_sources / sizeof *port_sources,
                     counters);
        counters->lacks_rdma_bytes =
            sysfs_number(root, "%s/counters/port_xmit_data", directory) < 0 &&
            !read_sources(root, directory, byte_sources, sizeof byte_sources / sizeof *byte_sources,
                          counters);
        result = 0;
    }
    return result;
}

/* Sets a counter to the sum in an AER file, its last line: "TOTAL_ERR_COR 0". The other lines are
 * the kinds of errors, "RxErr 0". */
static void read_total(const char *root, const char *pci, const char *file, size_t offset,
                       struct counters *counters)
{
    uint64_t *count = counter_at(counters, offset);
    const char *total;
    char *text;

    errno = 0;
    text = sysfs_file(root, 4096, "sys/bus/pci/devices/%s/%s", pci, file);
    if (!text && errno != ENOENT && errno != ENOTDIR)
        counters_mark_unread(counters, offset);
    total = text ? strstr(text, "TOTAL_ERR_") : NULL;
    total = total ? strchr(total, ' ') : NULL;
    *count = total ? strtoull(total, NULL, 10) : 0;
    free(text);
}

void counters_read_pci(const char *root, const char *pci, struct counters *counters)
{
    static const struct {
        const char *file;
        size_t offset;
    } totals[] = {
        {"aer_dev_correctable", offsetof(struct counters, pcie_correctable)},
        {"aer_dev_nonfatal", offsetof(struct counters, pcie_nonfatal)},
        {"aer_dev_fatal", offsetof(struct counters, pcie_fatal)},
    };

    for (size_t i = 0; pci[0] && i < sizeof totals / sizeof *totals; i++)
        read_total(root, pci, totals[i].file, totals[i].offset, counters);
}

/* Returns the sum of the wanted numbers of a protocol. The file has a line "Tcp: NAME ...", then a
 * line "Tcp: NUMBER ...". */
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
    /* Linux, Documentation/networking/snmp_counter.rst: each counts received packets */
    static const char *const damaged[] = {"InCsumErrors", NULL}, *const dropped[] = {
                                                                     "TCPBacklogDrop",
                                                                     "TCPRcvQDrop", "RcvPruned",
                                                                     "PFMemallocDrop", NULL};

    counters->checksum_errors += protocol_sum(root, "proc/self/net/snmp", "Tcp: ", damaged);
    counters->socket_drops += protocol_sum(root, "proc/self/net/netstat", "TcpExt: ", dropped);
}
