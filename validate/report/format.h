/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FORMAT_H
#define MUSTER_FORMAT_H

#include <stdio.h>

#include "validate/report/survey.h"

/* The forms that a report has: one file each, one table of all. A form writes the survey to the
 * stream and returns 0, or -1 with errno. Whatever stands in the records comes out as text. */
struct report_format {
    const char *name; /* "html" */
    const char *help;
    int (*write)(FILE *stream, const struct survey *survey);
};

/* In the order in which help lists them; ends with a NULL name. */
extern const struct report_format report_formats[];
/* Their names, as the choices of an option. */
#define REPORT_FORMATS "table|html|junit|prometheus|csv|json"

/* NULL when there is none of that name. */
const struct report_format *format_find(const char *name);

/* Whether format_save() finds a place there: it is tried, and nothing is left of that. Returns 0,
 * or -1 with err. */
int format_can_save(const char *path, struct error *err);

/* Writes the report to a file: aside, and renamed when it is whole, so that a reader never sees
 * half of one and a full disk leaves the old one. path "-" is standard output. Its directory must
 * be there. /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N are the descriptors that this
 * program was started with, and are written to where they stand, files too. A pipe and a character
 * device are written to where they take all within REPORT_PIPE_S. No link is followed: one to a
 * file is replaced, unless it is below /dev. Returns 0, or -1 with err. */
int format_save(const struct report_format *format, const struct survey *survey, const char *path,
                struct error *err);

int overview_write(FILE *stream, const struct survey *survey);   /* table for a person */
int html_write(FILE *stream, const struct survey *survey);       /* one page, needs no network */
int junit_write(FILE *stream, const struct survey *survey);      /* for CI systems */
int prometheus_write(FILE *stream, const struct survey *survey); /* for node_exporter */
int json_write(FILE *stream, const struct survey *survey);       /* records, one a line */
int csv_write(FILE *stream, const struct survey *survey);        /* RFC 4180 */

#endif
