/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STRATEGY_H
#define MUSTER_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/comm/comm.h"
#include "trainer/model/model.h"
#include "trainer/optimizer/adamw.h"

/* How the ranks of a communicator hold parameters, gradients and the optimizer's state, and when
 * these are communicated: one table of functions for each strategy.
 *
 * With P bytes of parameters in 32 bits and N ranks, each rank holds
 *
 *   ddp       4 P           everything on each rank; gradients are summed bucket by bucket while
 *                           backward goes on (Li et al.: PyTorch Distributed, VLDB 2020)
 *   zero1     2 P + 2 P/N   moments in N parts
 *   zero2     P + 3 P/N     gradients too
 *   zero3     4 P/N         parameters too: a unit is gathered when it is needed, and freed
 *   replicas  4 P           each rank trains the same model alone; all must get the same bits
 *
 * (Rajbhandari et al.: ZeRO, SC'20, with 4-byte numbers throughout.) A step moves 2 P (N - 1) / N
 * bytes through each rank, zero3 3 P (N - 1) / N. */

struct shard_options {
    const struct shape *shape;
    const struct stage *stage; /* of the communicator; all layers without a pipeline */
    uint64_t seed;             /* of the initial weights */
    size_t bucket_bytes;       /* ddp: gradients that are summed in one call */
    int window;                /* zero3: units gathered and not freed at a time; 0: no limit */
};

/* Bytes of a rank: state kept from step to step, and working memory of a step besides. */
struct shard_bytes {
    size_t state, working;
    size_t gathered_peak; /* the most bytes of gathered units in use at a time; zero3 */
    size_t largest_unit;  /* bytes of the largest unit, gathered */
};

/* The state of a strategy; each strategy has its own struct, which begins with this. */
struct shard {
    const struct strategy *strategy;
    struct comm *comm;
    struct shard_options options;
    struct shard_bytes bytes;
    struct store store; /* for the model */
    /* [piece_count] ranges: that this rank saves (over all ranks disjoint and complete), and that
     * it reads */
    struct checkpoint_state *saves, *loads;
    size_t piece_count;
};

struct strategy {
    const char *name, *summary;
    bool is_replicated; /* each rank trains alone, on whole batches and its own communicator */
    bool is_piecewise;  /* supports neither stages nor several microbatches */
    int level;          /* of ZeRO */
    int whole, parts;   /* how many of the state's 4 arrays of parameter size are whole, in parts */

    /* Allocates memory; draw() must follow. Returns 0, or -1 with err. comm must live as long. */
    int (*create)(const struct strategy *strategy, const struct shard_options *options,
                  struct comm *comm, struct shard **shard, struct error *err);
    void (*destroy)(struct shard *shard);

    /* Called before a walk through the model. trains: forward and backward, else forward only. */
    void (*begin)(struct shard *shard, bool trains);
    /* Called after it: completes all gradients, so that they are the sum over ranks. */
    void (*finish)(struct shard *shard);

    /* Returns the sum of squares of this rank's part of the gradient: of one tensor in one unit, or
     * of all (tensor TENSOR_COUNT, any unit). The sum over the ranks of all stages is that of the
     * whole gradient. */
    double (*squares)(const struct shard *shard, int unit, int tensor);

    /* As adamw_update(), for all parameters. */
    void (*update)(struct shard *shard, const struct adamw *adamw, long step, double rate,
                   double scale);

    /* Sets the initial weights, and all moments to zero. */
    void (*draw)(struct shard *shard);

    /* Called after shard->loads have been read. */
    void (*restored)(struct shard *shard);

    /* How many times a step scatters or gathers each parameter: a rank sends (N - 1) / N of the
     * parameters each time. */
    int passes;
};

/* In the order of the table above. */
extern const struct strategy strategy_ddp, strategy_zero1, strategy_zero2, strategy_zero3,
    strategy_replicas;
extern const struct strategy *const strategies[];
enum { STRATEGIES = 5 };

const struct strategy *strategy_find(const char *name); /* NULL: there is none */

/* Allocates count zeros, and adds their bytes to *bytes. Returns NULL with err. */
real *shard_alloc(size_t count, size_t *bytes, struct error *err);

/* Allocates the shard's pieces; the strategy frees shard->saves. Returns 0, or -1 with err. */
int shard_alloc_pieces(struct shard *shard, size_t count, struct error *err);

#endif
