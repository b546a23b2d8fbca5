/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NONTEMPORAL_H
#define MUSTER_NONTEMPORAL_H

#include "collectives/reduce/reduce.h"

/* Results that go to memory past the caches, with non-temporal stores: of many bytes, none of which
 * is read again soon. A line is then not read before it is written, and other lines stay in the
 * caches; who reads it on another processor finds it in memory instead of in this one's cache. Seen
 * by others in order with what is written later. Where a processor has no such stores, they are
 * ordinary ones. */

/* As memcpy(): the same place is fine, any other overlap is not. */
void nontemporal_copy(void *out, const void *in, size_t bytes);

/* As reduce_pair(). */
void nontemporal_reduce_pair(enum element_type type, enum reduce_op op, const void *left,
                             const void *right, void *out, size_t count);

/* The copies, as struct reduce_path: portable, then those for more and more of a processor's
 * instructions; NULL: there is none of this number, or this machine cannot run it. */
typedef void nontemporal_copy_fn(void *out, const void *in, size_t bytes);
nontemporal_copy_fn *nontemporal_path_at(unsigned number);

#endif
