/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_SUSPECTS_H
#define MUSTER_CERTIFY_SUSPECTS_H

#include "validate/certify/state/run.h"

/* Reads the suspect reports on the free nodes of the run, the strikes of earlier runs and quick job
 * failures, notes each, and reduces the run to the nodes that they name and a few partners. If some
 * reports cannot be read, the others count and has_unread is set; partitions that are down set it
 * only if no report could be read at all. Returns 0, or -1 with err. */
int certify_suspects(struct certify *certify, struct error *err);
/* Restricts the run to the wanted nodes and a few partners of those that can be tested. Partners
 * are taken from others, in the partition, as a run uses one: one on each leaf switch that has such
 * a node, then more until there are enough. partition: NULL for the one that has most of these
 * nodes.
 */
void certify_restrict_to(struct certify *certify, const struct cluster_partition *partition,
                         const struct hostlist *others, const struct hostlist *wanted);
/* Removes the suspect reports about nodes that were tested, if any are known, from all nodes of the
 * job that answer. */
void certify_consume(struct certify *certify);

#endif
