/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/netif/dcb.h"
#include "lib/netif/netif_machine.h"
#include "lib/netif/netlink.h"
#include "tests/unit/interrupted_dump.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---------------------------------------------------------------- answers of the kernel */

/* The answer of Linux 6.12 about one end of a veth pair with an MTU of 9000, shortened. */
static const unsigned char answer[] = {
    0x5c, 0,   0, 0, 16, 0,    0,    0,    7,    0, 0,    0, 0, 0,  0,  0,    0,    0,   1,
    0,    3,   0, 0, 0,  0x43, 0x10, 1,    0,    0, 0,    0, 0, 9,  0,  3,    0,    'e', 't',
    'h',  '1', 0, 0, 0,  0,    8,    0,    13,   0, 0xe8, 3, 0, 0,  5,  0,    16,   0,   6,
    0,    0,   0, 8, 0,  4,    0,    0x28, 0x23, 0, 0,    8, 0, 51, 0,  0xff, 0xff, 0,   0,
    10,   0,   1, 0, 2,  0,    0x8f, 1,    0,    1, 0,    0, 4, 0,  14, 0,
};

static void reads_answers(void)
{
    _Alignas(8) unsigned char bytes[sizeof answer];
    struct netlink_link link;
    unsigned refused = 0, seed = 1;

    memcpy(bytes, answer, sizeof answer);
    is_int(netlink_parse_link(bytes, sizeof bytes, &link), 0, "a link is parsed");
    is_str(link.name, "eth1", "... its name");
    is_int(link.index, 3, "... index");
    is_int(link.mtu_bytes, 9000, "... MTU");
    is_int(link.mtu_max_bytes, 65535, "... the MTU's limit");
    is_int(link.queue_packets, 1000, "... queue");
    is_int(link.is_up, 1, "... up");
    for (size_t length = 0; length < sizeof bytes; length++) {
        /* in its own buffer, so that AddressSanitizer detects a read past the end */
        unsigned char *part = malloc(length + 1);

        memcpy(part, bytes, length);
        refused += netlink_parse_link(part, length, &link) == -1;
        free(part);
    }
    is_int(refused, sizeof bytes, "a link cut off after any byte is refused");
    for (int round = 0; round < 20000; round++) {
        unsigned char *bad = malloc(sizeof bytes);

        memcpy(bad, bytes, sizeof bytes);
        for (int i = 0; i < 3; i++) {
            seed = seed * 1103515245 + 12345;
            bad[seed / 65536 % sizeof bytes] = (unsigned char)(seed >> 8);
        }
        netlink_parse_link(bad, sizeof bytes, &link);
        netlink_parse_error(bad, sizeof bytes, link.name, sizeof link.name);
        free(bad);
    }
    ok(1, "a link with changed bytes does no harm");
}

static void reads_errors(void)
{
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        struct rtattr attribute;
        char text[16];
    } message = {
        .header = {.nlmsg_len = sizeof message,
                   .nlmsg_type = NLMSG_ERROR,
                   .nlmsg_flags = NLM_F_CAPPED | NLM_F_ACK_TLVS},
        .error = {.error = -EINVAL, .msg = {.nlmsg_len = 40}},
        .attribute = {.rta_len = sizeof(struct rtattr) + 12, .rta_type = NLMSGERR_ATTR_MSG},
        .text = "mtu too big\n"};
    char text[32];

    is_int(netlink_parse_error(&message, sizeof message, text, sizeof text), EINVAL,
           "an error is parsed");
    is_str(text, "mtu too big?", "... with the kernel's text, made printable");
    is_int(netlink_parse_error(&message, sizeof message, text, 6), EINVAL, "... and is cut");
    is_str(text, "mtu t", "... at its size");
    message.header.nlmsg_flags = NLM_F_ACK_TLVS; /* without CAPPED: the whole request follows */
    message.error.msg.nlmsg_len = 4000000000U;
    is_int(netlink_parse_error(&message, sizeof message, text, sizeof text), EINVAL,
           "a request longer than its answer is parsed");
    is_str(text, "", "... without a text");
    message.error.error = 0;
    is_int(netlink_parse_error(&message, sizeof message, text, sizeof text), 0,
           "an answer without an error is parsed");
    message.error.error = 22;
    is_int(netlink_parse_error(&message, sizeof message, text, sizeof text), -1,
           "an error with the wrong sign is refused");
    is_int(netlink_parse_error(&message, 20, text, sizeof text), -1,
           "... and so is one that is cut off");
}

/* ---------------------------------------------------------------- DCB */

