/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RAILS_H
#define MUSTER_RAILS_H

#include "lib/fabric/fabric.h"

/* Inside of fabric: every way out of a node, before any is chosen. */

enum { RAILS_MAX = INVENTORY_NICS + INVENTORY_RDMA };

/* The RDMA ports of a kind that we know, and the interfaces that share none. Returns how many;
 * rails has RAILS_MAX places. conf may be NULL. */
size_t rails_all(const struct inventory *inventory, const struct conf *conf, struct rail *rails);

/* The interfaces alone, as plain Ethernet, without IPoIB. */
size_t rails_sockets(const struct inventory *inventory, const struct conf *conf,
                     struct rail *rails);

/* The rail that the interface alone is, of that class. */
struct rail rail_of_nic(const struct conf *conf, const struct nic *nic, enum fabric_class class);

/* Whether upper is a bond, bridge or VRF that nic is a member of, or a VLAN or the like on top of
 * it, by way of others or not. */
bool nic_stands_on(const struct inventory *inventory, const struct nic *upper,
                   const struct nic *nic);

/* Puts what carries the addresses in the place of interfaces without RDMA port: a bond in that of
 * its members, a VLAN in that of an interface or bond without an address. What management stands on
 * is left out. Returns how many rails that are. */
size_t rails_lift(const struct inventory *inventory, const struct conf *conf,
                  const struct nic *management, struct rail *rails, size_t count);

/* Whether the rail is there for a job's data and nothing else, even when it is down: of InfiniBand,
 * unless the port is disabled or an unused second one, EFA or Slingshot. Not of Gaudi, whose ports
 * have no cable where the host's NICs scale out, nor of Ethernet's kinds. */
bool rails_belongs_up(const struct conf *conf, const struct rail *rails, size_t count,
                      const struct rail *rail);

/* Moves ports that nobody uses from rails to fabric->unused. Returns how many rails are left. */
size_t rails_leave_unused(const struct inventory *inventory, const struct conf *conf,
                          struct rail *rails, size_t count, struct fabric *fabric);

#endif
