/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FORMAT_H
#define MUSTER_FORMAT_H

#include <stdio.h>

#include "validate/report/survey.h"

/* The formats of a report: one file each, one table of all. write() writes the survey to the stream
 * and returns 0, or -1 with errno. It escapes all texts of records for the format. */
struct report_format {
    const char *name; /* "html" */
    const char *help;
    int (*write)(FILE *stream, const struct survey *survey);
};

/* In the order of help; ends with a NULL name. */
extern const struct report_format report_formats[];
/* The names of the formats, as choices of an option. */
#define REPORT_FORMATS "table|html|junit|prometheus|csv|json"

/* Returns the format of the name, or NULL. */
const struct report_format *format_find(const char *name);

/* Tests whether format_save() can write to path, by an attempt that leaves no trace. Returns 0, or
 * -1 with err. */
int format_can_save(const char *path, struct error *err);

/* Writes the report to a file in an existing directory. Writes a temporary file and renames it when
 * it is complete, so that a reader never sees a part, and a full disk leaves the old file. path "-"
 * is standard output. /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N are the descriptors
 * that this program inherited; they are written at their position, also if they are files. A pipe
 * or a character device must accept all within REPORT_PIPE_S. No link is followed: a link to a file
 * is replaced, unless it is below /dev. Returns 0, or -1 with err. */
int format_save(const struct report_format *format, const struct survey *survey, const char *path,
                struct error *err);

int overview_write(FILE *stream, const struct survey *survey);   /* table for people */
int html_write(FILE *stream, const struct survey *survey);       /* one page, needs no network */
int junit_write(FILE *stream, const struct survey *survey);      /* for CI systems */
int prometheus_write(FILE *stream, const struct survey *survey); /* for node_exporter */
int json_write(FILE *stream, const struct survey *survey);       /* records, one a line */
int csv_write(FILE *stream, const struct survey *survey);        /* RFC 4180 */

#endif
