/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RETEST_H
#define MUSTER_RETEST_H

#include <signal.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/operations.h"

/* While a test lifts muster's drain of a node, the node's Comment keeps the reason after the site's
 * text: "rack 7 [muster RUN: REASON]". A later run on any head node finds it there, even if this
 * head node is lost. The Reason field cannot hold it: slurmctld (22.05 to 26.05) clears the Reason
 * of a node in service at each update of the node. */

/* Add the node and its new Comment to the batch, for cluster_set_comment(): with the mark, to be
 * applied before the drain is lifted, and without it. Return 0, or -1 with err. */
int retest_mark(const struct cluster_node *node, const char *run, struct batch *comments,
                struct error *err);
int retest_unmark(const struct cluster_node *node, struct batch *comments, struct error *err);

/* Returns whether the node is marked; run and reason, which may be NULL, get what the mark says. */
bool retest_read(const struct cluster_node *node, char run[64], char reason[256]);

/* Returns whether the job belongs to that run: it has the run's job name and either belongs to root
 * or BatteryUser, or is in the run's reservation. The name alone proves nothing. A run with
 * another BatteryUser is found by the reservation. */
bool retest_is_job_of(const struct cluster_job *job, const char *run, uid_t battery_uid);

/* Write a message: that a run's reservation stays because somebody changed it (nodes: its current
 * nodes), or that a node in service was removed from it. */
void retest_print_reservation_changed(const char *reservation, const struct hostlist *nodes,
                                      char text[400]);
void retest_print_node_removed(const char *node, char text[400]);

/* Removes the runs of these reservations from the cluster's list. retest_clean_up() then skips
 * them, unless nodes have their mark. */
void retest_exclude(struct cluster *cluster, const struct hostlist *reservations);

/* Cleans up after dead runs. A dead run has no job of root or BatteryUser (battery_uid) and no
 * locked journal in directory (journal.h), and lifts no drains, for confirm_s seconds. Its marked
 * nodes are drained again. The reservation muster-RUN is deleted if it holds all of them. A node
 * that somebody removed from the reservation only loses its mark; the reservation then stays until
 * it ends, or until a later run finds it an hour old and without marked nodes. report gets a line
 * for each run and for all that stays. Returns how many runs were dead, or -1 with err. */
int retest_clean_up(const struct cluster_operations *operations, const struct cluster *cluster,
                    const char *directory, uid_t battery_uid, double confirm_s,
                    const volatile sig_atomic_t *stop, void (*report)(const char *text),
                    struct error *err);

#endif
