/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_COMPARE_SHOW_H
#define MUSTER_COMMAND_COMPARE_SHOW_H

#include "validate/compare/comparison.h"

/* What muster compare prints on standard output. */

/* How many nodes and facts, and the nodes of each group. */
void show_groups(const struct comparison *comparison);

/* Every value of every fact, and who says it. */
void show_values(const struct comparison *comparison);

/* A table of what differs, one row for all nodes that differ alike. */
void show_differences(const struct comparison *comparison);

/* The differences as JSON lines. */
void show_records(const struct comparison *comparison);

/* What several nodes have and only one may, one line each or as JSON lines. Returns the worst
 * verdict: UNKNOWN, as it is not known which of them is wrong; WARN for what most nodes have. */
enum verdict show_duplicates(const struct records *records, bool as_json);

#endif
