/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_NEIGHBORS_H
#define MUSTER_CERTIFY_NEIGHBORS_H

#include "validate/certify/state/run.h"

struct subnet;
/* Fills subnet, which must be empty, with the Ethernet that lldpd reports on the good nodes.
 * Returns 0, 1 if there is nothing to see, or -1 with err. */
int certify_neighbors(struct certify *certify, struct subnet *subnet, struct error *err);

#endif
