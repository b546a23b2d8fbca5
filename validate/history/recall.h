/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RECALL_H
#define MUSTER_RECALL_H

#include "validate/history/history.h"

/* A run as the history kept it, as records: its verdicts other than pass, what muster certify
 * concluded of each node, and of a small and new run the figures of pairs. wanted: as for
 * history_run_find(). Returns 0, 1 with err when there is no such run, -1 with err. */
int recall_run(const char *path, const char *wanted, struct records *records, struct error *err);

#endif
