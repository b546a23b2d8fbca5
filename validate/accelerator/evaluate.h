/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_EVALUATE_H
#define MUSTER_ACCELERATOR_EVALUATE_H

#include "lib/catalog/catalog.h"
#include "validate/accelerator/accelerator.h"

/* What is wrong by an accelerator library's report. Pure but for is_foreign(). */

struct accelerator_finding {
    enum fault_code code; /* the verdict is the catalogue's for it */
    char part[24];        /* "gpu3": the GPU's place in the inventory, else in the library; "" */
    const char *metric;   /* accelerator_value_name(), or NULL; then value and unit are nothing */
    double value, limit;  /* limit NAN: none */
    const char *unit;
    char message[320];
};

typedef void accelerator_finding_fn(const struct accelerator_finding *finding, void *context);

struct accelerator_view {
    const struct inventory *inventory;
    /* Of each GPU of the inventory whether this process can open its device file: in a job a
     * library lists only those. NULL: all. */
    const bool *can_open;
    /* Whether a process belongs to no job; its name goes into name. NULL: none does. */
    bool (*is_foreign)(pid_t pid, char name[64]);
    double up_s; /* since the node's boot; 0: not known, and long ago */
};

/* Reports each finding to found. Returns how many there were.
 *
 * Sources of the limits: 0xE8 of the clock event reasons: Azure's healthagent; temperature and
 * rows: the library, else struct accelerator_traits; GPU recovery action, SRAM threshold and row
 * remapping: NVIDIA's GPU debug and memory error management guides. Links are held against the
 * other devices of the model in the node: not all links are wired everywhere. A reading that the
 * library does not tell is never a fault. */
size_t accelerator_evaluate(const struct accelerator_report *report,
                            const struct accelerator_view *view, accelerator_finding_fn *found,
                            void *context);

/* The place in the inventory of each of the report's devices, or -1. Partitions of a GPU have one
 * place. */
void accelerator_places(const struct accelerator_report *report, const struct inventory *inventory,
                        long places[ACCELERATOR_MAX]);

/* How many values of the report's devices are not told though the device could: the library is too
 * old for them, lacks permission or failed. */
size_t accelerator_untold(const struct accelerator_report *report);

#endif
