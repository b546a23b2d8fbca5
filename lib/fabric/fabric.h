/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FABRIC_H
#define MUSTER_FABRIC_H

#include <stddef.h>

#include "lib/base/fabric_class.h"
#include "lib/conf/conf.h"
#include "lib/fabric/islands.h"
#include "lib/node/inventory.h"

/* A network port of the node for a job's data. nic or port may be NULL, not both: an InfiniBand
 * port without IPoIB has no nic, a plain Ethernet NIC has no port. They point into the
 * inventory. */
struct rail {
    char name[INVENTORY_NAME]; /* "eth1", or "mlx5_0:1" if there is an RDMA port */
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
    enum fabric_class class;           /* the best class of the rails that are up; else of all */
    struct rail rails[INVENTORY_NICS]; /* up or not, in the natural order of names */
    size_t rail_count;
    struct rail unused[FABRIC_UNUSED]; /* ports that are down and not configured: not rails */
    size_t unused_count;
    const struct nic *management; /* a rail only if named or the only NIC left; may be NULL */
    char reason[384];             /* the rule that chose these rails and its fact, one line */
    char left_out[256]; /* ports of the same class that are not rails, and why: "mlx5_1:1 mlx5_2:1
                           beside no GPU"; or "" */
};

/* Returns the GID index for UCX: the best one, but for soft-RoCE (rdma_port.is_software) the index
 * of the link-local GID. UCX connects by unreliable datagrams, and rxe drops these with a GID over
 * IPv4: a job would hang for 30 s and abort (UCX 1.13, Linux 6.12). -1: none. */
int rail_ucx_gid_index(const struct rail *rail);

/* Returns whether the rail's link can carry data now (carrier and IFF_UP, or an ACTIVE port). */
int rail_is_up(const struct rail *rail);

/* Returns the location of the rail's device. A bond has none of its own. */
const struct location *rail_location(const struct rail *rail);

/* Returns whether the rail is a virtual function of its NIC. */
bool rail_is_virtual(const struct rail *rail);

/* Formats one line about a rail that is not up: what is down (interface, cable or port), and what
 * to do. It fits 256 bytes. */
void rail_why_down(const struct rail *rail, char *text, size_t size);

/* Chooses the rails. conf may be NULL. Pure: reads nothing.
 *
 * Management is conf's ManagementInterface, else the interface with the default route of the lowest
 * metric. If conf has FabricInterfaces, the rails are the ports with these names (of the interface,
 * the RDMA device or the rail), of any class. A name that is absent from the node is left out:
 * checks report it.
 *
 * Else the rails are all physical NICs and RDMA ports of the best class. The best class is that of
 * a port that is up, or of an InfiniBand, EFA or Slingshot port, which has no other use, also if it
 * is down. These are no rails:
 * - management, members of a management bond, Ethernet over USB, and virtual functions if there is
 *   a physical function;
 * - if plain Ethernet is the best class, NICs with another driver than the fastest NIC that is up
 *   (unused ports on the board);
 * - if most GPUs have a NIC behind their own PCIe switch, ports behind no GPU's switch (the storage
 *   network). Their class counts as the best only if they are faster;
 * - members of a bond, as the bond is the rail, and an interface without an address below a VLAN
 *   that has one, as the VLAN is the rail;
 * - unused ports: a port that is down and has no address or setting, while another rail or
 *   management is up and has an address; and an InfiniBand port that is down while the card's other
 *   port is up, if no other card uses its port of that position.
 * If only the management NIC is left, it is the rail, and reason says so. */
void fabric_choose(const struct inventory *inventory, const struct conf *conf,
                   struct fabric *fabric);

/* Chooses the rails for one step. Within an island: rails of the island's class, if the node has
 * any; for plain Ethernet these are interfaces only, also the interfaces of RoCE NICs. For a step
 * that crosses islands: conf's IslandInterfaces, else the management interface, as plain
 * Ethernet. islands NULL: as fabric_choose(). */
void fabric_choose_for(const struct inventory *inventory, const struct conf *conf,
                       const struct islands *islands, struct fabric *fabric);

/* Removes the rails with these names (of the rail, the interface or the RDMA device) from fabric
 * and adds "eth2 WHY" to left_out. Removes none if no other rail is up: a failed rail is better
 * than no rail. Returns the number of removed rails. */
size_t fabric_exclude(struct fabric *fabric, const struct hostlist *names, const char *why);

/* Returns the first interface on top of nic, as a VLAN, that has an address, or NULL. */
const struct nic *nic_addressed_on(const struct inventory *inventory, const struct nic *nic);

#endif
