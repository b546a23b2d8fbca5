/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_GROUP_H
#define MUSTER_CERTIFY_GROUP_H

#include "validate/history/campaign.h"
#include "validate/slurm/cluster.h"

/* Which nodes the next run of a campaign tests. Pure. */

struct group {
    const struct cluster_partition *partition; /* NULL: no partition that is up has a node to
                                                  test now */
    struct hostlist wanted;   /* nodes of the partition that are left in the campaign and can be
                                 tested now */
    struct hostlist partners; /* free nodes of the partition to be tested with wanted: those that
                                 the campaign has certified, then any if only one of wanted is
                                 testable and those are too few; empty if none of wanted is
                                 testable */
    size_t ready;             /* nodes that are left and could be tested now, wanted among them */
    size_t busy;              /* ... that will be free: jobs or reservations hold them or their
                                 possible partners */
    size_t away;              /* ... that are drained by somebody else, down by intent, in no
                                 partition that is up, or have too long a name */
};

/* Fills group. partition: NULL for any. most: limit on the number of wanted nodes; 0 for no limit.
 * Returns 0, or -1 with err. Release with group_clear(). */
int group_choose(const struct cluster *cluster, const struct campaign *campaign,
                 const char *partition, size_t most, struct group *group, struct error *err);
void group_clear(struct group *group);

#endif
