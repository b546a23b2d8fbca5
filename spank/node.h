/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_NODE_H
#define MUSTER_SPANK_NODE_H

#include "lib/base/error.h"
#include "lib/node/inventory.h"

/* As long as a step waits for the node's inventory; healthy nodes take a few ms. */
enum { NODE_DEADLINE_MS = 3000 };

/* inventory_read() in a process of its own, so that a driver that hangs behind sysfs does not hold
 * up slurmstepd: NULL with err also where there is no answer in time. */
struct inventory *node_read_in_time(const char *root, struct error *err);

#endif
