/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LINK_ERRORS_H
#define MUSTER_LINK_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/catalog/catalog.h"
#include "lib/fabric/fabric.h"
#include "lib/node/counters.h"

/* The errors that the NIC of a rail and its PCIe link count while they are used. Sent as a raw
 * struct. */

enum { ERROR_KINDS = 28 };

struct errors {
    double counts[ERROR_KINDS]; /* increase of each counter */
};

/* Reads what the rail has counted so far. *can_count: its counters include all that it carries. */
void errors_read(const struct rail *rail, struct counters *counters, bool *can_count);

/* Returns how many bytes have arrived, by the counters of the rail; -1: it has none. */
double errors_arrived_bytes(const struct rail *rail);

/* Sets errors to the increase between two readings. A counter that went backwards was reset: 0. */
void errors_between(const struct counters *before, const struct counters *after,
                    struct errors *errors);

struct error_kind {
    const char *name; /* as a metric: "crc_errors" */
    size_t offset;    /* in struct counters */
    /* The fault if the counter increases. FAULT_NONE: not a fault of this node, such as congestion
     * on the path or damage before its own link; it is only recorded. */
    enum fault_code fault;
    const char *way;     /* " in what it received", " in what it sent"; NULL: both, or not known */
    const char *meaning; /* and what to do; NULL: the name says it */
};
extern const struct error_kind error_kinds[ERROR_KINDS];

#endif
