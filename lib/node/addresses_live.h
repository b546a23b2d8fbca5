/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ADDRESSES_LIVE_H
#define MUSTER_ADDRESSES_LIVE_H

#include <linux/netlink.h>
#include <stddef.h>

#include "lib/constants/node_constants.h"
#include "lib/node/inventory-parts.h"

/* Reads the addresses and default routes of this machine's interfaces from the kernel, by
 * rtnetlink(7): each address with its interface, whatever tables, rules and VRFs the routes are in.
 */

/* The default routes that were found in the main table, or in the VRFs of their interfaces. */
struct default_routes {
    struct inventory *inventory;
    bool wants_vrf; /* routes of VRFs instead of the main table's */
    size_t count;
};

/* Returns 0, or -1 with errno if the kernel did not answer completely within LIVE_WAIT_MS. */
int addresses_read_live(struct inventory *inventory);

/* Apply one message; they ignore other messages and messages with bad lengths.
 * RTM_NEWADDR: adds the address to its interface. */
void addresses_apply_address(const struct nlmsghdr *message, size_t length,
                             struct inventory *inventory);
/* RTM_NEWROUTE: adds a default route to each interface that it uses. */
void addresses_apply_route(const struct nlmsghdr *message, size_t length,
                           struct default_routes *routes);

#endif
