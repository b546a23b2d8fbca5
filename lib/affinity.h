/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_AFFINITY_H
#define MUSTER_AFFINITY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/fabric.h"
#include "lib/inventory.h"

/* How near a GPU and a NIC are to each other, by the PCI path of both, with NCCL's names of the
 * levels (nccl src/graph/topo.h, PATH_*), nearest first. */
enum affinity_level {
    AFFINITY_SAME,    /* one device: Gaudi's own ports */
    AFFINITY_PIX,     /* one PCIe switch between them */
    AFFINITY_PXB,     /* several PCIe switches, no host bridge */
    AFFINITY_PHB,     /* one host bridge, or one NUMA node where several are told apart by it */
    AFFINITY_SYS,     /* across NUMA nodes */
    AFFINITY_UNKNOWN, /* paths and NUMA nodes do not tell */
};
const char *affinity_level_name(enum affinity_level level); /* "SAME", "PIX", ..., "unknown" */

/* The level between two places. Pure. */
enum affinity_level affinity_between(const struct location *a, const struct location *b);

/* The whole node: gpus as in the inventory, rails as in the fabric. */
struct affinity {
    size_t gpu_count, rail_count;
    unsigned char level[INVENTORY_GPUS][INVENTORY_NICS]; /* enum affinity_level */
    /* The rails that serve a GPU: of those that are up the nearest ones, shared out so that no rail
     * serves more GPUs than it must, and every GPU has at least one. is_known false: the levels
     * do not tell, the GPU is served by none in particular. */
    bool is_known[INVENTORY_GPUS];
    bool serves[INVENTORY_GPUS][INVENTORY_NICS];
};

/* Pure: reads nothing. The struct is large: allocate it. */
void affinity_make(const struct inventory *inventory, const struct fabric *fabric,
                   struct affinity *affinity);

/* The rails that serve any of these GPUs (places in the inventory), in the fabric's order; NULL
 * gpus: all rails that are up. rails must hold fabric->rail_count places. Returns how many, 0 when
 * it is not known for any of the GPUs. */
size_t affinity_rails(const struct affinity *affinity, const size_t *gpus, size_t gpu_count,
                      size_t *rails);

#endif
