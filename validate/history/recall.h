/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RECALL_H
#define MUSTER_RECALL_H

#include "validate/history/history.h"

/* Reads a run of the history as records: its verdicts other than pass, the conclusion of muster
 * certify about each node, and for a small and recent run the figures of pairs. wanted: as for
 * history_run_find(). Returns 0; 1 with err if there is no such run; or -1 with err. */
int recall_run(const char *path, const char *wanted, struct records *records, struct error *err);

#endif
