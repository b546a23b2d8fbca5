/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_COMPARE_SHOW_H
#define MUSTER_COMMAND_COMPARE_SHOW_H

#include "validate/compare/comparison.h"

/* The output of muster compare on standard output. */

/* Prints the number of nodes and facts, and the nodes of each group. */
void show_groups(const struct comparison *comparison);

/* Prints every value of every fact, and the nodes that have it. */
void show_values(const struct comparison *comparison);

/* Prints a table of the differences, one row for all nodes with the same difference. */
void show_differences(const struct comparison *comparison);

/* Prints the differences as JSON lines. */
void show_records(const struct comparison *comparison);

/* Prints values that several nodes have and only one may have, one line each or as JSON lines.
 * Returns the worst verdict: UNKNOWN, since the wrong node is not known; WARN for a value of most
 * nodes. */
enum verdict show_duplicates(const struct records *records, bool as_json);

#endif
