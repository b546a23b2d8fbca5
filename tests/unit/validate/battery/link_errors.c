/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/path/errors.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* Returns the counters of ib0 and its port that went up since `before`, such as "crc_errors 3
 * link_errors in what it received;". */
static const char *raised_counters(const char *root, const struct counters *before)
{
    static char text[1024];
    struct counters after;
    struct errors errors;

    counters_read(root, "ib0", "mlx5_0", 1, &after);
    errors_between(before, &after, &errors);
    *text = '\0';
    for (int kind = 0; kind < ERROR_KINDS; kind++)
        if (errors.counts[kind] > 0)
            text_join(text, sizeof text, ";", "%s %.0f %s%s", error_kinds[kind].name,
                      errors.counts[kind], catalog_fault(error_kinds[kind].fault)->name,
                      text_of(error_kinds[kind].way));
    return text;
}

static void put_counter(const char *root, const char *file, const char *value)
{
    char path[160];

    snprintf(path, sizeof path, "sys/class/%s", file);
    tree_put(root, path, value);
}

#define STATISTIC(name) "net/ib0/statistics/" name
#define PORT(name) "infiniband/mlx5_0/ports/1/" name

/* Raises one counter of a recorded node at a time. */
static void names_raised_counters(void)
{
    static const struct {
        const char *file, *expected;
    } cases[] = {
        {STATISTIC("rx_crc_errors"), "crc_errors 3 link_errors in what it received"},
        {STATISTIC("rx_errors"), "rx_errors 3 link_errors in what it received"},
        {STATISTIC("tx_errors"), "tx_errors 3 link_errors in what it sent"},
        {STATISTIC("tx_carrier_errors"), "tx_carrier_errors 3 link_lost in what it sent"},
        {PORT("counters/symbol_error"), "symbol_errors 3 link_errors in what it received"},
        {PORT("counters/port_rcv_errors"), "port_rcv_errors 3 link_errors in what it received"},
        {PORT("counters/local_link_integrity_errors"),
         "link_integrity_errors 3 link_errors in what it received"},
        {PORT("counters/link_error_recovery"), "link_error_recovery 3 link_errors"},
        {PORT("counters/link_downed"), "link_downed 3 link_lost"},
        {STATISTIC("rx_missed_errors"), "rx_missed 3 nic_overrun in what it received"},
        {PORT("hw_counters/out_of_buffer"), "rdma_discards 3 nic_overrun"},
        /* counters of the network, no fault of this node */
        {STATISTIC("rx_dropped"), "rx_dropped 3  in what it received"},
        {STATISTIC("tx_aborted_errors"), "tx_discards 3  in what it sent"},
        {PORT("counters/port_rcv_remote_physical_errors"), "remote_errors 3  in what it received"},
        {PORT("hw_counters/np_ecn_marked_roce_packets"), "rdma_marked 3 "},
        {PORT("hw_counters/rp_cnp_handled"), "rdma_slowed 3 "},
        {PORT("hw_counters/local_ack_timeout_err"), "rdma_retransmits 3 "},
        {PORT("hw_counters/packet_seq_err"), "rdma_retransmits 3 "},
        {PORT("hw_counters/out_of_sequence"), "rdma_retransmits 3 "},
        {PORT("hw_counters/implied_nak_seq_err"), "rdma_retransmits 3 "},
        {PORT("hw_counters/rnr_nak_retry_err"), "rdma_not_ready 3 "},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *root = tree_unpack("h100-ib");
        struct counters before;

        put_counter(root, cases[i].file, "5\n");
        counters_read(root, "ib0", "mlx5_0", 1, &before);
        is_str(raised_counters(root, &before), "", "%s does not change", cases[i].file);
        put_counter(root, cases[i].file, "8\n");
        is_str(raised_counters(root, &before), cases[i].expected, "... and then goes up");
        tree_remove(root);
    }
}

