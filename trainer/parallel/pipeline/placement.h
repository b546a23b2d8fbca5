/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLACEMENT_H
#define MUSTER_PLACEMENT_H

#include "lib/base/error.h"
#include "trainer/model/stage.h"

/* Which rank computes what: layers form stages, each on the same number of ranks (its island),
 * which share the sequences of a batch. Replica r of a stage exchanges data with replica r of its
 * neighbors. Pure. */
struct placement {
    int stages, replicas;
    int *layers; /* of each stage */
    int *order;  /* stages x replicas: the rank that is replica r of stage s at s x replicas + r */
};

/* Places the ranks in their order, with layers split evenly. Returns 0, or -1 with err if the ranks
 * are no multiple of the stages, there are fewer layers than stages, or memory is out. The caller
 * clears the placement after 0. */
int placement_create(int ranks, int stages, int layers, struct placement *placement,
                     struct error *err);
void placement_clear(struct placement *placement);

int placement_rank(const struct placement *placement, int stage, int replica);
/* Finds a rank's stage and replica. */
void placement_find(const struct placement *placement, int rank, int *stage, int *replica);
/* Returns stage `number`. */
struct stage placement_stage(const struct placement *placement, const struct shape *shape,
                             int number);

/* Divides count into `parts` parts as evenly as possible. Returns the size of part `number`, and
 * sets *first to its beginning. */
int placement_share(int count, int number, int parts, int *first);

/* Returns the default number of microbatches: one for one stage; else one per sequence, up to four
 * times the stages, with which a stage is idle at most a fifth of the time. */
int placement_microbatches(const struct placement *placement, int batch);

#endif
