/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLACEMENT_H
#define MUSTER_PLACEMENT_H

#include "lib/base/error.h"
#include "trainer/model/stage.h"

/* Which rank computes what: the layers in stages, each stage on as many ranks (its island), which
 * share the sequences of a batch. Replica r of a stage talks to replica r of its neighbors. Pure.
 */
struct placement {
    int stages, replicas;
    int *layers; /* of each stage */
    int *order;  /* stages x replicas: the rank that is replica r of stage s at s x replicas + r */
};

/* Of that many ranks in their order, layers split evenly. Returns 0, or -1 with err: the ranks are
 * no multiple of the stages, or there are fewer layers than stages. To be cleared after 0. */
int placement_create(int ranks, int stages, int layers, struct placement *placement,
                     struct error *err);
void placement_clear(struct placement *placement);

int placement_rank(const struct placement *placement, int stage, int replica);
/* Where a rank is. */
void placement_find(const struct placement *placement, int rank, int *stage, int *replica);
/* What stage number `number` computes. */
struct stage placement_stage(const struct placement *placement, const struct shape *shape,
                             int number);

/* Part `number` of `parts` of a count, as even as it goes: from *first on, returns how many. */
int placement_share(int count, int number, int parts, int *first);

/* Microbatches where nobody said how many: one where there is one stage; else a sequence each, up
 * to four times the stages, so that no more than a fifth of the time a stage has nothing to do. */
int placement_microbatches(const struct placement *placement, int batch);

#endif
