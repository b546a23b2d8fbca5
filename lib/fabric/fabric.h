/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FABRIC_H
#define MUSTER_FABRIC_H

#include <stddef.h>

#include "lib/conf/conf.h"
#include "lib/base/fabric_class.h"
#include "lib/node/inventory.h"
#include "lib/fabric/islands.h"

/* One way out of the node for a job's data. nic or port may be NULL, not both (an InfiniBand port
 * without IPoIB has no nic, a plain Ethernet NIC no port). Both point into the inventory. */
struct rail {
    char name[INVENTORY_NAME]; /* "eth1", or "mlx5_0:1" where there is an RDMA port */
    const struct nic *nic;
    const struct rdma_port *port;
    enum fabric_class class;
    double nominal_mbps; /* 10^6 bit/s: NominalSpeed of the configuration, else the port's rate,
                            else the NIC's speed; -1 unknown */
    const char *nominal_source; /* "conf", "sysfs", "unknown" */
    int gid_index; /* RoCE: the index of the best GID (v2 over IPv4, v2, v1); -1 none */
};

enum { FABRIC_UNUSED = 32 };

struct fabric {
    enum fabric_class class;           /* the best class any rail that is up has */
    struct rail rails[INVENTORY_NICS]; /* up or not, in the natural order of names */
    size_t rail_count;
    struct rail unused[FABRIC_UNUSED]; /* ports that are down and that nothing says are rails */
    size_t unused_count;
    const struct nic *management; /* never a rail unless no other NIC is left; may be NULL */
    char reason[384];             /* which rule chose these rails, from which fact, one line */
    char left_out[256]; /* rails of the same kind that are not among them, and why: "mlx5_1:1
                           mlx5_2:1 beside no GPU"; or "" */
};

/* The GID index for UCX: the best one, but with soft-RoCE (rdma_port.is_software) that of the
 * link-local GID: UCX says hello by unreliable datagrams, which rxe drops with a GID over IPv4, and
 * a job then hangs for 30 s and aborts (UCX 1.13, Linux 6.12). -1: none. */
int rail_ucx_gid_index(const struct rail *rail);

/* True when the rail's link can carry data now (carrier and IFF_UP, or an ACTIVE port). */
int rail_is_up(const struct rail *rail);

/* Whether it is a virtual function of its NIC. */
bool rail_is_virtual(const struct rail *rail);

/* One line on a rail that is not up: what is down, interface, cable or port, and what to do. 256
 * bytes hold it. */
void rail_why_down(const struct rail *rail, char *text, size_t size);

/* Chooses the rails. The management interface is conf's ManagementInterface, else the one that has
 * the default route of the lowest metric. Rails are conf's FabricInterfaces when given, by the name
 * of the interface, the RDMA device or the rail, whatever their class (one that is absent from the
 * node is left out: checks report it). Else all physical NICs and RDMA ports of the best class (of
 * those up, and of InfiniBand, EFA and Slingshot, which are nothing else, also when down), but
 * for management, members of a management bond, Ethernet over USB, virtual functions where a
 * physical one is there, where plain Ethernet is the best NICs of another driver than the fastest
 * that is up (unused ports on the board), and, where most GPUs have a NIC behind their own PCIe
 * switch, ports that are behind no GPU's (the storage network, whatever its class unless faster).
 * The members of a bond are one rail, the bond; an interface without an address below a VLAN that
 * has one is the VLAN. A port that is down and has no address or setting, while another rail or
 * management is up with one, is unused and no rail; so is an InfiniBand port that is down beside
 * the card's other one, where no other card uses its. With nothing but the management NIC, that one
 * is the rail, and reason says so. conf may be NULL. Pure: reads nothing. */
void fabric_choose(const struct inventory *inventory, const struct conf *conf,
                   struct fabric *fabric);

/* The same for one step: on an island the rails of its class, where the node has any (plain
 * Ethernet: interfaces only, RoCE NICs as such); for a step that crosses islands conf's
 * IslandInterfaces, else the management interface, as plain Ethernet. */
void fabric_choose_for(const struct inventory *inventory, const struct conf *conf,
                       const struct islands *islands, struct fabric *fabric);

/* Takes the rails that answer to one of the names (rail, interface, RDMA device) out of fabric, and
 * adds "eth2 WHY" to left_out; where no other rail is up, none: a rail that failed is better than
 * no rail. Returns how many. */
size_t fabric_leave_out(struct fabric *fabric, const struct hostlist *names, const char *why);

#endif
