/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_EVALUATE_H
#define MUSTER_ACCELERATOR_EVALUATE_H

#include "lib/base/record.h"
#include "validate/accelerator/accelerator.h"

/* Finds faults in an accelerator library's report. Pure except for is_foreign(). */

struct accelerator_view {
    const struct inventory *inventory;
    /* [GPU of the inventory]: whether this process can open its device file: in a job a library
     * lists only those. NULL: all. */
    const bool *can_open;
    /* Whether a process belongs to no job; sets name to its name. NULL: no process is foreign. */
    bool (*is_foreign)(pid_t pid, char name[64]);
    double up_s; /* since the node's boot; 0: unknown, taken as long ago */
};

/* Reports a record for each finding: its part is "gpu3", the GPU's index in the inventory, else in
 * the library, or ""; its metric is accelerator_value_name(). Returns their number.
 *
 * Sources of the limits: 0xE8 of the clock event reasons: Azure's healthagent; temperature and
 * rows: the library, else struct accelerator_traits; GPU recovery action, SRAM threshold and row
 * remapping: NVIDIA's GPU debug and memory error management guides. Links are compared with the
 * other devices of the model in the node: not all links are wired everywhere. A value that the
 * library does not return is never a fault. */
size_t accelerator_evaluate(const struct accelerator_report *report,
                            const struct accelerator_view *view, const struct record_sink *sink);

/* Sets indexes[device of the report] to its index in the inventory, or -1. Partitions of a GPU
 * share one index. can_open: as in struct accelerator_view. */
void accelerator_indexes(const struct accelerator_report *report, const struct inventory *inventory,
                         const bool *can_open, long indexes[ACCELERATOR_MAX]);

/* Returns how many values of the report's devices are missing although the device supports them:
 * the library is too old, lacks permission or failed. */
size_t accelerator_count_missing(const struct accelerator_report *report);

#endif
