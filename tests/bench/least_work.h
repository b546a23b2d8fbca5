/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BENCH_LEAST_WORK_H
#define MUSTER_BENCH_LEAST_WORK_H

#include <stddef.h>

#include "collectives/collective.h"

/* What one rank's share of a collective over shared memory asks of memory at the very least, if
 * nobody waits and nothing is copied twice: each number that comes in read once, each sum or copy
 * written once, past the caches, in buffers of its own, which no cache holds. bytes: of all blocks
 * together, which in and out have room for, aligned to 64; fp32. */
void least_work(enum collective_kind kind, int ranks, const void *in, void *out, size_t bytes);

#endif
