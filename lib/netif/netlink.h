/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETLINK_H
#define MUSTER_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/rtnetlink.h"
#include "lib/conf/netif.h"

/* Reads and makes settings of interfaces by rtnetlink and by the kernel's ethtool ioctl. */

struct netlink_link {
    int index;
    char name[NETIF_NAME];
    bool is_up; /* IFF_UP */
    long mtu_bytes, mtu_max_bytes /* 0: not known */, queue_packets;
};

struct netlink_rings {
    long rx, tx, rx_max, tx_max; /* descriptors */
};

/* Reads the interface with this name, or if name is NULL with this index. Returns 0, or -1 with err
 * and errno, ENODEV if there is none. */
int netlink_get(struct netlink *netlink, const char *name, int index, struct netlink_link *link,
                struct error *err);

/* Sets NETIF_UP, NETIF_MTU or NETIF_TXQUEUELEN. Returns 0, or -1 with err and errno. */
int netlink_set(struct netlink *netlink, int index, enum netif_setting setting, long value,
                struct error *err);

/* Returns 1 if the interface has an address that matches wanted (netif_address_matches()), 0 if it
 * has none, or -1 with err. */
int netlink_has_address(struct netlink *netlink, int index, const char *wanted, struct error *err);

/* Runs a command of ethtool(8)'s ioctl, a structure of linux/ethtool.h, by a socket of any family.
 * Returns 0, or -1 with errno. */
int netlink_ethtool(int fd, const char *name, void *command);

/* Read or set rings, by name as ethtool requires. Return 0, or -1 with err and errno, EOPNOTSUPP if
 * the driver has no rings to set. netlink_set_ring() does not change the other ring. */
int netlink_get_rings(const struct netlink *netlink, const char *name, struct netlink_rings *rings,
                      struct error *err);
int netlink_set_ring(const struct netlink *netlink, const char *name, enum netif_setting setting,
                     long value, struct error *err);

/* Parses a message RTM_NEWLINK of the kernel, for netlink_get() and tests. Returns 0, or -1 if it
 * is another message or has wrong lengths. */
int netlink_parse_link(const void *message, size_t length, struct netlink_link *link);

/* Formats a message RTM_SETLINK. Returns its length; 0 if it does not fit into size. */
size_t netlink_format_set(void *message, size_t size, uint32_t sequence, int index,
                          enum netif_setting setting, long value);

#endif
