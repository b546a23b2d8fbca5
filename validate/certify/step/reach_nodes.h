/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_REACH_NODES_H
#define MUSTER_CERTIFY_REACH_NODES_H

#include "validate/certify/state/run.h"

/* Asks the slurmd of each node that is not left alone. */
void certify_reach_first(struct certify *certify);
/* Asks those nodes of the list again that have no fault so far and notes who does not answer;
 * returns how many those are. */
size_t certify_reach_again(struct certify *certify, const struct hostlist *names, enum stage stage);
/* Asks all good ones a last time: nothing is certified whose slurmd went after its last stage. */
void certify_reach_last(struct certify *certify);

#endif
