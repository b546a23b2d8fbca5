/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_MAJORITY_H
#define MUSTER_JUDGE_MAJORITY_H

#include <stddef.h>

#include "lib/base/record.h"
#include "validate/compare/facts/facts.h"
#include "validate/compare/facts/golden.h"
#include "validate/compare/facts/groups.h"

/* Facts of all nodes compared by majority, no golden file: a node whose fact differs from what more
 * than half of the nodes of its group say is the odd one out. Without such a majority nobody is,
 * and that is said. Pure. */

struct deviation {
    const char *node; /* NULL: nobody in particular, no value has a majority */
    const char *name, *part;
    const char *value;      /* NULL: this node does not have the fact; without a majority one of the
                               values that most have */
    const char *expected;   /* what the majority or the golden file says; NULL: no majority */
    const char *other;      /* without a majority: the next value; NULL: not to have the fact */
    size_t agreeing, nodes; /* how many nodes say `expected` (without: `value`), of how many */
    size_t others;          /* how many say `other` */
    const char *group;      /* label; NULL: all nodes are of one group */
    unsigned golden_line;   /* of the golden file; 0: a majority expects it */
    enum verdict verdict;   /* by fact_severity(name); WARN without a majority */
    enum fault_code code;   /* fact_code(name) */
};

/* What a difference of that fact does to jobs: FAIL for what breaks or slows them, WARN for the
 * rest; *reason (may be NULL) is why, one line. The catalogue has all facts; a fact that is not in
 * it is a WARN. */
enum verdict fact_severity(const char *name, const char **reason);

/* What it is that a node has another value of that fact. */
enum fault_code fact_code(const char *name);
/* Compares each group's nodes. *deviations is malloc'd, in the order of name, part, node; the
 * caller frees; their strings belong to the facts, the groups and golden. golden (may be NULL):
 * what it says of a node and fact is held against that instead. A group of one or two nodes has no
 * majority: when its two differ that is told without a name. When such a group stands beside one of
 * the same class that has three nodes and more than half of the class, its nodes are odd by their
 * hardware. A link, a speed or a number of GPUs above the majority's is a WARN, of
 * FAULT_CONFIG_DIFFERS, and so is what differs of a port without a link. Returns the number, or -1
 * when memory is out. */
int majority_compare(const struct fact_table *table, const struct groups *groups,
                     const struct golden *golden, struct deviation **deviations);

/* What is worth showing of a value beside another one, in no more than `most` bytes: of a long one
 * what begins with the word in which they first differ. "..." stands for what is left out. text
 * NULL: "missing". excerpt: room for most + 1. */
void deviation_excerpt(const char *text, const char *beside, size_t most, char *excerpt);

/* "eth1 mtu is 1500, 9000 on 3 of 4 nodes", one line; of long values their excerpts. */
void deviation_message(const struct deviation *deviation, char *text, size_t size);

#endif
