/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_HEALTH_H
#define MUSTER_POLICY_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/base/record.h"
#include "validate/slurm/cluster.h"

/* Whether a node's own health check may drain it. Nobody has confirmed what it found, so that only
 * a part that is missing or dead counts, which no neighbor has to see; and each node decides for
 * itself, so that all together must not take more than DrainCap away. Pure. */

/* Whether a failed check is such a fault, by its code's row in the catalogue: of a GPU, of a device
 * that Slurm hands out, of a NIC without link. Limits, services, and figures against the
 * configuration are not: where they are wrong they are so everywhere at once. lets_rails_fail:
 * AllowFailedRails, then a rail without link is none. */
bool health_is_hard(const struct record *record, bool lets_rails_fail);

/* Whether a drain of muster's ends the certificate that was issued at that time: one that came
 * later, for a fault. A refusal of the gate is none: what was wrong with the certificate then is
 * what GateBrake counts. */
bool health_ends_certificate(const struct cluster_node *node, time_t issued);

enum health {
    HEALTH_DRAIN,
    HEALTH_OURS,    /* muster has drained it already */
    HEALTH_FOREIGN, /* somebody else has, or Slurm: their reason stays */
    HEALTH_CAP,     /* muster has drained as many nodes as it may */
    HEALTH_ALIKE,   /* others of the cluster, or of the node's leaf switch, have the same in one
                     * event,   so many that none is at fault */
    HEALTH_NO_NODE, /* the controller does not know it */
};

/* What its own state says: HEALTH_NO_NODE of NULL, HEALTH_OURS, HEALTH_FOREIGN; HEALTH_DRAIN: it is
 * in service, and the others decide. */
enum health health_state(const struct cluster_node *node);

/* What a node publishes (EXTRA_FAULT) before it looks at the others, so that of those that have a
 * fault at once all but the first see it: the reason that it would be drained for, and when. */
void health_note(const char *reason, time_t now, char *note, size_t size);
/* Whether that stands in a node's Extra, of that time or later. */
bool health_is_noted(const char *extra, const char *reason, time_t earliest);

/* Whether the other node has the fault, as it published or as muster drained it. since: when our
 * node's began; what others had until ALIKE_DRAINS_S before that is another event. */
bool health_is_alike(const struct cluster_node *node, const char *reason, time_t since);

/* Before the drain, for that reason. since: as above. cap: cap.h, of all nodes. */
enum health health_decide(const struct cluster *cluster, const char *node, const char *reason,
                          time_t since, size_t cap);

/* After it, when the others that drained themselves in the same second are seen, in the order of
 * cap_is_before(): HEALTH_CAP or HEALTH_ALIKE where this node is one too many, else
 * HEALTH_OURS. */
enum health health_review(const struct cluster *cluster, const char *node, time_t since,
                          size_t cap);

#endif
