/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_AFFINITY_H
#define MUSTER_AFFINITY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/fabric/fabric.h"
#include "lib/node/inventory.h"

/* The distance of two devices by their PCI paths, nearest first, with the names that
 * `nvidia-smi topo -m` prints. NCCL (src/graph/topo.h, PATH_*) has the same levels except NODE,
 * which it counts as PHB. */
enum affinity_level {
    AFFINITY_SAME,    /* one PCI function: Gaudi's own ports, two ports of one adapter */
    AFFINITY_PIX,     /* one PCIe switch between them, or two functions of one device */
    AFFINITY_PXB,     /* several PCIe switches, no host bridge */
    AFFINITY_PHB,     /* one host bridge, each device below its own root port */
    AFFINITY_NODE,    /* several host bridges of one NUMA node */
    AFFINITY_SYS,     /* across NUMA nodes */
    AFFINITY_UNKNOWN, /* paths and NUMA nodes do not show it */
};
const char *affinity_level_name(enum affinity_level level); /* "SAME", "PIX", ..., "unknown" */

/* Returns the level between two locations by their paths and NUMA nodes. Symmetric. If a path is
 * not known, NODE means "this NUMA node, or nearer". A hypervisor has placed devices that are on a
 * root bus or side by side on a conventional bus, without a PCIe port above them: PHB if it also
 * gave NUMA nodes, else unknown. Pure. */
enum affinity_level affinity_between(const struct location *a, const struct location *b);

/* The affinity of all GPUs and rails; indexes as in the inventory and the fabric. */
struct affinity {
    size_t gpu_count, rail_count;
    bool is_usable[INVENTORY_NICS]; /* the rail is up, and affinity_make()'s usable allows it */
    /* enum affinity_level, by affinity_between() and by facts about the whole node. In a virtual
     * machine with a single NUMA node, host bridges and NUMA nodes are the hypervisor's invention
     * and do not count. On a real machine with a single NUMA node, all host bridges belong to it. A
     * bond is as near as its farthest member. */
    unsigned char level[INVENTORY_GPUS][INVENTORY_NICS];
    /* The rails that serve a GPU: the nearest of the usable rails (of several at PXB, those that
     * share the lowest switch). They are shared out in the order of PCI addresses, so that every
     * GPU has at least one and no rail serves more GPUs than necessary. The result is the same on
     * each call, for every task of a node, in whatever order the devices are listed.
     * is_known false: no rail is known to be nearest, and none serves the GPU. That is so if no
     * rail is nearer than PXB and the level of a usable rail is unknown.
     * is_coarse: only the NUMA node or a virtual machine's host bridge is known, and not which of
     * its rails is behind the GPU's own switch. So all of them serve the GPU. */
    bool is_known[INVENTORY_GPUS];
    bool is_coarse[INVENTORY_GPUS];
    bool serves[INVENTORY_GPUS][INVENTORY_NICS];
};

/* Fills affinity. usable has one entry per rail of the fabric, to restrict a step to one class of
 * rails or to exclude a failed rail; NULL: all rails. A rail that is down is never usable. Pure:
 * reads nothing. The struct is large: allocate it. */
void affinity_make(const struct inventory *inventory, const struct fabric *fabric,
                   const bool *usable, struct affinity *affinity);

/* Return the level between two rails or two GPUs of the node, found as affinity_make() does between
 * a GPU and a rail. */
enum affinity_level affinity_of_rails(const struct inventory *inventory, const struct rail *a,
                                      const struct rail *b);
enum affinity_level affinity_of_gpus(const struct inventory *inventory, const struct gpu *a,
                                     const struct gpu *b);

/* Sets rails to the rails that serve any of these GPUs (indexes in the inventory), in the fabric's
 * order; gpus NULL: all usable rails. rails has room for fabric->rail_count. Returns the number of
 * rails; 0 if it is not known for one of the GPUs: then do not pin anything. */
size_t affinity_rails(const struct affinity *affinity, const size_t *gpus, size_t gpu_count,
                      size_t *rails);

#endif
