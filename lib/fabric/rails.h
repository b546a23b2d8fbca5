/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RAILS_H
#define MUSTER_RAILS_H

#include "lib/fabric/fabric.h"

/* Internal to fabric: all possible rails of a node, before rails are chosen. */

enum { RAILS_MAX = INVENTORY_NICS + INVENTORY_RDMA };

/* Sets rails, with room for RAILS_MAX, to the RDMA ports of a known class and the interfaces
 * without such a port. Returns the number of rails. conf may be NULL. */
size_t rails_all(const struct inventory *inventory, const struct conf *conf, struct rail *rails);

/* Sets rails to the interfaces as plain Ethernet, except IPoIB. Returns the number of rails. */
size_t rails_sockets(const struct inventory *inventory, const struct conf *conf,
                     struct rail *rails);

/* Returns the rail of an interface without its RDMA port, with this class. */
struct rail rail_of_nic(const struct conf *conf, const struct nic *nic, enum fabric_class class);

/* Returns whether upper is a bond, bridge or VRF with the member nic, or a VLAN or the like on top
 * of nic, directly or through others. */
bool nic_is_above(const struct inventory *inventory, const struct nic *upper,
                  const struct nic *nic);

/* Replaces interfaces without an RDMA port by the interface that has their address: members by
 * their bond, an interface or bond without an address by its VLAN. Leaves management out. Returns
 * the number of rails. */
size_t rails_replace_by_uppers(const struct inventory *inventory, const struct conf *conf,
                               const struct nic *management, struct rail *rails, size_t count);

/* Returns whether the rail has no other use than a job's data, so that it should be up: EFA,
 * Slingshot or InfiniBand (with NominalSpeed in conf, or unless it is disabled or an unused second
 * port), but no virtual function. Not Gaudi, whose ports have no cable if the host's NICs scale
 * out, nor Ethernet, RoCE or iWARP. */
bool rail_is_expected_up(const struct conf *conf, const struct rail *rails, size_t count,
                         const struct rail *rail);

/* Moves unused ports from rails to fabric->unused. Returns the number of remaining rails. */
size_t rails_exclude_unused(const struct inventory *inventory, const struct conf *conf,
                            struct rail *rails, size_t count, struct fabric *fabric);

#endif