/* Writes an answer to DCB_CMD_IEEE_GET as Linux 6.12 does: without NLA_F_NESTED. Returns its
 * length. */
static size_t dcb_answer(char *message, bool has_pfc, bool has_apps)
{
    static const struct dcb_app apps[] = {
        {IEEE_8021QAZ_APP_SEL_ETHERTYPE, 5, 26}, {IEEE_8021QAZ_APP_SEL_DSCP, 3, 26},
        {IEEE_8021QAZ_APP_SEL_DSCP, 1, 26},      {IEEE_8021QAZ_APP_SEL_DSCP, 6, 48},
        {IEEE_8021QAZ_APP_SEL_DSCP, 9, 1},       {IEEE_8021QAZ_APP_SEL_DSCP, 1, 999}};
    struct nlmsghdr *header = (struct nlmsghdr *)message;
    struct ieee_pfc pfc = {.pfc_cap = 8,
                           .pfc_en = 0x18,
                           .delay = 7,
                           .requests = {[3] = 1000, [7] = 1},
                           .indications = {[0] = 20, [3] = 1ULL << 40}};
    struct rtattr *ieee, *table;

    memset(message, 0, 512);
    header->nlmsg_type = RTM_GETDCB;
    header->nlmsg_len = NLMSG_LENGTH(sizeof(struct dcbmsg));
    netlink_put_attribute(message, DCB_ATTR_IFNAME, "eth1", 5);
    ieee = (struct rtattr *)(message + header->nlmsg_len);
    netlink_put_attribute(message, DCB_ATTR_IEEE, "", 0);
    if (has_pfc)
        netlink_put_attribute(message, DCB_ATTR_IEEE_PFC, &pfc, sizeof pfc);
    if (has_apps) {
        table = (struct rtattr *)(message + header->nlmsg_len);
        netlink_put_attribute(message, DCB_ATTR_IEEE_APP_TABLE, "", 0);
        for (size_t i = 0; i < sizeof apps / sizeof *apps; i++)
            netlink_put_attribute(message, DCB_ATTR_IEEE_APP, &apps[i], sizeof apps[i]);
        table->rta_len = (unsigned short)(message + header->nlmsg_len - (char *)table);
    }
    ieee->rta_len = (unsigned short)(message + header->nlmsg_len - (char *)ieee);
    return header->nlmsg_len;
}

static void reads_dcb(void)
{
    _Alignas(struct nlmsghdr) char message[512];
    size_t length = dcb_answer(message, true, true);
    long value = -1;
    unsigned refused = 0, seed = 1;
    uint64_t sent = 0, received = 0;

    is_int(dcb_parse_pauses(message, length, &sent, &received), 0,
           "DCB: the counts of PFC frames are parsed");
    ok(sent == 1001 && received == (1ULL << 40) + 20,
       "... sent and received, summed over all priorities");
    is_int(dcb_parse(message, length, NETIF_PFC, &value), 0, "DCB: flow control is parsed");
    is_int(value, 0x18, "... with two priorities");
    is_int(dcb_parse(message, length, NETIF_DSCP + 26, &value), 0, "DCB: a DSCP is parsed");
    is_int(value, 0x0a, "... with all its priorities, and none of an EtherType");
    is_int(dcb_parse(message, length, NETIF_DSCP + 48, &value), 0, "DCB: another DSCP is parsed");
    is_int(value, 0x40, "... with its priority");
    is_int(dcb_parse(message, length, NETIF_DSCP + 1, &value), 0,
           "DCB: a DSCP with priority 9 is parsed");
    is_int(value, 0, "... without this priority");
    for (size_t cut = 0; cut < length; cut++) {
        char *part = malloc(cut + 1);

        memcpy(part, message, cut);
        refused += dcb_parse(part, cut, NETIF_PFC, &value) == -1;
        free(part);
    }
    is_int(refused, length, "DCB: an answer cut off after any byte is refused");
    for (int round = 0; round < 20000; round++) {
        char *bad = malloc(length);

        memcpy(bad, message, length);
        for (int change = 0; change < 3; change++) {
            seed = seed * 1103515245 + 12345;
            bad[(seed >> 16) % length] = (char)(seed >> 8);
        }
        dcb_parse(bad, length, NETIF_DSCP + 26, &value);
        free(bad);
    }
    ok(1, "DCB: an answer with changed bytes does no harm");
    length = dcb_answer(message, false, true);
    is_int(dcb_parse(message, length, NETIF_PFC, &value), 1,
           "DCB: a driver without flow control is recognized");
    is_int(dcb_parse_pauses(message, length, &sent, &received), 1,
           "... also in the counts of its frames");
    length = dcb_answer(message, true, false);
    is_int(dcb_parse(message, length, NETIF_DSCP, &value), 1, "... and one without a table");
}

