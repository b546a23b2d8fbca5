/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PMPI_SUMMARY_H
#define MUSTER_PMPI_SUMMARY_H

#include <stdio.h>

#include "collectives/plan/plan.h"

/* How many collectives were done, by what, how large, for how long; as this process saw them.
 * Threads may count at once. */

/* algorithm: a name that lives as long as the process. */
void summary_count(enum collective_kind kind, const char *algorithm, size_t bytes, double time_s);

/* A table: a line for each collective and algorithm; "no collectives" where there were none. */
void summary_print(FILE *stream);

#endif
