/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_REACH_NODES_H
#define MUSTER_CERTIFY_REACH_NODES_H

#include "validate/certify/state/run.h"

/* Queries the slurmd of each node that is not left alone. In all these functions a node that only
 * this host cannot reach is unknown; it fails once the controller misses it too. */
void certify_reach_first(struct certify *certify);
/* Queries again the nodes of the list that have no fault so far, notes those that do not answer,
 * and returns their number. */
size_t certify_reach_again(struct certify *certify, const struct hostlist *names, enum stage stage);
/* Queries all good nodes a last time: no node is certified whose slurmd has gone since its last
 * stage. */
void certify_reach_last(struct certify *certify);
/* Queries again the nodes that only this host could not reach, after the controller has had time to
 * miss them. */
void certify_reach_cut_off(struct certify *certify);

#endif
