/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_RAILS_H
#define MUSTER_CERTIFY_RAILS_H

#include "validate/certify/state/run.h"

/* AllowFailedRails: collects what muster check has said of rails that carry nothing, among
 * the records since first; to be called before its verdicts count. */
void certify_rails_note(struct certify *certify, size_t first);
/* What a verdict about that part of the node counts as: a warning instead of a failure, or of not
 * knowing, where the part is such a rail and the site allows that many. */
enum verdict certify_rails_verdict(const struct certify *certify, const struct node_run *node_run,
                                   const char *part, enum verdict verdict);
/* Open MPI's setting, NAME=VALUE, for data over the rails that none of the nodes lacks. Returns 0,
 * or -1 when there is nothing to set. */
int certify_rails_setting(const struct certify *certify, char *text, size_t size);
/* How many rails of the node are left out so. */
int certify_rails_left_out(const struct certify *certify, const struct node_run *node_run);
/* Whether most of these nodes have told of a rail on InfiniBand or RoCE, so that libibverbs can
 * drive it too, and muster-links was built with that. */
bool certify_has_verbs(const struct certify *certify, const struct hostlist *names);

#endif
