/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUNIT_H
#define MUSTER_JUNIT_H

#include <stdio.h>

#include "validate/report/records.h"

/* Writes the verdicts among the records as JUnit's XML, which CI systems show: a test suite per
 * suite, a test case per node, test and part. fail is a failure, unknown an error, skip skipped; a
 * warning passes, with its message as system-out. Bytes that XML 1.0 cannot hold become U+FFFD.
 * Returns 0, or -1 with errno. */
int junit_write(FILE *stream, const struct records *records, const char *run);

#endif
