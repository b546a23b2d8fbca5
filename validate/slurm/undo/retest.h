/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RETEST_H
#define MUSTER_RETEST_H

#include <signal.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/operations.h"

/* While muster's drain of a node is lifted for a test, it is kept in the node's Comment, behind the
 * site's text: "rack 7 [muster RUN: REASON]". So any later run on any head finds it, even if head
 * and keeper of this one are gone for good. (Not in its Reason: slurmctld, 22.05 to 26.05, clears
 * that of a node in service whenever the node is updated.) */

/* Add the node and its new Comment to the batch, for cluster_set_comment(): with the mark, to be
 * applied before the drain is lifted, and without it. Return 0, or -1 with err. */
int retest_mark(const struct cluster_node *node, const char *run, struct batch *comments,
                struct error *err);
int retest_unmark(const struct cluster_node *node, struct batch *comments, struct error *err);

/* Returns whether the node is marked; run and reason, which may be NULL, get what the mark says. */
bool retest_read(const struct cluster_node *node, char run[64], char reason[256]);

/* Returns whether the job is one of that run: by its name, which anybody may give, and by its user,
 * root or BatteryUser, or else by the run's reservation, which lets another BatteryUser in. */
bool retest_is_job_of(const struct cluster_job *job, const char *run, uid_t battery_uid);

/* Write the message about a run's reservation that somebody has changed and that therefore stays
 * (nodes: those that it has now), and about a node in service that was removed from it. */
void retest_print_reservation_changed(const char *reservation, const struct hostlist *nodes,
                                      char text[400]);
void retest_print_node_removed(const char *node, char text[400]);

/* Removes the runs of these reservations from those of the cluster: retest_clean_up() then leaves
 * them, unless nodes have their mark. */
void retest_exclude(struct cluster *cluster, const struct hostlist *reservations);

/* Cleans up after runs that are gone: they have no job in Slurm, root's or of BatteryUser
 * (battery_uid), no locked journal in directory (journal.h), and lift no drains, watched for
 * confirm_s seconds. Marked nodes are drained again, and the reservation muster-RUN is deleted if
 * it holds them all. A node that somebody has removed from it is only unmarked, and the reservation
 * then stays: it ends by itself, or the next run deletes it once it is an hour old, as one without
 * marked nodes. report gets a line for each run and for what stays. Returns how many runs these
 * were, or -1 with err. */
int retest_clean_up(const struct cluster_operations *operations, const struct cluster *cluster,
                    const char *directory, uid_t battery_uid, double confirm_s,
                    const volatile sig_atomic_t *stop, void (*report)(const char *text),
                    struct error *err);

#endif
