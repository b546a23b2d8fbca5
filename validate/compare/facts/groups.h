/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_GROUPS_H
#define MUSTER_JUDGE_GROUPS_H

#include "lib/base/hostlist.h"
#include "validate/compare/facts/facts.h"

/* Which nodes are compared with which: those of the same hardware, and of the same class where the
 * caller has any. The hardware is the machine's product, its processor and its GPUs' model, as
 * the nodes tell it (facts "product", "cpu.model", "model" of gpu0 and on). A node without any GPU
 * is not taken for another kind of node: it goes with the largest group of its product, processor
 * and class, where the lack is seen. Pure. */

/* What the controller knows of a node, such as its Gres and features, in one text. */
struct node_class {
    const char *node, *text;
};

struct group {
    char *label; /* "PowerEdge XE9680, Xeon Platinum 8480+, H100 80GB HBM3"; ", CLASS" where that
                    tells groups apart */
    unsigned *nodes; /* indices of the table's nodes, ascending */
    size_t count;
    size_t class; /* groups of one number are of one class */
};

struct groups {
    struct group *groups; /* greatest first */
    size_t count;
    unsigned *of_node; /* table->node_count indices of groups */
};

/* classes may be NULL: all nodes are of one. A node that is not among them is of the class "".
 * Returns 0, or -1 when memory is out. Release with groups_clear() in either case. */
int groups_make(const struct fact_table *table, const struct node_class *classes,
                size_t class_count, struct groups *groups);
void groups_clear(struct groups *groups);

/* The names of the group's nodes as "n[1-4]", malloc'd; NULL when memory is out. */
char *group_fold(const struct fact_table *table, const struct group *group);

#endif
