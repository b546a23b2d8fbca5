/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_MAJORITY_H
#define MUSTER_JUDGE_MAJORITY_H

#include <stddef.h>

#include "lib/base/record.h"

/* Facts of all nodes compared by majority, no golden file: a node whose fact differs from what more
 * than half of the nodes say is the odd one out. Without such a majority nobody is. */

struct fact {
    const char *node;
    const char *name;  /* "mtu", "kernel", "gpu.count" */
    const char *part;  /* "eth1" or "" */
    const char *value; /* as text */
};

struct oddity {
    const char *node, *name, *part; /* borrowed from the facts */
    const char *value;              /* NULL: this node does not have the fact */
    const char *majority;           /* NULL: no majority (verdict WARN, node of the first value) */
    size_t agreeing, nodes;         /* how many nodes say majority, of how many */
    enum verdict verdict;           /* by majority_severity(name) */
    char message[200];              /* "eth1 mtu is 1500, 9000 on 3 of 4 nodes" */
};

/* FAIL for what breaks jobs when it differs (mtu, speed, carrier, gpu.count, gres.count), WARN for
 * the rest. */
enum verdict majority_severity(const char *name);

/* *oddities is malloc'd, in the order of name, part, node; the caller frees. Returns their number
 * or -1 when memory is out. With fewer than three nodes there is no majority to be in. Fact lists
 * of thousands of nodes are fine: O(n log n). */
int majority_compare(const struct fact *facts, size_t fact_count, struct oddity **oddities);

#endif
