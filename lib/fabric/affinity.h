/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_AFFINITY_H
#define MUSTER_AFFINITY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/fabric/fabric.h"
#include "lib/node/inventory.h"

/* How near two devices are to each other, by the PCI path of both, with the names that
 * `nvidia-smi topo -m` prints, nearest first. NCCL (src/graph/topo.h, PATH_*) has the same levels
 * but for NODE, which it counts as PHB. */
enum affinity_level {
    AFFINITY_SAME,    /* one PCI function: Gaudi's own ports, two ports of one adapter */
    AFFINITY_PIX,     /* one PCIe switch between them, or two functions of one device */
    AFFINITY_PXB,     /* several PCIe switches, no host bridge */
    AFFINITY_PHB,     /* one host bridge, each below a root port of its own */
    AFFINITY_NODE,    /* several host bridges of one NUMA node */
    AFFINITY_SYS,     /* across NUMA nodes */
    AFFINITY_UNKNOWN, /* paths and NUMA nodes do not tell */
};
const char *affinity_level_name(enum affinity_level level); /* "SAME", "PIX", ..., "unknown" */

/* The level between two places, by what paths and NUMA nodes say. Symmetric. Where a path is not
 * known NODE means "this NUMA node, or nearer". Devices that sit on a root bus or on one
 * conventional bus side by side, without a PCIe port above them, were put there by a hypervisor:
 * PHB when it also gave a NUMA node, else unknown. Pure. */
enum affinity_level affinity_between(const struct location *a, const struct location *b);

/* The whole node: gpus as in the inventory, rails as in the fabric. */
struct affinity {
    size_t gpu_count, rail_count;
    bool is_usable[INVENTORY_NICS]; /* the rails that may serve: those that are up, or as told */
    /* enum affinity_level. What affinity_between() says, and what the node as a whole adds to it:
     * a virtual machine with a single NUMA node tells nothing about host bridges and NUMA nodes,
     * they are its hypervisor's invention; on a real machine with a single NUMA node all host
     * bridges belong to that. A bond is as near as its farthest member. */
    unsigned char level[INVENTORY_GPUS][INVENTORY_NICS];
    /* The rails that serve a GPU: of the usable ones the nearest (of several at PXB those that
     * share the lowest switch), shared out so that no rail serves more GPUs than it must, in the
     * order of PCI addresses, and every GPU has at least one. The same on each call, for every
     * task of a node, in whichever order the devices are listed.
     * is_known false: the levels do not tell, the GPU is served by none in particular. That is so
     * when nothing nearer than PXB is known and the level of a usable rail is not known at all.
     * is_coarse: no more than the NUMA node or a virtual machine's host bridge is known; which of
     * its rails is behind the GPU's own switch is not, so that all of them serve the GPU. */
    bool is_known[INVENTORY_GPUS];
    bool is_coarse[INVENTORY_GPUS];
    bool serves[INVENTORY_GPUS][INVENTORY_NICS];
};

/* usable: one for each rail of the fabric, so that a step can be kept to one class of rails or off
 * one that failed; a rail that is down is never used. NULL: all that are up. Pure: reads nothing.
 * The struct is large: allocate it. */
void affinity_make(const struct inventory *inventory, const struct fabric *fabric,
                   const bool *usable, struct affinity *affinity);

/* The level between two rails of the node or two GPUs, as affinity_make() finds it between a GPU
 * and a rail. */
enum affinity_level affinity_of_rails(const struct inventory *inventory, const struct rail *a,
                                      const struct rail *b);
enum affinity_level affinity_of_gpus(const struct inventory *inventory, const struct gpu *a,
                                     const struct gpu *b);

/* The rails that serve any of these GPUs (places in the inventory), in the fabric's order; NULL
 * gpus: all usable rails. rails must hold fabric->rail_count places. Returns how many, 0 when
 * it is not known for one of the GPUs: nothing is to be pinned then. */
size_t affinity_rails(const struct affinity *affinity, const size_t *gpus, size_t gpu_count,
                      size_t *rails);

#endif