static void writes_requests(void)
{
    static const unsigned char mtu[] = {
        0x28, 0, 0, 0, 19, 0, 5, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0,    0,    0, 0,
        3,    0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 8, 0, 4, 0, 0x28, 0x23, 0, 0,
    };
    static const unsigned char down[] = {
        0x20, 0, 0, 0, 19, 0, 5, 0, 9, 0, 0, 0, 0, 0, 0, 0,
        0,    0, 0, 0, 3,  0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
    };
    _Alignas(8) unsigned char bytes[64];

    is_int(netlink_format_set(bytes, sizeof bytes, 9, 3, NETIF_MTU, 9000), sizeof mtu,
           "a request for an MTU has its length");
    ok(memcmp(bytes, mtu, sizeof mtu) == 0, "... and is equal in each byte");
    is_int(netlink_format_set(bytes, sizeof bytes, 9, 3, NETIF_UP, 0), sizeof down,
           "a request to bring a link down has its length");
    ok(memcmp(bytes, down, sizeof down) == 0,
       "... and is equal in each byte, with IFF_UP and no other flag");
    is_int(netlink_format_set(bytes, 20, 9, 3, NETIF_UP, 0), 0,
           "a request that does not fit is refused");
}

/* ---------------------------------------------------------------- rings */

/* A simulated driver with rings, as this machine has none: 1024 of 8192, and 512 of 4096. */
static struct ethtool_ringparam rings = {.rx_max_pending = 8192,
                                         .tx_max_pending = 4096,
                                         .rx_mini_pending = 7,
                                         .rx_pending = 1024,
                                         .tx_pending = 512};
static bool has_rings;

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
    struct ethtool_ringparam *ring_request;
    struct ifreq *argument;
    va_list arguments;

    va_start(arguments, request);
    argument = va_arg(arguments, struct ifreq *);
    va_end(arguments);
    if (request != SIOCETHTOOL || !has_rings)
        return __real_ioctl(fd, request, argument);
    ring_request = (struct ethtool_ringparam *)(void *)argument->ifr_data;
    if (strcmp(argument->ifr_name, "eth1") != 0) {
        errno = ENODEV;
        return -1;
    }
    if (ring_request->cmd == ETHTOOL_GRINGPARAM) {
        *ring_request = rings;
        return 0;
    }
    if (ring_request->cmd != ETHTOOL_SRINGPARAM ||
        ring_request->rx_pending > rings.rx_max_pending ||
        ring_request->tx_pending > rings.tx_max_pending) {
        errno = EINVAL;
        return -1;
    }
    rings = *ring_request;
    return 0;
}

static void sets_rings(const struct netlink *netlink)
{
    struct netlink_rings found;
    struct error err = {""};

    has_rings = true;
    is_int(netlink_get_rings(netlink, "eth1", &found, &err), 0,
           "the rings of a driver are read (%s)", err.text);
    is_int(found.rx, 1024, "... the receive ring");
    is_int(found.tx_max, 4096, "... and the limit of the transmit ring");
    is_int(netlink_set_ring(netlink, "eth1", NETIF_TX_RING, 2048, &err), 0,
           "the transmit ring is set");
    is_int(rings.tx_pending, 2048, "... to this value");
    ok(rings.rx_pending == 1024 && rings.rx_mini_pending == 7,
       "... and the other rings are unchanged");
    is_int(netlink_set_ring(netlink, "eth1", NETIF_RX_RING, 9000, &err), -1,
           "a ring beyond its limit is refused");
    is_str(err.text, "Invalid argument", "... with the driver's error");
    is_int(netlink_get_rings(netlink, "eth9", &found, &err), -1,
           "an interface that does not exist is refused");
    has_rings = false;
    is_int(netlink_get_rings(netlink, "lo", &found, &err), -1, "the loopback has no rings");
    has_str(err.text, "its driver has no rings to set", "... and the message says so");
}

/* ---------------------------------------------------------------- this kernel */

