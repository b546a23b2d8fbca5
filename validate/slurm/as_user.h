/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_AS_USER_H
#define MUSTER_AS_USER_H

#include "validate/slurm/release.h"
#include "validate/slurm/user.h"

/* For files of this room: a request about a job, made as the user whose job it is. From 23.11 on a
 * job belongs to whose credential the request has, whatever root asks for. */

/* Returns 0 with *answer, or Slurm's errno. */
typedef int as_user_fn(job_desc_msg_t *wanted, uint32_t *answer);

/* Asks when it would have the job start, now or later. */
as_user_fn as_user_would_start;

/* Calls request() in a child that has become the user; NULL: is as this process. Returns what it
 * returns, or the errno of what kept the child from asking. */
int as_user(const struct user *user, as_user_fn *request, job_desc_msg_t *wanted, uint32_t *answer);

#endif
