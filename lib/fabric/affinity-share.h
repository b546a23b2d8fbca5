/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_AFFINITY_SHARE_H
#define MUSTER_AFFINITY_SHARE_H

#include "lib/fabric/affinity.h"

/* Internal to affinity: shares the rails out. On entry serves marks every rail that can serve a
 * GPU, all equally near; on return the rails that do serve it. GPUs whose rails are not known or
 * coarse stay unchanged and do not count as a rail's load. */
void affinity_share(const struct inventory *inventory, const struct fabric *fabric,
                    struct affinity *affinity);

#endif
