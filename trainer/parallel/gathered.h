/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GATHERED_H
#define MUSTER_GATHERED_H

#include <stdbool.h>

#include "trainer/parallel/strategy.h"

/* Gathers parameters that are sharded over the ranks of a communicator, unit by unit, ahead of
 * their use.
 *
 * The order of uses is known (store.h), so the next gathers are begun early; but a window bounds
 * how many units are gathered, or being gathered, and not yet released. It slides: each release
 * begins the next gather (Zhao et al.: PyTorch FSDP, VLDB 2023, rate limiter). With gather times g
 * and compute times c a walk takes the sum of c + g for a window of 1, about that of max(c, g) for
 * 2 and more. */

struct gathered;

struct gathered_options {
    struct comm *comm;
    int units;
    int window;            /* 0: no limit */
    const real *parts;     /* this rank's part of each unit */
    const size_t *part_at; /* [units + 1] where unit u's part begins */
};

/* The arrays of options must live as long. Adds the memory that it takes to bytes->working, and
 * keeps bytes->gathered_peak up to date. Returns 0, or -1 with err. */
int gathered_create(const struct gathered_options *options, struct shard_bytes *bytes,
                    struct gathered **gathered, struct error *err);
void gathered_destroy(struct gathered *gathered);

/* Begins a walk: forward, and backward if it trains. */
void gathered_begin(struct gathered *gathered, bool trains);

/* Returns the whole unit, valid until it is released. It must be the next one of the walk. */
const real *gathered_take(struct gathered *gathered, int unit);
void gathered_release(struct gathered *gathered, int unit);

#endif
