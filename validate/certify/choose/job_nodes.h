/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_JOB_NODES_H
#define MUSTER_CERTIFY_JOB_NODES_H

#include "validate/certify/state/run.h"

/* The nodes that the next job, certify->job, asks for: JOB_CHECK all that may be allocated, in one
 * partition, which is noted, and of the others is noted why not; JOB_BATTERY those that have no
 * fault so far; JOB_CERTIFICATES those that certify_is_held(). They take the place of what is in
 * names, which must be released. Returns their number. */
size_t certify_job_nodes(struct certify *certify, struct hostlist *names);

#endif
