/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DCB_H
#define MUSTER_DCB_H

#include <stddef.h>
#include <stdint.h>

#include "lib/netif/netlink.h"

/* Data Center Bridging of an interface (IEEE 802.1Q, clauses 36 and 38;
 * include/uapi/linux/dcbnl.h): the priorities that pause (NETIF_PFC), and the priority that a DSCP
 * stands for (NETIF_DSCP ...). Drivers of RoCE cards trust the DSCP of packets while there is an
 * entry for any, else the priority in their VLAN tag. Values are priorities as bits, 1 << priority.
 */

/* Returns 0, or -1 with err and errno, EOPNOTSUPP when the driver has none. */
int dcb_get(struct netlink *netlink, const char *name, enum netif_setting setting, long *priorities,
            struct error *err);

/* Makes exactly these. Returns 0, or -1 with err and errno. */
int dcb_set(struct netlink *netlink, const char *name, enum netif_setting setting, long priorities,
            struct error *err);

/* PFC frames that the interface has sent, each of which held back what sends to it, and received,
 * each of which held it back, of all priorities (requests and indications of struct ieee_pfc).
 * Drivers of mlx5, i40e, ice and hns3 fill them in, others may not: then these are 0. Returns 0, or
 * -1 with err and errno, EOPNOTSUPP when the driver has no PFC. */
int dcb_count_pauses(struct netlink *netlink, const char *name, uint64_t *sent, uint64_t *received,
                     struct error *err);

/* What a message of the kernel says, for the tests: the answer to DCB_CMD_IEEE_GET.
 * Returns 0; 1 when the driver does not tell; -1 when it is none or its lengths do not fit. */
int dcb_parse(const void *message, size_t length, enum netif_setting setting, long *priorities);

/* The same for dcb_count_pauses(). */
int dcb_parse_pauses(const void *message, size_t length, uint64_t *sent, uint64_t *received);

#endif
