/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JOB_MATCH_H
#define MUSTER_JOB_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/error.h"

/* A query to Slurm: did a job belong to that user and run on both nodes at that time? */
struct job_match {
    uint32_t job_id;
    uid_t uid;
    const char *node, *holder;
    time_t at;
    /* the result; a heterogeneous job may have the nodes in different components */
    bool has_node, has_holder;
};

bool job_match_is_confirmed(const struct job_match *matches);

/* Runs all queries at once: in the controller and, for jobs older than MinJobAge, in the
 * accounting, if it exists. Returns 0, or -1 with err. */
int job_match_query(struct job_match *matches, size_t count, struct error *err);

/* For tests: parses a line of sacct, with times in UTC:
 * "12+1|13|1000|2026-11-25T17:16:01|Unknown|n[1-2]". */
void job_match_parse_line(const char *line, struct job_match *matches, size_t count);

#endif
