/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_CHANGES_H
#define MUSTER_CERTIFY_CHANGES_H

#include "validate/certify/state/run.h"

/* Changes of the nodes in Slurm while the run requests a job or has one. */

/* The nodes on which a canceled job has not ended yet, and since when (clock_s()) the set is
 * unchanged. */
struct ending {
    struct hostlist nodes;
    double since;
};

/* Notes what changed on the nodes since their state was read: Slurm drained one whose prolog
 * failed, or another user's job started on one. has_our_job: the nodes are in a job of this run.
 * ending: the state of a job that Slurm did not start and that was canceled, or NULL; then also
 * notes the nodes that do not respond to slurmctld. Returns how many of the nodes are no longer
 * available. */
size_t certify_changes_note(struct certify *certify, const struct hostlist *names, bool has_our_job,
                            struct ending *ending);

/* Notes the nodes that somebody has removed from the run's reservation. A job in the reservation
 * would never start with such a node, so the run leaves it alone. Returns how many were found. */
size_t certify_freed_note(struct certify *certify, const struct hostlist *names);

#endif
