/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ADDRESSES_LIVE_H
#define MUSTER_ADDRESSES_LIVE_H

#include <linux/netlink.h>
#include <stddef.h>

#include "lib/constants/node_constants.h"
#include "lib/node/inventory-parts.h"

/* The addresses of this machine's interfaces and their default routes as the kernel keeps them, by
 * rtnetlink(7): each address with its interface, whatever tables, rules and VRFs the routes are in.
 */

/* A default route that was found: of the main table, or of the VRF that its interface is in. */
struct default_routes {
    struct inventory *inventory;
    bool wants_vrf; /* routes of VRFs instead of the main table's */
    size_t count;
};

/* Returns 0, or -1 with errno when the kernel did not answer in whole within LIVE_WAIT_MS. */
int addresses_read_live(struct inventory *inventory);

/* What one message says; any other message, and one whose lengths do not fit, is left alone.
 * RTM_NEWADDR: adds the address to its interface. */
void addresses_take_address(const struct nlmsghdr *message, size_t length,
                            struct inventory *inventory);
/* RTM_NEWROUTE: notes a default route of each interface that it leads out of. */
void addresses_take_route(const struct nlmsghdr *message, size_t length,
                          struct default_routes *routes);

#endif
