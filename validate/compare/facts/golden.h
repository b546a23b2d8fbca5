/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_GOLDEN_H
#define MUSTER_JUDGE_GOLDEN_H

#include <stdio.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "validate/compare/facts/facts.h"
#include "validate/compare/facts/groups.h"

/* What nodes should be, as a site has written it down: groups of nodes, and a fact a line.
 *
 *   # comment
 *   group n[1-64]
 *   kernel = 6.1.0-13-amd64
 *   eth1 mtu = 9000
 *
 * The value reaches to the end of its line. A node is in one group at most. Pure but for the stream
 * that is written to. */

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

/* Reads a text. name is the file's, for messages. Returns 0, or -1 with err "FILE:LINE: found what,
 * expected what" and golden empty. */
int golden_parse(const char *text, const char *name, struct golden *golden, struct error *err);

void golden_clear(struct golden *golden);

/* The group's fact of that name and part; NULL: it has none. */
const struct golden_fact *golden_fact(const struct golden_group *group, const char *name,
                                      const char *part);

/* Writes what the majority of each group says, as a text that golden_parse() takes; a fact without
 * a majority is a comment. comment: the first line. Returns 0, or -1 with errno. */
int golden_write(FILE *stream, const char *comment, const struct fact_table *table,
                 const struct groups *groups);

#endif
