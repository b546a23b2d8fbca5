/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RETEST_H
#define MUSTER_RETEST_H

#include <signal.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/operations.h"

/* A drain of muster's that is lifted for a test stands in the node's Comment meanwhile, behind what
 * the site has there: "rack 7 [muster RUN: REASON]". So any later run on any head finds it, should
 * head and keeper of this one be gone for good. (Not in its Reason: slurmctld, 22.05 to 26.05,
 * clears that of a node in service whenever the node is updated.) */

/* Add the node and its new Comment to the batch, for cluster_set_comment(): with the mark, to be
 * applied before the drain is lifted, and without it. Return 0, or -1 with err. */
int retest_mark(const struct cluster_node *node, const char *run, struct batch *comments,
                struct error *err);
int retest_unmark(const struct cluster_node *node, struct batch *comments, struct error *err);

/* Whether the node is marked, with the run's name and the reason of the drain; texts may be NULL.
 */
bool retest_read(const struct cluster_node *node, char run[64], char reason[256]);

/* Whether the job is one of that run: by its name, which anybody may give, and its user, who is
 * root or BatteryUser, or of another BatteryUser's, whom the run's reservation lets in. */
bool retest_is_job_of(const struct cluster_job *job, const char *run, uid_t battery_uid);

/* What is said where somebody has changed the reservation of a run, which then stays: the nodes are
 * those that it has now; and of a node in service that it has no more. */
void retest_reservation_changed(const char *reservation, const struct hostlist *nodes,
                                char text[400]);
void retest_node_freed(const char *node, char text[400]);

/* Takes the runs of these reservations out of the cluster's: retest_leftovers() leaves them then,
 * unless nodes have their mark. */
void retest_spare(struct cluster *cluster, const struct hostlist *reservations);

/* Puts right what runs have left that have no job in Slurm, root's or of BatteryUser (battery_uid),
 * and no locked journal in directory (journal.h), and that lift no more drains, watched for
 * confirm_s seconds: nodes that are marked are drained again, and the reservation muster-RUN goes,
 * if it holds them all. What somebody has taken out of it is only unmarked, and the reservation
 * stays then: it ends by itself, or the next run deletes it once it is an hour old, as one without
 * marked nodes. report gets a line for each run and for what stays. Returns how many runs those
 * were, or -1 with err. */
int retest_leftovers(const struct cluster_operations *operations, const struct cluster *cluster,
                     const char *directory, uid_t battery_uid, double confirm_s,
                     const volatile sig_atomic_t *stop, void (*report)(const char *text),
                     struct error *err);

#endif
