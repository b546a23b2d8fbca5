/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LINK_ERRORS_H
#define MUSTER_LINK_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/catalog/catalog.h"
#include "lib/fabric/fabric.h"
#include "lib/node/counters.h"

/* The errors that a rail's NIC and its PCIe link count while they are used. Travels as it is. */

enum { ERROR_KINDS = 28 };

struct errors {
    double counts[ERROR_KINDS]; /* more than before */
};

/* What the rail has counted so far; *can_count: it has counters of all that it carries. */
void errors_read(const struct rail *rail, struct counters *counters, bool *can_count);

/* What the rail's interface has counted of bytes that arrived; -1: it does not count. */
double errors_arrived_bytes(const struct rail *rail);

/* What came between two readings. A counter that went backwards was reset: 0. */
void errors_between(const struct counters *before, const struct counters *after,
                    struct errors *errors);

struct error_kind {
    const char *name; /* as a metric: "crc_errors" */
    size_t offset;    /* in struct counters */
    /* What is wrong where it counts up. FAULT_NONE: nothing of this node, as of congestion on the
     * way or of damage before its own link; it is recorded. */
    enum fault_code fault;
    const char *way;     /* " in what it received", " in what it sent"; NULL: both, or not known */
    const char *meaning; /* and what to do; NULL: the name says it */
};
extern const struct error_kind error_kinds[ERROR_KINDS];

#endif
