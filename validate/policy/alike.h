/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ALIKE_H
#define MUSTER_ALIKE_H

#include <stdbool.h>
#include <stddef.h>

/* A failure that many nodes share has a common cause outside of the nodes: the network, the head
 * node, a configuration file, a driver. It fails no node. Pure. */

/* Returns whether a fault has a common cause. It is at the same part ("eth1") on at least two nodes
 * and half of all, or at parts of one kind ("gpu3", "gpu5") on at least three nodes and more than a
 * tenth. same: nodes with the fault at the same part. kind: nodes with it at a part of that kind,
 * including same. queried: all nodes, or all nodes of one leaf switch. */
bool alike_is_common(size_t same, size_t kind, size_t queried);

/* Returns whether two parts differ in numbers at most: "gpu3" and "gpu5", "rank 0" and "rank 12".
 */
bool alike_is_same_kind(const char *part, const char *other);

#endif
