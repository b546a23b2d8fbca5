/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_GROUP_H
#define MUSTER_GPU_GROUP_H

#include "validate/battery/gpu/crew.h"
#include "validate/battery/gpu/group_evaluate.h"

/* Measures collectives of the devices of each node and of all nodes. If these are wrong, fail or
 * are slow, or if there is time, measures pairs of devices and of nodes. All leaders call it.
 * devices: [nodes]. nodes: [nodes], set; complete on rank 0. */
void group_measure(struct crew *crew, const struct gpu_node *devices, struct group_node *nodes);

#endif