/* A counter that cannot be read once does not report its whole count since boot as an increase. */
static void counts_known_counters(void)
{
    char *root = tree_unpack("h100-ib");
    struct counters before;

    put_counter(root, PORT("counters/symbol_error"), "\n");
    put_counter(root, PORT("hw_counters/packet_seq_err"), "1000\n");
    put_counter(root, PORT("hw_counters/out_of_sequence"), "\n");
    counters_read(root, "ib0", "mlx5_0", 1, &before);
    put_counter(root, PORT("counters/symbol_error"), "5000\n");
    put_counter(root, PORT("hw_counters/out_of_sequence"), "300\n");
    is_str(raised_counters(root, &before), "",
           "a counter that could not be read before has not gone up");
    counters_read(root, "ib0", "mlx5_0", 1, &before);
    put_counter(root, PORT("counters/symbol_error"), "5002\n");
    put_counter(root, PORT("hw_counters/packet_seq_err"), "\n");
    put_counter(root, PORT("hw_counters/out_of_sequence"), "3000\n");
    is_str(raised_counters(root, &before), "symbol_errors 2 link_errors in what it received",
           "... nor has one that cannot be read now");
    put_counter(root, STATISTIC("rx_missed_errors"), "\n");
    put_counter(root, STATISTIC("rx_errors"), "0\n");
    counters_read(root, "ib0", "mlx5_0", 1, &before);
    put_counter(root, STATISTIC("rx_missed_errors"), "5000\n");
    put_counter(root, STATISTIC("rx_errors"), "4\n");
    has_str(raised_counters(root, &before), "rx_errors 4 link_errors",
            "... and it hides no error of another counter");
    tree_remove(root);
}

/* Errors that drivers count in two counters are reported once. */
static void counts_once(void)
{
    char *root = tree_unpack("h100-ib");
    struct counters before;

    put_counter(root, STATISTIC("rx_missed_errors"), "900\n");
    put_counter(root, STATISTIC("rx_errors"), "0\n");
    counters_read(root, "ib0", "mlx5_0", 1, &before);
    put_counter(root, STATISTIC("rx_errors"), "4\n");
    is_str(raised_counters(root, &before), "rx_errors 4 link_errors in what it received",
           "frames missed before hide no error");
    put_counter(root, STATISTIC("rx_crc_errors"), "3\n");
    is_str(raised_counters(root, &before),
           "crc_errors 3 link_errors in what it received;rx_errors 1 link_errors in what it "
           "received",
           "a wrong CRC is reported once");
    put_counter(root, STATISTIC("rx_crc_errors"), "0\n");
    put_counter(root, STATISTIC("rx_missed_errors"), "904\n");
    is_str(raised_counters(root, &before), "rx_missed 4 nic_overrun in what it received",
           "a frame dropped for lack of a buffer is not damaged");
    tree_remove(root);
}

static bool lacks_rdma_bytes; /* whether the test's reads of this machine report it */

int __real_counters_read(const char *root, const char *netdev, const char *rdma_device,
                         int rdma_port, struct counters *counters);
int __wrap_counters_read(const char *root, const char *netdev, const char *rdma_device,
                         int rdma_port, struct counters *counters)
{
    int rv = __real_counters_read(root, netdev, rdma_device, rdma_port, counters);

    counters->lacks_rdma_bytes |= lacks_rdma_bytes;
    return rv;
}

static void counts_tcp_rails(void)
{
    static const struct nic nic = {.name = "lo"};
    static const struct rdma_port port = {.device = "irdma0", .port = 1};
    struct rail rail = {.name = "irdma0:1", .class = FABRIC_ROCE_V2, .nic = &nic, .port = &port};
    struct counters counters;
    bool can_count;

    lacks_rdma_bytes = true;
    errors_read(&rail, &counters, &can_count);
    ok(!can_count, "a port that does not count RDMA bytes cannot be counted");
    rail.class = FABRIC_IWARP;
    errors_read(&rail, &counters, &can_count);
    ok(can_count, "... unless the rail uses TCP");
    ok(errors_arrived_bytes(&rail) >= 0, "... arrived bytes are counted as well");
    lacks_rdma_bytes = false;
}

/* The test reads lo, which has no flow control. */
static void counts_known_pauses(void)
{
    static const struct nic nic = {.name = "lo"};
    const struct rail rail = {.name = "lo", .class = FABRIC_ETHERNET, .nic = &nic};
    struct counters before, after;
    struct errors errors;
    double paused = 0;
    bool can_count;

    errors_read(&rail, &before, &can_count);
    after = before;
    after.unread = 0;
    after.pauses_sent = after.pauses_received = 5000;
    errors_between(&before, &after, &errors);
    for (int kind = 0; kind < ERROR_KINDS; kind++)
        if (strncmp(error_kinds[kind].name, "pauses", strlen("pauses")) == 0)
            paused += errors.counts[kind];
    is_near(paused, 0, 0, "pauses that could not be read before are not counted");
}

int main(void)
{
    names_raised_counters();
    counts_known_counters();
    counts_once();
    counts_tcp_rails();
    counts_known_pauses();
    return tap_done();
}
