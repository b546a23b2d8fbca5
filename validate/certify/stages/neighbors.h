/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_NEIGHBORS_H
#define MUSTER_CERTIFY_NEIGHBORS_H

#include "validate/certify/state/run.h"

struct subnet;
/* Fills subnet, which is empty, with the Ethernet that the lldpds of the good nodes
 * have heard. Returns 0, 1 where there is nothing to see, or -1 with err. */
int certify_neighbors(struct certify *certify, struct subnet *subnet, struct error *err);

#endif
