/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PUT_H
#define MUSTER_PUT_H

#include "collectives/reduce/reduce.h"

/* Writes to memory that other processors have read before, and will read. Where their caches give
 * lines up quickly it is written as any other memory, and read from this processor's cache; where
 * they do not, it goes past the caches (nontemporal.h). Which of the two shows while the first 4
 * KiB are written; once it was slow, that holds for a while. What is less than 8 KiB is
 * always written as other memory. */

struct put_pace {
    size_t slow_left; /* bytes that go past the caches without a look; 0 at first */
};

/* As memcpy(). */
void put_copy(struct put_pace *pace, void *out, const void *in, size_t bytes);

/* As reduce_pair(). */
void put_reduce(struct put_pace *pace, enum element_type type, enum reduce_op op, const void *left,
                const void *right, void *out, size_t count);

#endif
