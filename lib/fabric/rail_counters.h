/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RAIL_COUNTERS_H
#define MUSTER_RAIL_COUNTERS_H

#include "lib/fabric/fabric.h"
#include "lib/node/counters.h"

/* Calls counters_read() for the rail's interface and RDMA port. A software RDMA port does not lack
 * byte counters: its interface counts its data. */
int rail_counters_read(const char *root, const struct rail *rail, struct counters *counters);

#endif
