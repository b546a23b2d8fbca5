/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_GROUPS_H
#define MUSTER_JUDGE_GROUPS_H

#include "lib/base/hostlist.h"
#include "validate/compare/facts/facts.h"

/* Groups of nodes that are compared with each other: those with the same hardware, and the same
 * class if the caller has classes. The hardware is the machine's product, its processor and its
 * GPUs' model, from the facts "product", "cpu.model", and "model" of gpu0 and on. A node without
 * any GPU is not another kind of node: it belongs to the largest group of its product, processor
 * and class, so that the missing GPUs are found. Pure. */

/* The controller's data of a node, such as its Gres and features, in one text. */
struct node_class {
    const char *node, *text;
};

struct group {
    char *label; /* "PowerEdge XE9680, Xeon Platinum 8480+, H100 80GB HBM3"; with ", CLASS" if only
                    the class distinguishes groups */
    unsigned *nodes; /* indices of the table's nodes, ascending */
    size_t count;
    size_t class; /* number of the class; equal for groups of one class */
};

struct groups {
    struct group *groups; /* largest first */
    size_t count;
    unsigned *of_node; /* [table->node_count]: index of its group */
};

/* Makes the groups. classes NULL: all nodes are of one class. A node that is not in classes has the
 * class "". Returns 0, or -1 if memory is out. Release with groups_clear() in either case. */
int groups_make(const struct fact_table *table, const struct node_class *classes,
                size_t class_count, struct groups *groups);
void groups_clear(struct groups *groups);

/* Returns the names of the group's nodes as "n[1-4]", malloc'd; NULL if memory is out. */
char *group_fold(const struct fact_table *table, const struct group *group);

#endif
