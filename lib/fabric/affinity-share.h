/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_AFFINITY_SHARE_H
#define MUSTER_AFFINITY_SHARE_H

#include "lib/fabric/affinity.h"

/* Inside affinity: shares the rails out. On entry serves marks every rail that could serve a GPU as
 * well as any other; on return those that do. GPUs that are not known or coarse stay as they are,
 * and count for no rail's load. */
void affinity_share(const struct inventory *inventory, const struct fabric *fabric,
                    struct affinity *affinity);

#endif