/* Runs on the loopback interface of its own network namespace. */
static void sets_this_kernel(struct netlink *netlink)
{
    struct netif_machine machine;
    struct netlink_link link;
    struct error err = {""};
    char name[NETIF_NAME];
    int index = 0;
    long value;

    is_int(netlink_get(netlink, "lo", 0, &link, &err), 0, "the loopback interface is read (%s)",
           err.text);
    is_int(link.is_up, 0, "... is down");
    is_int(netlink_get(netlink, "eth1", 0, &link, &err), -1,
           "an interface that does not exist is not found");
    is_int(errno, ENODEV, "... with ENODEV");
    is_int(netlink_has_address(netlink, 1, "require", &err), 0,
           "the loopback interface has no address");
    is_int(netlink_set(netlink, 1, NETIF_UP, 1, &err), 0, "it is brought up (%s)", err.text);
    is_int(netlink_has_address(netlink, 1, "127.0.0.0/8", &err), 1, "... and has an address");
    is_int(netlink_has_address(netlink, 1, "10.0.0.0/8", &err), 0, "... and no other one");
    changes = LIVE_TRIES - 1;
    is_int(netlink_has_address(netlink, 1, "10.0.0.0/8", &err), 0,
           "... also if the addresses change while they are read");
    changes = LIVE_TRIES;
    is_int(netlink_has_address(netlink, 1, "10.0.0.0/8", &err), -1,
           "... but not if they always do");
    is_int(errno, EINTR, "... which errno says");
    changes = 0;
    is_int(netlink_set(netlink, 1, NETIF_MTU, 4000, &err), 0, "its MTU is set (%s)", err.text);
    is_int(netlink_set(netlink, 1, NETIF_TXQUEUELEN, 77, &err), 0, "its queue length is set (%s)",
           err.text);
    is_int(netlink_get(netlink, NULL, 1, &link, &err), 0, "it is read by its index");
    is_int(link.mtu_bytes, 4000, "... the MTU");
    is_int(link.queue_packets, 77, "... the queue");
    is_int(link.is_up, 1, "... up");
    is_int(netlink_set(netlink, 99, NETIF_MTU, 4000, &err), -1,
           "an interface that does not exist cannot be set");
    has_str(err.text, "No such device", "... with the kernel's error");

    is_int(netif_machine_open(&machine, "", &err), 0, "this machine is opened (%s)", err.text);
    is_int(machine.find(machine.context, "lo", &index, name, &err), 0,
           "the loopback interface is found");
    is_int(index, 1, "... with its index");
    index = 99;
    is_int(machine.find(machine.context, NULL, &index, name, &err), 1,
           "an interface that does not exist is not found");
    is_int(machine.get(machine.context, "lo", 1, NETIF_ARP_IGNORE, &value, &err), 0,
           "a sysctl is read");
    is_int(value, 0, "... with its value");
    is_int(machine.set(machine.context, "lo", 1, NETIF_ARP_IGNORE, 2, &err), 0,
           "the sysctl is set (%s)", err.text);
    machine.get(machine.context, "lo", 1, NETIF_ARP_IGNORE, &value, &err);
    is_int(value, 2, "... to this value");
    is_int(machine.set(machine.context, "lo", 1, NETIF_RX_RING, 512, &err), -1,
           "a ring cannot be set");
    is_int(machine.set(machine.context, "lo", 1, NETIF_ROCE_TOS, 5, &err), -1, "nor can RoCE");
    has_str(err.text, "it has no RDMA port", "... as it has no RDMA port");
    netif_machine_close(&machine);
}

/* ---------------------------------------------------------------- RoCE */

/* Opens a recorded machine. Returns its root, which the caller removes after it has closed it. */
static char *open_recorded(struct netif_machine *machine)
{
    char *root = tree_unpack("mi300x-roce");
    struct error err = {""};

    tree_put(root, "proc/sys/kernel/random/boot_id", "571a17f9\n");
    is_int(netif_machine_open(machine, root, &err), 0, "a recorded machine is opened (%s)",
           err.text);
    return root;
}

