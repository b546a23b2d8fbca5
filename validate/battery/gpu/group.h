/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_GROUP_H
#define MUSTER_GPU_GROUP_H

#include "validate/battery/gpu/crew.h"
#include "validate/battery/gpu/group_evaluate.h"

/* Collectives of the devices of each node, of all nodes and, where these do not do well or there is
 * time, of pairs of devices and of nodes. All leaders together. devices: of all nodes; nodes: to be
 * filled in, of all nodes too. */
void group_measure(struct crew *crew, const struct gpu_node *devices, struct group_node *nodes);

#endif
