/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JOB_MATCH_H
#define MUSTER_JOB_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/error.h"

/* A question to Slurm: whether a job was that user's and ran on both nodes at that time. */
struct job_match {
    uint32_t job_id;
    uid_t uid;
    const char *node, *holder;
    time_t at;
    bool has_node, has_holder; /* the answer; in a heterogeneous job they may be in different
                                  parts */
};

bool job_match_is_confirmed(const struct job_match *matches);

/* Answers all questions at once: from the controller, and for jobs that it has forgotten (MinJobAge
 * after their end) from the accounting, if there is one. Returns 0, or -1 with err. */
int job_match_query(struct job_match *matches, size_t count, struct error *err);

/* For tests: takes a line of sacct, with times in UTC:
 * "12+1|13|1000|2026-11-25T17:16:01|Unknown|n[1-2]". */
void job_match_parse_line(const char *line, struct job_match *matches, size_t count);

#endif
