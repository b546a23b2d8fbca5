/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DCB_H
#define MUSTER_DCB_H

#include <stddef.h>
#include <stdint.h>

#include "lib/netif/netlink.h"

/* Data Center Bridging of an interface (IEEE 802.1Q, clauses 36 and 38;
 * include/uapi/linux/dcbnl.h): the priorities with pauses (NETIF_PFC), and the priorities of a DSCP
 * (NETIF_DSCP ...). Drivers of RoCE cards trust the DSCP of packets if any DSCP has an entry, else
 * the priority in the VLAN tag. Values are bits, 1 << priority. */

/* Reads the priorities. Returns 0, or -1 with err and errno, EOPNOTSUPP if the driver has no such
 * setting. */
int dcb_get(struct netlink *netlink, const char *name, enum netif_setting setting, long *priorities,
            struct error *err);

/* Sets exactly these priorities. Returns 0, or -1 with err and errno. */
int dcb_set(struct netlink *netlink, const char *name, enum netif_setting setting, long priorities,
            struct error *err);

/* Counts the PFC frames of all priorities (requests and indications of struct ieee_pfc): *sent by
 * the interface, to pause its link partner, and *received, which paused the interface. The drivers
 * mlx5, i40e, ice and hns3 count them; with others both may be 0. Returns 0, or -1 with err and
 * errno, EOPNOTSUPP if the driver has no PFC. */
int dcb_count_pauses(struct netlink *netlink, const char *name, uint64_t *sent, uint64_t *received,
                     struct error *err);

/* Parses a message of the kernel, the answer to DCB_CMD_IEEE_GET; for tests. Returns 0, 1 if the
 * driver does not report the setting, or -1 if it is another message or has wrong lengths. */
int dcb_parse(const void *message, size_t length, enum netif_setting setting, long *priorities);

/* Parses the same message for dcb_count_pauses(). */
int dcb_parse_pauses(const void *message, size_t length, uint64_t *sent, uint64_t *received);

#endif
