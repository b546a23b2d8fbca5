/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_REACH_NODES_H
#define MUSTER_CERTIFY_REACH_NODES_H

#include "validate/certify/state/run.h"

/* Asks the slurmd of each node that is not left alone. Here and below a node that only this host is
 * known not to reach is unknown; it fails once the controller misses it too. */
void certify_reach_first(struct certify *certify);
/* Asks those nodes of the list again that have no fault so far and notes who does not answer;
 * returns how many those are. */
size_t certify_reach_again(struct certify *certify, const struct hostlist *names, enum stage stage);
/* Asks all good ones a last time: nothing is certified whose slurmd went after its last stage. */
void certify_reach_last(struct certify *certify);
/* Asks those again that only this host was known not to reach, once the controller has had the time
 * to miss them. */
void certify_reach_cut_off(struct certify *certify);

#endif
