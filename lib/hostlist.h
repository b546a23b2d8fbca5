/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HOSTLIST_H
#define MUSTER_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/error.h"

/* Slurm's notation for names: "n[1-3,07],login". Also used for interfaces: "eth[1-2]". */
struct hostlist {
    char **names; /* count strings, in the order of the text, doubles kept */
    size_t count;
};

enum { HOSTLIST_MAX = 65536 }; /* more names than this in one list is an error */

/* Expands text. list is overwritten; the caller releases it with hostlist_clear(). An empty text
 * is an empty list. Returns 0, or -1 with err (unbalanced bracket, empty or reversed range, over
 * HOSTLIST_MAX names, no memory) and an empty list. */
int hostlist_expand(const char *text, struct hostlist *list, struct error *err);
void hostlist_clear(struct hostlist *list);

bool hostlist_contains(const struct hostlist *list, const char *name);

/* Appends a copy of name. Returns 0, or -1 when memory is out. */
int hostlist_append(struct hostlist *list, const char *name);

/* The short form of the list, "n[1-4,7]", numbers of one prefix and width folded into ranges and
 * sorted, doubles dropped. malloc'd; NULL when memory is out. */
char *hostlist_fold(const struct hostlist *list);

#endif
