/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_SHOW_H
#define MUSTER_WATCH_SHOW_H

#include <stdio.h>

#include "validate/watch/judge.h"

/* Prints a line per node, a line per finding, and the line of the verdict. */
void watch_print_table(const struct watch *watch, const struct watch_verdict *verdict,
                       bool has_colour, FILE *stream);

/* Prints the same as records, with the values of each rank and rail. */
void watch_print_records(const struct watch *watch, const struct watch_verdict *verdict,
                         unsigned job_id, FILE *stream);

#endif
