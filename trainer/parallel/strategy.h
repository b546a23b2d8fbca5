/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STRATEGY_H
#define MUSTER_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/model/model.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/comm/comm.h"

/* How the ranks of a communicator hold parameters, gradients and the optimiser's state, and when
 * these are communicated: one table of functions a strategy.
 *
 * With P bytes of parameters in 32 bits and N ranks, each rank holds
 *
 *   ddp       4 P           everything on each rank; gradients are summed bucket by bucket while
 *                           backward goes on (Li et al.: PyTorch Distributed, VLDB 2020)
 *   zero1     2 P + 2 P/N   moments in N parts
 *   zero2     P + 3 P/N     gradients too
 *   zero3     4 P/N         parameters too: a unit is gathered when it is needed, and freed
 *   replicas  4 P           each rank trains the same by itself; all must come to the same bits
 *
 * (Rajbhandari et al.: ZeRO, SC'20, with 4-byte numbers throughout.) A step moves 2 P (N - 1) / N
 * bytes through each rank, zero3 3 P (N - 1) / N. */

struct shard_options {
    const struct shape *shape;
    const struct stage
        *stage;          /* that the communicator shares; all layers where there is no pipeline */
    uint64_t seed;       /* of the first weights */
    size_t bucket_bytes; /* ddp: gradients that are summed at once */
    int window;          /* zero3: units gathered and not freed at a time; 0: no limit */
};

/* Bytes of a rank: what lasts from step to step, and the room that a step needs besides. */
struct shard_bytes {
    size_t state, working;
    size_t gathered_peak; /* most bytes of gathered units that were live at once; zero3 */
    size_t largest_unit;  /* bytes of the largest, as it is gathered */
};

/* What a strategy keeps; each has a struct of its own that begins with this. */
struct shard {
    const struct strategy *strategy;
    struct comm *comm;
    struct shard_options options;
    struct shard_bytes bytes;
    struct store store; /* for the model */
};

struct strategy {
    const char *name, *summary;
    bool
        is_replicated; /* each rank trains by itself on whole batches: a communicator of one each */
    bool is_piecewise; /* does not hold a stage, nor gradients over several microbatches */
    int level;         /* ZeRO's */
    int whole, parts;  /* of the state's arrays, each as large as the parameters: 4 in all */

    /* Takes memory; draw() is to follow. Returns 0, or -1 with err. comm must live as long. */
    int (*create)(const struct strategy *strategy, const struct shard_options *options,
                  struct comm *comm, struct shard **shard, struct error *err);
    void (*destroy)(struct shard *shard);

    /* Before a walk through the model. trains: forward and backward, else forward only. */
    void (*begin)(struct shard *shard, bool trains);
    /* After it: all gradients are what they are to be, the sum over ranks. */
    void (*finish)(struct shard *shard);

    /* Of one tensor in one unit, or of all (tensor TENSOR_COUNT, any unit): the sum of squares of
     * that part of the gradient that this rank answers for; the sum over ranks, of all stages, is
     * the whole's. */
    double (*squares)(const struct shard *shard, int unit, int tensor);

    /* As adamw_update(), of all parameters. */
    void (*update)(struct shard *shard, const struct adamw *adamw, long step, double rate,
                   double scale);

    /* The first weights, and no moments. */
    void (*draw)(struct shard *shard);

    /* The ranges that this rank saves (over all ranks disjoint and complete), or, loads true, those
     * that it reads. Returns their number; pieces NULL: that only. */
    size_t (*pieces)(const struct shard *shard, bool loads, struct checkpoint_state *pieces);
    /* After they were read. */
    void (*restored)(struct shard *shard);

    /* Times that each parameter is summed or spread in a step: a rank sends (N - 1) / N of so many
     * parameters. */
    int passes;
};

/* In the order of the table above. */
extern const struct strategy strategy_ddp, strategy_zero1, strategy_zero2, strategy_zero3,
    strategy_replicas;
extern const struct strategy *const strategies[];
enum { STRATEGIES = 5 };

const struct strategy *strategy_find(const char *name); /* NULL: there is none */

/* count zeros, counted in *bytes. NULL with err. */
real *shard_alloc(size_t count, size_t *bytes, struct error *err);

#endif
