/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_SUSPECTS_H
#define MUSTER_CERTIFY_SUSPECTS_H

#include "validate/certify/state/run.h"

/* Reads the suspect reports on those nodes of the run that are free, and the strikes of earlier
 * runs, notes each, and leaves in the run only those that one is about and a few partners. Where
 * reports cannot be read, the others count, and has_unread is set, but for those in partitions that
 * are down where others were read. Returns 0, or -1 with err. */
int certify_suspects(struct certify *certify, struct error *err);
/* Leaves only the wanted nodes in the run, and a few others as partners of those among them that
 * can be tested: one on each leaf switch that has such a node, and enough; of the partition, as a
 * run is in one. partition: NULL: the one that has most of these nodes. */
void certify_keep(struct certify *certify, const struct cluster_partition *partition,
                  const struct hostlist *others, const struct hostlist *wanted);
/* Takes away the suspect reports about nodes that were tested, if any are known, from all in the
 * job. */
void certify_consume(struct certify *certify);

#endif
