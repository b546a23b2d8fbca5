/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/strategy.h"

#include <stdlib.h>
#include <string.h>

#include "trainer/pages.h"

/* Vectors of these arrays should not straddle cache lines. */
enum { ALIGNED = 64 };

const struct strategy *const strategies[STRATEGIES] = {
    &strategy_ddp, &strategy_zero1, &strategy_zero2, &strategy_zero3, &strategy_replicas};

const struct strategy *strategy_find(const char *name)
{
    for (int i = 0; i < STRATEGIES; i++)
        if (strcmp(strategies[i]->name, name) == 0)
            return strategies[i];
    return NULL;
}

int shard_alloc_pieces(struct shard *shard, size_t count, struct error *err)
{
    shard->saves = calloc(2 * count, sizeof *shard->saves);
    if (!shard->saves)
        return error_set(err, "%s: %m", shard->strategy->name);
    shard->loads = shard->saves + count;
    shard->piece_count = count;
    return 0;
}

real *shard_alloc(size_t count, size_t *bytes, struct error *err)
{
    size_t size_bytes = (count * sizeof(real) + ALIGNED - 1) / ALIGNED * ALIGNED;
    real *memory = aligned_alloc(ALIGNED, size_bytes > 0 ? size_bytes : ALIGNED);

    if (!memory) {
        error_set(err, "cannot allocate %.1f GB: %m", (double)count * sizeof(real) / 1e9);
        return NULL;
    }
    pages_prefer_large(memory, size_bytes);
    memset(memory, 0, size_bytes);
    *bytes += count * sizeof *memory;
    return memory;
}
