/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_GROUP_H
#define MUSTER_CERTIFY_GROUP_H

#include "validate/history/campaign.h"
#include "validate/slurm/cluster.h"

/* Which nodes the next run of a campaign tests. Pure. */

struct group {
    const struct cluster_partition *partition; /* NULL: none is up with a node to test now */
    struct hostlist wanted;   /* left in the campaign and to be tested now, in the partition */
    struct hostlist partners; /* free nodes of the partition that may be tested with them: those
                                 that the campaign has certified, and behind them any where only one
                                 of wanted can be tested and these are too few; none where none can
                               */
    size_t ready;             /* nodes that are left and could be tested now, wanted among them */
    size_t busy;              /* ... that will be free: jobs or reservations have them, or those
                                 that would be their partners */
    size_t away;              /* ... drained by somebody else, down by intent, in no partition that
                                 is up, of a name that is too long */
};

/* partition: NULL: any. most: of wanted; 0: all. Returns 0, or -1 with err. Release with
 * group_clear(). */
int group_choose(const struct cluster *cluster, const struct campaign *campaign,
                 const char *partition, size_t most, struct group *group, struct error *err);
void group_clear(struct group *group);

#endif
