/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "trainer/model/parameters.h"
#include "trainer/parallel/strategy.h"

/* Data parallel: each rank has all arrays. Backward completes the units from the end of the arrays
 * to their beginning; a bucket is summed as soon as all its gradients are complete. */

struct ddp {
    struct shard shard;
    const struct stage *stage;
    size_t count;                                                  /* elements of each array */
    real *parameters, *gradients, *first_moments, *second_moments; /* unit after unit */
    size_t bucket;                                                 /* elements */
    size_t unsent; /* gradients before this one are still to be summed */
    struct collective_request **sums;
    size_t sum_count;
};

static const real *parameters(void *context, int unit)
{
    struct ddp *ddp = context;

    return ddp->parameters + stage_unit_offset(ddp->stage, unit);
}

static void release(void *context, int unit)
{
    struct ddp *ddp = context;

    (void)unit;
    comm_progress(ddp->shard.comm);
}

static void progress(void *context)
{
    struct ddp *ddp = context;

    comm_progress(ddp->shard.comm);
}

static real *gradients(void *context, int unit)
{
    struct ddp *ddp = context;

    return ddp->gradients + stage_unit_offset(ddp->stage, unit);
}

static void send_off(struct ddp *ddp, size_t begin)
{
    ddp->sums[ddp->sum_count++] =
        comm_start_allreduce(ddp->shard.comm, ddp->gradients + begin, ddp->unsent - begin);
    ddp->unsent = begin;
}

static void complete(void *context, int unit)
{
    struct ddp *ddp = context;
    size_t begin = stage_unit_offset(ddp->stage, unit);

    while (ddp->unsent >= begin + ddp->bucket)
        send_off(ddp, ddp->unsent - ddp->bucket);
    if (begin == 0 && ddp->unsent > 0)
        send_off(ddp, 0);
    comm_progress(ddp->shard.comm);
}

static void destroy(struct shard *shard)
{
    struct ddp *ddp = (struct ddp *)shard;

    if (!ddp)
        return;
    free(ddp->parameters);
    free(ddp->gradients);
    free(ddp->first_moments);
    free(ddp->second_moments);
    free(ddp->sums);
    free(ddp->shard.saves);
    free(ddp);
}

/* This rank's share [first, end) of the elements that its stage owns. */
static void share(const struct ddp *ddp, size_t *first, size_t *end)
{
    struct rank_info rank_info = comm_rank_info(ddp->shard.comm);
    size_t skipped = stage_owns(ddp->stage, 0) ? 0 : stage_unit_size(ddp->stage, 0);
    size_t size = (ddp->count - skipped) / (size_t)rank_info.ranks;

    *first = skipped + size * (size_t)rank_info.rank;
    *end = rank_info.rank + 1 < rank_info.ranks ? *first + size : ddp->count;
}

static struct checkpoint_state piece_of(const struct ddp *ddp, size_t first, size_t end,
                                        size_t number)
{
    if (first >= end)
        return (struct checkpoint_state){number, 0, ddp->parameters, ddp->first_moments,
                                         ddp->second_moments};
    return (struct checkpoint_state){number, end - first, ddp->parameters + first,
                                     ddp->first_moments + first, ddp->second_moments + first};
}

/* Sets pieces to the elements [first, end): one piece for a whole model, for a stage one for each
 * unit of the model. */
static void set_pieces(const struct ddp *ddp, size_t first, size_t end,
                       struct checkpoint_state *pieces)
{
    const struct shape *shape = ddp->shard.options.shape;

    if (ddp->stage->stages == 1) {
        *pieces = piece_of(ddp, first, end, first);
        return;
    }
    for (int unit = 0; unit < shape_units(shape); unit++) {
        size_t begin = stage_unit_offset(ddp->stage, unit);
        size_t from = first > begin ? first : begin, to = begin + stage_unit_size(ddp->stage, unit);

        pieces[unit] = piece_of(ddp, from, end < to ? end : to,
                                shape_unit_offset(shape, unit) + (from - begin));
    }
}

static int create(const struct strategy *strategy, const struct shard_options *options,
                  struct comm *comm, struct shard **shard, struct error *err)
{
    struct ddp *made = calloc(1, sizeof *made);
    size_t *bytes, first, end;

