/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HARNESS_OUTPUT_H
#define MUSTER_HARNESS_OUTPUT_H

#include <stdbool.h>

#include "lib/base/record.h"

/* The output of a battery program: records as JSON lines, or a table for people. One per process;
 * only rank 0 uses it. Thread-safe. */

void output_start(const char *program, const char *suite, bool json);

/* Sets the suite of the records that follow. */
void output_suite(const char *suite);

/* Prints the record, in JSON with the suite and with the MUSTER_RUN of output_start(), and counts
 * its verdict. */
void output_record(struct record *record);
/* The same as a sink for record_report(), also for records that other modules make. */
extern const struct record_sink output_sink;
#define output_report(...) record_report(&output_sink, __VA_ARGS__)

/* Prints a progress line on standard error if that is a terminal; the next line overwrites it. If
 * it is no terminal and MUSTER_PROGRESS is set, prints each line separately, after
 * RECORD_PROGRESS. */
void output_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Drops all later output of other threads. For the thread that ends the job. */
void output_claim(void);

/* Prints the summary line, or with JSON the record that has the exit status, and flushes. Prints a
 * line on standard error if the flush fails. */
void output_finish(void);

/* Returns the exit status: 1 if a record failed; else 3 if a record is unknown or standard output
 * has an error; else 0. */
int output_status(void);

#endif
