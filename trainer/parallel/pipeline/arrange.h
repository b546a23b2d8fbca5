/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ARRANGE_H
#define MUSTER_ARRANGE_H

#include "trainer/comm/comm.h"
#include "trainer/compute/compute.h"
#include "trainer/parallel/pipeline/forecast.h"
#include "trainer/parallel/pipeline/speed.h"
#include "trainer/parallel/pipeline/step_time.h"

/* Arranges a pipeline by the options: islands become stages, layers are split by measured speed,
 * and the time of a step is predicted. */

enum { ISLAND_BYTES = 64 };

struct arrange_options {
    const struct shape *shape;
    const struct compute *compute;
    int batch, stages, microbatches; /* 0: chosen */
    bool is_auto;                    /* stages follow the ranks' islands */
    const char *split;               /* "even", "measured" or numbers; NULL: measured if is_auto */
};

struct arrangement {
    struct placement placement;
    int microbatches;
    int islands;
    char (*names)[ISLAND_BYTES]; /* of each stage's island; "": not known */
    bool is_measured;            /* else the fields below are not set */
    int layer_rows;              /* sequences of the largest microbatch of a rank */
    double *layer_s;             /* [stages] of one layer, forward and backward, for a microbatch,
                                    on the stage's slowest rank */
    double head_s;               /* of the last stage besides its layers */
    double *parameter_s;         /* [stages] of a step for each parameter besides, on the stage's
                                    slowest rank (speed_of_update()) */
    struct link_speed inside, across; /* slowest: within a stage, between stages; each way */
    struct link_speed around;         /* ... from each rank to the next */
    double step_s;                    /* predicted: all stages + (m - 1) x the slowest (Holmes), the
                                         gradients of the largest stage and of the ends, the update */
    double ddp_s;                     /* ... if all ranks held all layers instead */
};

/* island: the name of this rank's island ("": not known). Collective. Returns 0, or -1 with err
 * on all ranks. The caller clears the arrangement in either case. */
int arrangement_make(const struct arrange_options *options, struct comm *comm, const char *island,
                     struct arrangement *arrangement, struct error *err);
void arrangement_clear(struct arrangement *arrangement);

/* Numbers islands from 0 in the order of their first ranks. Sets numbers to each rank's island, and
 * order to the ranks sorted by island, then by rank. names: of each rank's island. Returns the
 * number of islands. Pure. */
int arrange_islands(char (*names)[ISLAND_BYTES], int ranks, int *order, int *numbers);

/* Returns the largest number of ranks per stage with which each island is a whole number of stages.
 * Pure. */
int arrange_replicas(const int *numbers, int ranks, int islands);

#endif
