/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETLINK_H
#define MUSTER_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/rtnetlink.h"
#include "lib/conf/netif.h"

/* What muster reads and sets of interfaces by rtnetlink and by the kernel's ethtool ioctl. */

struct netlink_link {
    int index;
    char name[NETIF_NAME];
    bool is_up; /* IFF_UP */
    long mtu_bytes, mtu_max_bytes /* 0: the kernel does not say */, queue_packets;
};

struct netlink_rings {
    long rx, tx, rx_max, tx_max; /* descriptors */
};

/* The interface of that name, or with name NULL of that index. Returns 0; -1 with err and errno,
 * ENODEV when there is none. */
int netlink_get(struct netlink *netlink, const char *name, int index, struct netlink_link *link,
                struct error *err);

/* Makes one of NETIF_UP, NETIF_MTU and NETIF_TXQUEUELEN. Returns 0, or -1 with err and errno. */
int netlink_set(struct netlink *netlink, int index, enum netif_setting setting, long value,
                struct error *err);

/* Whether the interface has an address that netif_address_matches() wanted: 1, 0; -1 with err. */
int netlink_has_address(struct netlink *netlink, int index, const char *wanted, struct error *err);

/* By name, as ethtool wants it. Return 0, or -1 with err and errno: EOPNOTSUPP when the driver has
 * no rings to set. netlink_set_ring() leaves the other ring as it is. */
int netlink_get_rings(const struct netlink *netlink, const char *name, struct netlink_rings *rings,
                      struct error *err);
int netlink_set_ring(const struct netlink *netlink, const char *name, enum netif_setting setting,
                     long value, struct error *err);

/* What a message of the kernel says, for netlink_get() and the tests: RTM_NEWLINK's. Returns 0, or
 * -1 when it is none or its lengths do not fit. */
int netlink_parse_link(const void *message, size_t length, struct netlink_link *link);

/* Writes RTM_SETLINK's; returns its length, 0 when it does not fit into size. */
size_t netlink_format_set(void *message, size_t size, uint32_t sequence, int index,
                          enum netif_setting setting, long value);

#endif
