/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_HEALTH_H
#define MUSTER_POLICY_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/base/record.h"
#include "validate/slurm/cluster.h"

/* Whether a node's own health check may drain it. Nobody has confirmed its findings, so only a part
 * that is missing or dead counts, which no other node has to see; and each node decides for itself,
 * so all together must not take more than DrainCap away. Pure. */

/* Returns whether a failed check is such a fault, by its code's row in the catalog: of a GPU, of a
 * device that Slurm hands out, of a NIC without link. Limits, services, and figures against the
 * configuration are not: if they are wrong, they are wrong everywhere at once. lets_rails_fail:
 * AllowFailedRails; then a rail without link is not one. */
bool health_is_hard(const struct record *record, bool lets_rails_fail);

/* Returns whether muster's drain of the node ends the certificate that was issued at that time: a
 * drain that came later, for a fault. A refusal of the gate does not end it: what was wrong with
 * the certificate then is what GateBrake counts. */
bool health_ends_certificate(const struct cluster_node *node, time_t issued);

enum health {
    HEALTH_DRAIN,
    HEALTH_OURS,         /* muster has drained it already */
    HEALTH_FOREIGN,      /* somebody else has, or Slurm: their reason stays */
    HEALTH_CAP,          /* muster has drained as many nodes as it may */
    HEALTH_COMMON_FAULT, /* so many others, of the cluster or of the node's leaf switch, have the
                     same fault in one event that none is at fault */
    HEALTH_NO_NODE,      /* the controller does not know it */
};

/* Returns what the node's own state says: HEALTH_NO_NODE for NULL, HEALTH_OURS or HEALTH_FOREIGN;
 * HEALTH_DRAIN if it is in service, so that the other nodes decide. */
enum health health_state(const struct cluster_node *node);

/* Writes what a node publishes (EXTRA_FAULT) before it looks at the others: the reason for which it
 * would be drained, and when. So of the nodes that have a fault at once, all but the first see it.
 */
void health_note(const char *reason, time_t now, char *note, size_t size);
/* Returns whether a node's Extra has such a note for that reason, of that time or later. */
bool health_is_noted(const char *extra, const char *reason, time_t earliest);

/* Returns whether the other node has the fault: it published it, or muster drained it for it.
 * since: when the fault of our node began; what others had until ALIKE_DRAINS_S before that is
 * another event. */
bool health_has_same_fault(const struct cluster_node *node, const char *reason, time_t since);

/* Decides before a drain for that reason. since: as above. cap: cap.h, of all nodes. */
enum health health_decide(const struct cluster *cluster, const char *node, const char *reason,
                          time_t since, size_t cap);

/* Decides after the drain, once the others that drained themselves in the same second are seen, in
 * the order of cap_is_drained_before(): HEALTH_CAP or HEALTH_COMMON_FAULT if this node is one too
 * many, else HEALTH_OURS; HEALTH_FOREIGN or HEALTH_NO_NODE if muster's drain or the node is gone.
 */
enum health health_review(const struct cluster *cluster, const char *node, time_t since,
                          size_t cap);

#endif
