/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ALIKE_H
#define MUSTER_ALIKE_H

#include <stdbool.h>
#include <stddef.h>

/* A failure that many nodes have alike has one cause, outside of the nodes: the network, the head,
 * a configuration file, a driver. No node fails for it. Pure. */

/* Returns whether so many of the `asked` nodes have the same fault that it is no node's own: at the
 * same part ("eth1") on two nodes or more, which are half of all; or at parts of one kind ("gpu3",
 * "gpu5") on three or more, which are more than a tenth. same: nodes with the fault at the same
 * part; kind: nodes with it at a part of that kind, these included. Used likewise for the nodes of
 * one leaf switch. */
bool alike_is_common(size_t same, size_t kind, size_t queried);

/* Returns whether two parts differ in numbers at most: "gpu3" and "gpu5", "rank 0" and "rank 12".
 */
bool alike_is_same_kind(const char *part, const char *other);

#endif
