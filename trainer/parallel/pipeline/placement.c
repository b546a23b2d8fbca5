/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/pipeline/placement.h"

#include <stdlib.h>

#include "lib/base/text.h"
#include "trainer/parallel/pipeline/split.h"

int placement_create(int ranks, int stages, int layers, struct placement *placement,
                     struct error *err)
{
    if (ranks % stages)
        return error_set(err, "--stages: %d rank%s cannot be divided evenly among %d stages", ranks,
                         text_plural(ranks), stages);
    if (layers < stages)
        return error_set(err, "--stages: %d layers cannot be split into %d stages", layers, stages);
    *placement = (struct placement){.stages = stages,
                                    .replicas = ranks / stages,
                                    .layers = calloc((size_t)stages, sizeof(int)),
                                    .order = calloc((size_t)ranks, sizeof(int))};
    if (!placement->layers || !placement->order) {
        placement_clear(placement);
        return error_set(err, "cannot allocate the placement of %d ranks: %m", ranks);
    }
    split_even(layers, stages, placement->layers);
    for (int rank = 0; rank < ranks; rank++)
        placement->order[rank] = rank;
    return 0;
}

void placement_clear(struct placement *placement)
{
    free(placement->layers);
    free(placement->order);
    *placement = (struct placement){.layers = NULL};
}

int placement_rank(const struct placement *placement, int stage, int replica)
{
    return placement->order[stage * placement->replicas + replica];
}

void placement_find(const struct placement *placement, int rank, int *stage, int *replica)
{
    int at = 0;

    while (placement->order[at] != rank)
        at++;
    *stage = at / placement->replicas;
    *replica = at % placement->replicas;
}

struct stage placement_stage(const struct placement *placement, const struct shape *shape,
                             int number)
{
    struct stage stage = {shape, number, placement->stages, 0, placement->layers[number]};

    for (int before = 0; before < number; before++)
        stage.first += placement->layers[before];
    return stage;
}

int placement_share(int count, int number, int parts, int *first)
{
    *first = (int)((long)count * number / parts);
    return (int)((long)count * (number + 1) / parts) - *first;
}

int placement_microbatches(const struct placement *placement, int batch)
{
    int most = 4 * placement->stages,
        sequences = (batch + placement->replicas - 1) / placement->replicas;

    if (placement->stages == 1)
        return 1;
    return sequences < most ? sequences : most;
}
