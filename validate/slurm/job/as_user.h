/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_AS_USER_H
#define MUSTER_AS_USER_H

#include "validate/slurm/job/user.h"
#include "validate/slurm/release.h"

/* Internal to validate/slurm: a request about a job, made as the job's user. From 23.11 on a job
 * belongs to the user in the request's credential, whatever root requests. */

struct as_user_answer {
    uint32_t value;
    char nodes[64]; /* cut at its size */
};

/* Returns 0 with *answer, or Slurm's errno. */
typedef int as_user_fn(job_desc_msg_t *wanted, struct as_user_answer *answer);

/* Queries when Slurm would start the job, now or later: the value, in seconds since 1970; and on
 * which nodes. */
as_user_fn as_user_would_start;

/* Calls request() in a child process that has become the user; NULL: as this process. Sets wanted's
 * user there. Returns what request() returns, or an errno if the child could not call it. */
int as_user(const struct user *user, as_user_fn *request, job_desc_msg_t *wanted,
            struct as_user_answer *answer);

#endif
