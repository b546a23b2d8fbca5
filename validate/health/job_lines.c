/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/job_lines.h"

void job_lines_add(struct job_lines *lines, const struct job_line *line)
{
    struct job_line *added = &lines->lines[lines->count];

    if (lines->count == JOB_LINES_MOST)
        return;
    lines->count++;
    *added = *line;
    if (added->end_s == 0) {
        added->begin_s = lines->begin_s;
        added->end_s = lines->end_s;
    }
}

void job_lines_attribute(const struct job_lines *lines, const struct conf *conf)
{
    struct job_log log;

    if (lines->count > 0 && job_log_open(&log, conf->certificate_path) == 0)
        (void)job_log_attribute(&log, lines->lines, lines->count, NULL);
}

void job_line_record(const struct job_line *line, char message[JOB_LINE_MESSAGE],
                     struct record *record)
{
    job_line_describe(line, message, JOB_LINE_MESSAGE);
    record->metric = line->event == JOB_RAN      ? "seconds"
                     : line->event == JOB_LOGGED ? "log_entries"
                                                 : line->counter;
    record->part = line->part;
    record->value = (double)line->value;
    record->unit = line->event == JOB_RAN ? "s" : part_counter_unit(line->counter);
    record->job = line->job;
    record->user = line->uid;
    record->time = (double)line->end_s;
    record->verdict = VERDICT_PASS;
    record->message = message;
}
