/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HARNESS_OUTPUT_H
#define MUSTER_HARNESS_OUTPUT_H

#include <stdbool.h>

#include "lib/base/record.h"

/* What a battery program prints: records as JSON lines, or a table for a person. One per process;
 * only rank 0 uses it. Safe from several threads. */

void output_start(const char *program, const char *suite, bool json);

/* Another suite for the records that follow. */
void output_suite(const char *suite);

/* Prints the record (its suite is filled in) and remembers the worst verdict. */
void output_record(struct record *record);
/* The same as record_report(), and for what is evaluated elsewhere. */
extern const struct record_sink output_sink;
#define output_report(...) record_report(&output_sink, __VA_ARGS__)

/* A line of progress on standard error when that is a terminal; the next one overwrites it. With
 * MUSTER_PROGRESS in the environment and no terminal a line each, after RECORD_PROGRESS. */
void output_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Stops all output by other threads from now on: what they print later is dropped. For the thread
 * that ends the job. */
void output_take_over(void);

/* The line that sums up, or as JSON the record with the exit status, and a flush; a
 * line on standard error where that fails. */
void output_finish(void);

/* 0 nothing bad, 1 something failed, 3 something is unknown, or a record did not reach
 * standard output. */
int output_status(void);

#endif
