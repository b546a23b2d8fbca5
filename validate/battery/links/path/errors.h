/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LINK_ERRORS_H
#define MUSTER_LINK_ERRORS_H

#include <stdbool.h>

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

/* The name of a kind as a metric, "crc_errors". */
const char *error_name(int kind);
/* What it means and what to do, "" where the name says it. */
const char *error_meaning(int kind);
/* Which way: " in what it received", " in what it sent"; "": of both, or it is not known. */
const char *error_way(int kind);
/* What is wrong by one that counts up. FAULT_NONE: nothing of this node, as of congestion on the
 * way or of damage before its own link; it is recorded. */
enum fault_code error_fault(int kind);

#endif
