/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RAIL_COUNTERS_H
#define MUSTER_RAIL_COUNTERS_H

#include "lib/fabric/fabric.h"
#include "lib/node/counters.h"

/* counters_read() of the rail's interface and RDMA port. A port of software RDMA lacks nothing:
 * what it carries its interface counts. */
int rail_counters_read(const char *root, const struct rail *rail, struct counters *counters);

#endif
