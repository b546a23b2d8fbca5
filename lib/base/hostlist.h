/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HOSTLIST_H
#define MUSTER_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/name_index.h"

/* Slurm's notation for names: "n[1-3,07],login". Also used for interfaces: "eth[1-2]". */
struct hostlist {
    char **names; /* count strings in the order of the text, with duplicates */
    size_t count;
};

enum { HOSTLIST_MAX = 65536 }; /* more names than this in one list is an error */

/* Expands text and overwrites list, which the caller releases with hostlist_clear(). An empty text
 * is an empty list. Returns 0, or -1 with err (unbalanced bracket, empty or reversed range, more
 * than HOSTLIST_MAX names, no memory) and an empty list. */
int hostlist_expand(const char *text, struct hostlist *list, struct error *err);
/* The same without duplicates, sorted as hostlist_fold() does. */
int hostlist_expand_once(const char *text, struct hostlist *list, struct error *err);
void hostlist_clear(struct hostlist *list);

bool hostlist_contains(const struct hostlist *list, const char *name);

/* Builds an index, for many lookups. It borrows the names of list, which must outlive it. Returns
 * 0, or -1 with an empty index if memory is out. Release it with name_index_clear(). */
int hostlist_index(const struct hostlist *list, struct name_index *index);

/* Appends a copy of name. Returns 0, or -1 if memory is out. */
int hostlist_append(struct hostlist *list, const char *name);
/* Appends copies of all names. Returns 0, or -1 if memory is out. */
int hostlist_append_all(struct hostlist *list, const char *const *names, size_t count);
/* Splits list by other: appends copies of the names that other contains to inside, of the rest to
 * outside, both in the order of list. inside or outside may be NULL. Returns 0, or -1 if memory is
 * out. */
int hostlist_split(const struct hostlist *list, const struct hostlist *other,
                   struct hostlist *inside, struct hostlist *outside);
/* Appends copies of the names of more that list does not contain before the call. Returns 0, or -1
 * if memory is out. */
int hostlist_unite(struct hostlist *list, const struct hostlist *more);

/* Returns the short form of the list for people and for muster's own files and options: "n[1-4,7]",
 * "n[1-2].example.org,login". Names with the same prefix and suffix are sorted by number and folded
 * into ranges; duplicates are dropped. The number is the last one of the host's label; for a name
 * without a dot, or with only digits after its last dot (eth1.100, 10.0.0.1), the last one of the
 * name. malloc'd; NULL if memory is out. */
char *hostlist_fold(const struct hostlist *list);

/* Returns the short form for a message; a long text ends with "...". Use it in an expression:
 * hostlist_text(&names).text. */
struct hostlist_text {
    char text[3072];
};
struct hostlist_text hostlist_text(const struct hostlist *list);

/* As hostlist_fold(), for Slurm's commands, API and files: folds only numbers at the end of a name,
 * as Slurm 22.05 refuses text after a bracket ("n[1-2].example.org"). 23.11 and later accept it. */
char *hostlist_fold_for_slurm(const struct hostlist *list);

#endif
