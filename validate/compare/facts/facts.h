/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_FACTS_H
#define MUSTER_JUDGE_FACTS_H

#include <stddef.h>

/* The facts that nodes report about themselves, sorted once: names become numbers, so that millions
 * of facts are compared in seconds. Pure. */

struct fact {
    const char *node;
    const char *name;  /* "mtu", "kernel", "gpu.count" */
    const char *part;  /* "eth1" or "" */
    const char *value; /* as text */
};

struct fact_key {
    const char *name, *part;
};

struct fact_cell {
    unsigned node, key, value; /* indices */
};

/* All strings are borrowed from the facts. */
struct fact_table {
    const char **nodes; /* each once, in the order of strcmp() */
    size_t node_count;
    struct fact_key *keys; /* each once, by name, then part */
    size_t key_count;
    const char **values; /* each text once, in no order */
    size_t value_count;
    struct fact_cell *cells; /* by key, then node; of several facts of one node and key the last */
    size_t cell_count;
    size_t *begins; /* [key_count + 1]: index in cells where the key begins */
};

/* Makes the table in O(n): 16,384 nodes of 200 facts take about two seconds. Returns 0, or -1 if
 * memory is out. Release with fact_table_clear() in either case. */
int fact_table_make(const struct fact *facts, size_t count, struct fact_table *table);
void fact_table_clear(struct fact_table *table);

/* Returns the index of a node, or -1. */
long fact_table_node(const struct fact_table *table, const char *name);

/* Returns the index of a key, or -1. */
long fact_table_key(const struct fact_table *table, const char *name, const char *part);

/* Returns the node's value of the key, or NULL. */
const char *fact_table_value(const struct fact_table *table, size_t key, size_t node);

#endif
