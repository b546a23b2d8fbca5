/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_MAJORITY_H
#define MUSTER_JUDGE_MAJORITY_H

#include <stddef.h>

#include "lib/base/record.h"
#include "validate/compare/facts/facts.h"
#include "validate/compare/facts/golden.h"
#include "validate/compare/facts/groups.h"

/* Compares the facts of all nodes by majority, without a golden file: a node deviates if its fact
 * differs from that of more than half of the nodes of its group. Without such a majority no node
 * deviates, and this is reported. Pure. */

struct deviation {
    const char *node; /* NULL: no certain node, as no value has a majority */
    const char *name, *part;
    const char *value;      /* NULL: the node does not have the fact; without a majority the most
                               frequent value */
    const char *expected;   /* value of the majority or the golden file; NULL: no majority */
    const char *other;      /* without a majority: the next value; NULL: the fact is missing */
    size_t agreeing, nodes; /* number of nodes with `expected` (if NULL: `value`), and of all */
    size_t others;          /* number of nodes with `other` */
    const char *group;      /* label; NULL: all nodes are in one group */
    unsigned golden_line;   /* of the golden file; 0: `expected` is of the majority */
    enum verdict verdict;   /* by fact_severity(name); WARN without a majority */
    enum fault_code code;   /* fact_code(name) */
};

/* Returns the severity of a difference of the fact: FAIL if it breaks or slows down jobs, else
 * WARN. *reason (may be NULL): why, one line. The catalog has all facts; a fact that is not in it
 * is a WARN. */
enum verdict fact_severity(const char *name, const char **reason);

/* Returns the fault code of a different value of the fact. */
enum fault_code fact_code(const char *name);
/* Compares the nodes of each group. *deviations is malloc'd, sorted by name, part, node; the caller
 * frees it. Its strings belong to the facts, the groups and golden. golden (may be NULL): a fact of
 * a node that it has is compared with it instead of with the majority. A group of one or two nodes
 * has no majority: a difference between two nodes is reported without a node. If there is a group
 * of the same class with at least three nodes and more than half of the class, the nodes of such a
 * small group deviate by their hardware. A link, a speed or a number of GPUs above that of the
 * majority is a WARN with FAULT_CONFIG_DIFFERS; so is any difference of a port without a link.
 * Returns the number of deviations, or -1 if memory is out. */
int majority_compare(const struct fact_table *table, const struct groups *groups,
                     const struct golden *golden, struct deviation **deviations);

/* Cuts a value to at most `most` bytes, to be shown beside another value: a long one starts with
 * the first word that differs. "..." stands for what is left out. text NULL: "missing". excerpt:
 * room for most + 1. */
void deviation_excerpt(const char *text, const char *beside, size_t most, char *excerpt);

/* Formats "eth1 mtu is 1500, 9000 on 3 of 4 nodes", one line, with excerpts of long values. */
void deviation_message(const struct deviation *deviation, char *text, size_t size);

#endif
