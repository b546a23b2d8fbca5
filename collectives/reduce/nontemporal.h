/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NONTEMPORAL_H
#define MUSTER_NONTEMPORAL_H

#include "collectives/reduce/reduce.h"

/* Writes results to memory past the caches, with non-temporal stores: for many bytes that are not
 * read again soon. A line is then not read before it is written, and other lines stay in the
 * caches; another processor reads it from memory instead of from this one's cache. Other processors
 * see these stores before later ones. On processors without such stores they are ordinary ones. */

/* As memcpy(); out may be in, but must not overlap it otherwise. */
void nontemporal_copy(void *out, const void *in, size_t bytes);

/* As reduce_pair(). */
void nontemporal_reduce_pair(enum element_type type, enum reduce_op op, const void *left,
                             const void *right, void *out, size_t count);

/* Returns the copy function of a number, from portable up to the widest vectors; NULL if there is
 * none, or this machine cannot run it. For tests. */
typedef void nontemporal_copy_fn(void *out, const void *in, size_t bytes);
nontemporal_copy_fn *nontemporal_path_at(unsigned number);

#endif