    if (!made)
        return error_set(err, "%s: %m", strategy->name);
    bytes = &made->shard.bytes.state;
    made->shard.strategy = strategy;
    made->shard.comm = comm;
    made->shard.options = *options;
    made->shard.store = (struct store){parameters, release, gradients, complete, progress, made};
    made->stage = options->stage;
    made->count = stage_parameters(made->stage);
    made->bucket = options->bucket_bytes / sizeof(real);
    made->bucket = made->bucket > 0 ? made->bucket : 1;
    if (!(made->parameters = shard_alloc(made->count, bytes, err)) ||
        !(made->gradients = shard_alloc(made->count, bytes, err)) ||
        !(made->first_moments = shard_alloc(made->count, bytes, err)) ||
        !(made->second_moments = shard_alloc(made->count, bytes, err)) ||
        shard_alloc_pieces(&made->shard,
                           made->stage->stages == 1 ? 1 : (size_t)shape_units(options->shape),
                           err) != 0) {
        destroy(&made->shard);
        return -1;
    }
    made->sums = calloc(made->count / made->bucket + 2, sizeof(struct collective_request *));
    if (!made->sums) {
        destroy(&made->shard);
        return error_set(err, "%s: %m", strategy->name);
    }
    share(made, &first, &end);
    set_pieces(made, first, end, made->shard.saves);
    set_pieces(made, 0, made->count, made->shard.loads);
    *shard = &made->shard;
    return 0;
}

static void draw(struct shard *shard)
{
    struct ddp *ddp = (struct ddp *)shard;
    const struct shape *shape = shard->options.shape;

    for (int unit = 0; unit < shape_units(shape); unit++) {
        if (stage_has(ddp->stage, unit))
            parameters_fill(shape, shard->options.seed, unit, 0, shape_unit_size(shape, unit),
                            ddp->parameters + stage_unit_offset(ddp->stage, unit));
        comm_progress(shard->comm); /* a large model takes long */
    }
    memset(ddp->first_moments, 0, ddp->count * sizeof(real));
    memset(ddp->second_moments, 0, ddp->count * sizeof(real));
}

static void begin(struct shard *shard, bool trains)
{
    struct ddp *ddp = (struct ddp *)shard;

    (void)trains;
    ddp->unsent = ddp->count;
    ddp->sum_count = 0;
}

static void finish(struct shard *shard)
{
    struct ddp *ddp = (struct ddp *)shard;

    for (size_t i = 0; i < ddp->sum_count; i++)
        comm_wait(shard->comm, ddp->sums[i]);
    ddp->sum_count = 0;
}

static double squares(const struct shard *shard, int unit, int tensor)
{
    const struct ddp *ddp = (const struct ddp *)shard;
    const struct shape *shape = shard->options.shape;
    size_t first, end, from, to;

    share(ddp, &first, &end);
    if (tensor < TENSOR_COUNT) {
        if (!stage_owns(ddp->stage, unit))
            return 0;
        from = stage_unit_offset(ddp->stage, unit) + shape_tensor_offset(shape, tensor);
        to = from + shape_tensor_size(shape, tensor);
        first = first > from ? first : from;
        end = end < to ? end : to;
    }
    return first < end ? adamw_squares(ddp->gradients + first, end - first) : 0;
}

static void update(struct shard *shard, const struct adamw *adamw, long step, double rate,
                   double scale)
{
    struct ddp *ddp = (struct ddp *)shard;

    adamw_update(adamw, step, rate, scale, ddp->count, ddp->gradients, ddp->first_moments,
                 ddp->second_moments, ddp->parameters);
}

static void restored(struct shard *shard)
{
    (void)shard; /* each rank has read all of it */
}

#define OPERATIONS                                                                                 \
    .create = create, .destroy = destroy, .draw = draw, .begin = begin, .finish = finish,          \
    .squares = squares, .update = update, .restored = restored, .whole = 4

const struct strategy strategy_ddp = {
    .name = "ddp",
    .summary = "full copy on each rank, gradients reduced during backward",
    OPERATIONS,
    .passes = 2,
};

const struct strategy strategy_replicas = {
    .name = "replicas",
    .summary = "each rank trains the same model alone, with bit-identical results",
    .is_replicated = true,
    OPERATIONS,
};
