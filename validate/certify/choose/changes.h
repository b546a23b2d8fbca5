/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_CHANGES_H
#define MUSTER_CERTIFY_CHANGES_H

#include "validate/certify/state/run.h"

/* What became of the run's nodes in Slurm while it asks for a job, or has one. */

/* The nodes on which a job that was canceled has not ended, and since when it is these. */
struct ending {
    struct hostlist nodes;
    double since;
};

/* What became of the nodes since they were looked at: Slurm has drained one whose prolog failed, a
 * job came first on another. has_our_job: they are in a job of ours; ending: what is left of one
 * that was canceled, or NULL. Returns how many of them are no longer to be had. */
size_t certify_changes_note(struct certify *certify, const struct hostlist *names, bool has_our_job,
                            struct ending *ending);

/* A job in the run's reservation never begins with a node that somebody has taken out of that: it
 * is theirs. Returns how many such nodes are found. */
size_t certify_freed_note(struct certify *certify, const struct hostlist *names);

#endif
