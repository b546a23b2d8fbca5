/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_RAILS_H
#define MUSTER_CERTIFY_RAILS_H

#include "validate/certify/state/run.h"

/* AllowFailedRails: collects the unusable rails that muster check reported in the records since
 * first. Call it before the verdicts of these records count. */
void certify_rails_note(struct certify *certify, size_t first);
/* Returns the verdict to count for the part of the node: a warning instead of FAIL or UNKNOWN if
 * the part is such a rail and the site allows that many of them. */
enum verdict certify_rails_verdict(const struct certify *certify, const struct node_run *node_run,
                                   const char *part, enum verdict verdict);
/* Writes Open MPI's setting, NAME=VALUE, that restricts data to the rails that all nodes have.
 * Returns 0, or -1 if there is nothing to set. */
int certify_rails_setting(const struct certify *certify, char *text, size_t size);
/* Returns how many rails of the node are left out by AllowFailedRails. */
int certify_rails_left_out(const struct certify *certify, const struct node_run *node_run);
/* Returns whether muster-links was built with libibverbs and at least half of these nodes, and two
 * or more, reported a rail on InfiniBand or RoCE. */
bool certify_has_verbs(const struct certify *certify, const struct hostlist *names);

#endif
