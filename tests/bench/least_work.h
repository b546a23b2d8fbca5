/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BENCH_LEAST_WORK_H
#define MUSTER_BENCH_LEAST_WORK_H

#include <stddef.h>

#include "collectives/collective.h"

/* Does the least memory traffic of one rank's share of a collective over shared memory, without
 * waits and without a second copy: reads each input number once, and writes each sum or copy once,
 * past the caches. bytes: all blocks together; in and out have room for it, are aligned to 64,
 * contain fp32, and should not be in a cache. */
void least_work(enum collective_kind kind, int ranks, const void *in, void *out, size_t bytes);

#endif