static void sets_roce(void)
{
    struct netif_machine machine;
    char *root = open_recorded(&machine), path[512];
    struct error err = {""};
    long value;

    is_int(machine.get(machine.context, "ens11np0", 2, NETIF_ROCE_MODE, &value, &err), -1,
           "RoCE cannot be read without rdma_cm in configfs");
    tap_diag("%s", err.text);
    has_str(err.text, "sys/kernel/config/rdma_cm does not exist; load the module rdma_cm",
            "... and the message says what is missing");
    tree_put(root, "sys/kernel/config/rdma_cm/x", "");
    machine.get(machine.context, "ens11np0", 2, NETIF_ROCE_CONFIG, &value, &err);
    is_int(value, 0, "the device has no directory");
    is_int(machine.set(machine.context, "ens11np0", 2, NETIF_ROCE_CONFIG, 1, &err), 0,
           "its directory is made (%s)", err.text);
    machine.get(machine.context, "ens11np0", 2, NETIF_ROCE_CONFIG, &value, &err);
    is_int(value, 1, "... and exists");
    is_int(machine.set(machine.context, "ens11np0", 2, NETIF_ROCE_CONFIG, 0, &err), 0,
           "... and is removed (%s)", err.text);
    snprintf(path, sizeof path, "sys/kernel/config/rdma_cm/%s/ports/1/default_roce_mode",
             "bnxt_re0");
    tree_put(root, path, "IB/RoCE v1\n");
    tree_put(root, "sys/kernel/config/rdma_cm/bnxt_re0/ports/1/default_roce_tos", "0\n");
    machine.get(machine.context, "ens11np0", 2, NETIF_ROCE_MODE, &value, &err);
    is_int(value, 1, "RoCE v1 is read");
    is_int(machine.set(machine.context, "ens11np0", 2, NETIF_ROCE_MODE, 2, &err), 0,
           "RoCE v2 is written (%s)", err.text);
    is_int(machine.set(machine.context, "ens11np0", 2, NETIF_ROCE_TOS, 106, &err), 0,
           "a type of service is set (%s)", err.text);
    machine.get(machine.context, "ens11np0", 2, NETIF_ROCE_TOS, &value, &err);
    is_int(value, 106, "... and read again");
    snprintf(path, sizeof path, "%s/sys/kernel/config/rdma_cm/bnxt_re0/ports/1/default_roce_mode",
             root);
    has_str(tree_text(path), "RoCE v2", "the file of the mode has the kernel's text");
    netif_machine_close(&machine);
    tree_remove(root);
}

static void reads_class(const struct netif_machine *machine, const char *root, const char *text,
                        long expected)
{
    struct error err = {""};
    long value = -2;

    tree_put(root, "sys/class/infiniband/bnxt_re0/tc/1/traffic_class", text);
    if (machine->get(machine->context, "ens11np0", 2, NETIF_TRAFFIC_CLASS, &value, &err) != 0)
        value = -3;
    is_int(value, expected, "\"%.*s\" (%s)", (int)strcspn(text, "\n"), text, err.text);
}

static void sets_traffic_class(void)
{
    struct netif_machine machine;
    char *root = open_recorded(&machine), path[512];
    struct error err = {""};
    long value;

    is_int(machine.get(machine.context, "ens11np0", 2, NETIF_TRAFFIC_CLASS, &value, &err), -1,
           "a driver without traffic classes is an error");
    has_str(err.text, "/tc/1/traffic_class does not exist: only NVIDIA's own driver",
            "... with this message");
    reads_class(&machine, root, "", -1);
    reads_class(&machine, root, "src_ip=1.2.3.4,tclass=96\n", -1);
    reads_class(&machine, root, "Global tclass=106\nsrc_ip=1.2.3.4,tclass=96\n", 106);
    reads_class(&machine, root, "Global tclass=0\n", 0);
    reads_class(&machine, root, "Global tclass=256\n", -3);
    reads_class(&machine, root, "Global tclass=\n", -3);
    for (int i = 0; i < 2; i++) {
        tree_put(root, "sys/class/infiniband/bnxt_re0/tc/1/traffic_class", "");
        is_int(machine.set(machine.context, "ens11np0", 2, NETIF_TRAFFIC_CLASS, i ? -1 : 106, &err),
               0, "the traffic class is %s (%s)", i ? "removed" : "set", err.text);
        snprintf(path, sizeof path, "%s/sys/class/infiniband/bnxt_re0/tc/1/traffic_class", root);
        is_str(tree_text(path), i ? "-1\n" : "106\n", "... and its file is written");
    }
    netif_machine_close(&machine);
    tree_remove(root);
}

int main(void)
{
    struct netlink netlink;
    struct error err = {""};

    reads_answers();
    reads_errors();
    reads_dcb();
    writes_requests();
    sets_roce();
    sets_traffic_class();
    if (geteuid() != 0 || unshare(CLONE_NEWNET) != 0) {
        tap_skip("no network namespace of its own");
        return tap_done();
    }
    is_int(netlink_open(&netlink, &err), 0, "a socket (%s)", err.text);
    sets_rings(&netlink);
    sets_this_kernel(&netlink);
    netlink_close(&netlink);
    netlink_close(&netlink);
    return tap_done();
}
