/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ARRANGE_H
#define MUSTER_ARRANGE_H

#include "trainer/compute/compute.h"
#include "trainer/parallel/pipeline/forecast.h"
#include "trainer/parallel/pipeline/speed.h"
#include "trainer/parallel/pipeline/step_time.h"
#include "trainer/comm/comm.h"

/* From what was asked for to who computes what: islands become stages, layers are split by measured
 * speed, and the time of a step is predicted. */

enum { ISLAND_BYTES = 64 };

struct arrange_options {
    const struct shape *shape;
    const struct compute *compute;
    int batch, stages, microbatches; /* 0: chosen */
    bool is_auto;                    /* stages by the ranks' islands */
    const char *split;               /* "even", "measured" or numbers; NULL: measured if is_auto */
};

struct arrangement {
    struct placement placement;
    int microbatches;
    int islands;
    char (*names)[ISLAND_BYTES]; /* of each stage's island; "" where nobody said one */
    bool is_measured;            /* only then the rest */
    int layer_rows;              /* sequences of a microbatch, the most that a rank has */
    double *layer_s;             /* of each stage: a layer, forward and backward, of a microbatch,
                                    on its slowest rank */
    double head_s;               /* of the last stage besides */
    double *parameter_s;         /* of each stage: what a step takes for each of its parameters
                                    besides, on its slowest rank (speed_of_update()) */
    struct link_speed inside, across; /* slowest: within a stage, between stages; each way */
    struct link_speed around;         /* ... from each rank to the next */
    double step_s;                    /* predicted: Holmes' sum of all + (m - 1) x the slowest, the
                                         gradients of the slowest stage and of the ends, the update */
    double ddp_s;                     /* ... if all ranks held all layers instead */
};

/* island: this rank's ("": not known). Collective. Returns 0, or -1 with err. To be cleared in
 * either case. */
int arrange(const struct arrange_options *options, struct comm *comm, const char *island,
            struct arrangement *arrangement, struct error *err);
void arrangement_clear(struct arrangement *arrangement);

/* The ranks in the order of their islands (the islands in that of their first ranks, ranks in
 * theirs) in `order`; each rank's island number in `numbers`, from 0. Returns the islands. names:
 * of each rank. Pure. */
int arrange_islands(char (*names)[ISLAND_BYTES], int ranks, int *order, int *numbers);

/* Ranks of a stage, the same for all: so many that each island is a whole number of stages, as many
 * as can be. Pure. */
int arrange_replicas(const int *numbers, int ranks, int islands);

#endif
