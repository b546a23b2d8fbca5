/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_GOLDEN_H
#define MUSTER_JUDGE_GOLDEN_H

#include <stdio.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "validate/compare/facts/facts.h"
#include "validate/compare/facts/groups.h"

/* The expected facts of nodes, as written by the site: groups of nodes, and one fact per line.
 *
 *   # comment
 *   group n[1-64]
 *   kernel = 6.1.0-13-amd64
 *   eth1 mtu = 9000
 *
 * The value extends to the end of its line. A node is in at most one group. Pure, except for the
 * stream that is written. */

struct golden_fact {
    char *name, *part, *value;
    unsigned line;
};

struct golden_group {
    struct hostlist nodes;
    struct golden_fact *facts; /* by name, then part */
    size_t count;
    unsigned line;
};

struct golden {
    char file[64]; /* the last part of its path */
    struct golden_group *groups;
    size_t count;
};

/* Parses a text. name: the file's, for messages. Returns 0, or -1 with err "FILE:LINE: found what,
 * expected what" and golden empty. */
int golden_parse(const char *text, const char *name, struct golden *golden, struct error *err);

void golden_clear(struct golden *golden);

/* Returns the group's fact of the name and part, or NULL. */
const struct golden_fact *golden_fact(const struct golden_group *group, const char *name,
                                      const char *part);

/* Writes the facts of the majority of each group as a text for golden_parse(); a fact without a
 * majority becomes a comment. comment: the first line. Returns 0, or -1 with errno. */
int golden_write(FILE *stream, const char *comment, const struct fact_table *table,
                 const struct groups *groups);

#endif
