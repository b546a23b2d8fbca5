/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JOB_LINES_H
#define MUSTER_JOB_LINES_H

#include "lib/base/record.h"
#include "lib/conf/conf.h"
#include "lib/node/job_log.h"

/* Lines for the node's log of jobs (lib/node/job_log.h), which a health check collects for the jobs
 * that ran; and their conversion to records. */

struct job_lines {
    int64_t begin_s, end_s; /* for lines without a time of their own; since 1970 */
    struct job_line lines[JOB_LINES_MOST];
    size_t count;
};

/* Adds a line while there is room. */
void job_lines_add(struct job_lines *lines, const struct job_line *line);

/* Writes each line for every job that ran at its time. Best effort; without such a job nothing is
 * written. */
void job_lines_attribute(const struct job_lines *lines, const struct conf *conf);

enum { JOB_LINE_MESSAGE = 400 };

/* Fills in metric, part, value, unit, job, user, time, verdict and message of the record. Its
 * strings point into message and line. */
void job_line_record(const struct job_line *line, char message[JOB_LINE_MESSAGE],
                     struct record *record);

#endif
