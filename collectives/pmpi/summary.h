/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PMPI_SUMMARY_H
#define MUSTER_PMPI_SUMMARY_H

#include <stdio.h>

#include "collectives/plan/plan.h"

/* Counts this process's collectives by kind and algorithm: calls, bytes and time. Threads may count
 * at once. */

/* Counts one call. algorithm: a name that lives as long as the process. */
void summary_count(enum collective_kind kind, const char *algorithm, size_t bytes, double time_s);

/* Prints a table with a line for each collective and algorithm, or "no collectives". */
void summary_print(FILE *stream);

#endif
