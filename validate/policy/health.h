/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_HEALTH_H
#define MUSTER_POLICY_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/base/record.h"
#include "validate/slurm/cluster.h"

/* Whether a node's own health check may drain it. Nothing confirms its findings, so only a missing
 * or dead part counts: this needs no second node. Each node decides alone, so all drains together
 * must stay within DrainCap. Pure. */

/* Returns whether a failed check is such a fault, by its code in the catalog: of a GPU, of a GRES
 * device, of a NIC without link. Limits, services and configured values are no such faults: a wrong
 * configuration affects all nodes at once. lets_rails_fail: AllowFailedRails; then a rail without
 * link is no such fault. */
bool health_is_hard(const struct record *record, bool lets_rails_fail);

/* Returns whether muster's drain of the node ends the certificate issued at that time: a later
 * drain for a fault does. A refusal of the gate does not: GateBrake counts its cause. */
bool health_ends_certificate(const struct cluster_node *node, time_t issued);

enum health {
    HEALTH_DRAIN,
    HEALTH_OURS,         /* muster has drained it already */
    HEALTH_FOREIGN,      /* somebody else or Slurm drained it: their reason stays */
    HEALTH_CAP,          /* muster has drained as many nodes as it may */
    HEALTH_COMMON_FAULT, /* many nodes of the cluster or of its leaf switch have the same fault at
                            once: a common cause */
    HEALTH_NO_NODE,      /* the controller does not know it */
};

/* Returns what the node's own state says: HEALTH_NO_NODE for NULL, HEALTH_OURS or HEALTH_FOREIGN;
 * HEALTH_DRAIN if it is in service: then the other nodes matter. */
enum health health_state(const struct cluster_node *node);

/* Writes the note that a node publishes (EXTRA_FAULT) before it reads the notes of other nodes: the
 * time, and the reason of its drain. If several nodes get a fault at once, all but the first see
 * it. */
void health_note(const char *reason, time_t now, char *note, size_t size);
/* Returns whether a node's Extra has such a note for that reason, of that time or later. */
bool health_is_noted(const char *extra, const char *reason, time_t earliest);

/* Returns whether the other node has the fault: it published it, or muster drained it for it.
 * since: when the fault of our node began. A fault more than ALIKE_DRAINS_S earlier is another
 * event. */
bool health_has_same_fault(const struct cluster_node *node, const char *reason, time_t since);

/* Decides before a drain for that reason. since: as above. cap: cap.h, of all nodes. */
enum health health_decide(const struct cluster *cluster, const char *node, const char *reason,
                          time_t since, size_t cap);

/* Decides again after the drain, when drains of the same second are visible, in the order of
 * cap_is_drained_before(): HEALTH_CAP or HEALTH_COMMON_FAULT if this drain is one too many, else
 * HEALTH_OURS; HEALTH_FOREIGN or HEALTH_NO_NODE if muster's drain or the node is gone. */
enum health health_review(const struct cluster *cluster, const char *node, time_t since,
                          size_t cap);

#endif
