/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RAILS_H
#define MUSTER_RAILS_H

#include "lib/fabric/fabric.h"

/* Inside of fabric: every way out of a node, before any is chosen. */

enum { RAILS_MAX = INVENTORY_NICS + INVENTORY_RDMA };

/* The RDMA ports of a kind that we know, and the interfaces that share none. Returns how many;
 * rails has RAILS_MAX places. conf may be NULL. */
size_t rails_all(const struct inventory *inventory, const struct conf *conf, struct rail *rails);

/* The interfaces alone, as plain Ethernet, without IPoIB. */
size_t rails_sockets(const struct inventory *inventory, const struct conf *conf,
                     struct rail *rails);

#endif
