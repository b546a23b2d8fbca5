/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HOSTLIST_H
#define MUSTER_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/name_index.h"

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

/* For many questions: the names stay the list's, which has to outlive the index. Returns 0, or -1
 * when memory is out, with an empty index. Release with name_index_clear(). */
int hostlist_index(const struct hostlist *list, struct name_index *index);

/* Appends a copy of name. Returns 0, or -1 when memory is out. */
int hostlist_append(struct hostlist *list, const char *name);
/* The same of each of them. */
int hostlist_append_all(struct hostlist *list, const char *const *names, size_t count);
/* The same of those of more that were not in the list before. */
int hostlist_unite(struct hostlist *list, const struct hostlist *more);

/* The short form of the list for people and for muster's own files and options: "n[1-4,7]",
 * "n[1-2].example.org,login"; numbers between one prefix and one suffix folded into ranges and
 * sorted, doubles dropped. The number is the last of the host's label; of a name without a dot, or
 * with nothing but digits after its last one (eth1.100, 10.0.0.1), the last in the name. malloc'd;
 * NULL when memory is out. */
char *hostlist_fold(const struct hostlist *list);

/* The same within a message: of names without end only the first, "..." behind them. In an
 * expression: hostlist_text(&names).text. */
struct hostlist_text {
    char text[3072];
};
struct hostlist_text hostlist_text(const struct hostlist *list);

/* The same for Slurm's commands, API and files: only numbers at a name's end are folded, as 22.05
 * refuses a list with text behind a bracket ("n[1-2].example.org"). 23.11 and later take both. */
char *hostlist_fold_for_slurm(const struct hostlist *list);

#endif
