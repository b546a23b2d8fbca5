/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "trainer/model/parameters.h"
#include "trainer/parallel/scheme.h"

/* Data parallel: all of it on each rank. Backward completes the units from the end of the arrays to
 * their beginning; a bucket is summed as soon as all in it is complete. */

struct ddp {
    struct holding holding;
    const struct stage *stage;
    size_t count;                                                  /* elements of each array */
    real *parameters, *gradients, *first_moments, *second_moments; /* unit after unit */
    size_t bucket;                                                 /* elements */
    size_t unsent; /* gradients before this one are still to be sent off */
    struct pending **sums;
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
    team_progress(ddp->holding.team);
}

static void progress(void *context)
{
    struct ddp *ddp = context;

    team_progress(ddp->holding.team);
}

static real *gradients(void *context, int unit)
{
    struct ddp *ddp = context;

    return ddp->gradients + stage_unit_offset(ddp->stage, unit);
}

static void send_off(struct ddp *ddp, size_t begin)
{
    ddp->sums[ddp->sum_count++] =
        team_sum(ddp->holding.team, ddp->gradients + begin, ddp->unsent - begin);
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
    team_progress(ddp->holding.team);
}

static void destroy(struct holding *holding)
{
    struct ddp *ddp = (struct ddp *)holding;

    if (!ddp)
        return;
    free(ddp->parameters);
    free(ddp->gradients);
    free(ddp->first_moments);
    free(ddp->second_moments);
    free(ddp->sums);
    free(ddp);
}

static int create(const struct scheme *scheme, const struct holding_options *options,
                  struct team *team, struct holding **holding, struct error *err)
{
    struct ddp *made = calloc(1, sizeof *made);
    size_t *bytes;

    if (!made)
        return error_set(err, "%s: %m", scheme->name);
    bytes = &made->holding.bytes.state;
    made->holding.scheme = scheme;
    made->holding.team = team;
    made->holding.options = *options;
    made->holding.store = (struct store){parameters, release, gradients, complete, progress, made};
    made->stage = options->stage;
    made->count = stage_parameters(made->stage);
    made->bucket = options->bucket_bytes / sizeof(real);
    made->bucket = made->bucket > 0 ? made->bucket : 1;
    if (!(made->parameters = holding_take(made->count, bytes, err)) ||
        !(made->gradients = holding_take(made->count, bytes, err)) ||
        !(made->first_moments = holding_take(made->count, bytes, err)) ||
        !(made->second_moments = holding_take(made->count, bytes, err))) {
        destroy(&made->holding);
        return -1;
    }
    made->sums = calloc(made->count / made->bucket + 2, sizeof(struct pending *));
    if (!made->sums) {
        destroy(&made->holding);
        return error_set(err, "%s: %m", scheme->name);
    }
    *holding = &made->holding;
    return 0;
}

static void draw(struct holding *holding)
{
    struct ddp *ddp = (struct ddp *)holding;
    const struct shape *shape = holding->options.shape;

    for (int unit = 0; unit < shape_units(shape); unit++) {
        if (stage_has(ddp->stage, unit))
            parameters_fill(shape, holding->options.seed, unit, 0, shape_unit_size(shape, unit),
                            ddp->parameters + stage_unit_offset(ddp->stage, unit));
        team_progress(holding->team); /* a large model takes long */
    }
    memset(ddp->first_moments, 0, ddp->count * sizeof(real));
    memset(ddp->second_moments, 0, ddp->count * sizeof(real));
}

static void begin(struct holding *holding, bool trains)
{
    struct ddp *ddp = (struct ddp *)holding;

    (void)trains;
    ddp->unsent = ddp->count;
    ddp->sum_count = 0;
}

static void finish(struct holding *holding)
{
    struct ddp *ddp = (struct ddp *)holding;

    for (size_t i = 0; i < ddp->sum_count; i++)
        team_wait(holding->team, ddp->sums[i]);
    ddp->sum_count = 0;
}

/* This rank's share of what the stage answers for in an array. */
static void share(const struct ddp *ddp, size_t *first, size_t *end)
{
    struct seat seat = team_seat(ddp->holding.team);
    size_t skipped = stage_owns(ddp->stage, 0) ? 0 : stage_unit_size(ddp->stage, 0);
    size_t size = (ddp->count - skipped) / (size_t)seat.ranks;

    *first = skipped + size * (size_t)seat.rank;
    *end = seat.rank + 1 < seat.ranks ? *first + size : ddp->count;
}

static double squares(const struct holding *holding, int unit, int tensor)
{
    const struct ddp *ddp = (const struct ddp *)holding;
    const struct shape *shape = holding->options.shape;
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

static void update(struct holding *holding, const struct adamw *adamw, long step, double rate,
                   double scale)
{
    struct ddp *ddp = (struct ddp *)holding;

    adamw_update(adamw, step, rate, scale, ddp->count, ddp->gradients, ddp->first_moments,
                 ddp->second_moments, ddp->parameters);
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

/* One piece, or of a stage one for each unit of the model. */
static size_t pieces(const struct holding *holding, bool loads, struct checkpoint_state *pieces)
{
    const struct ddp *ddp = (const struct ddp *)holding;
    const struct shape *shape = holding->options.shape;
    bool is_whole = ddp->stage->stages == 1;
    size_t first = 0, end = ddp->count;

    if (!loads)
        share(ddp, &first, &end);
    if (pieces && is_whole)
        *pieces = piece_of(ddp, first, end, first);
    for (int unit = 0; pieces && !is_whole && unit < shape_units(shape); unit++) {
        size_t begin = stage_unit_offset(ddp->stage, unit);
        size_t from = first > begin ? first : begin, to = begin + stage_unit_size(ddp->stage, unit);

        pieces[unit] = piece_of(ddp, from, end < to ? end : to,
                                shape_unit_offset(shape, unit) + (from - begin));
    }
    return is_whole ? 1 : (size_t)shape_units(shape);
}

static void restored(struct holding *holding)
{
    (void)holding; /* each rank has read all of it */
}

static double formula(double count, int ranks)
{
    (void)ranks;
    return 4 * sizeof(real) * count;
}

const struct scheme scheme_ddp = {
    .name = "ddp",
    .summary = "everything on each rank, gradients summed during backward",
    .create = create,
    .destroy = destroy,
    .draw = draw,
    .begin = begin,
    .finish = finish,
    .squares = squares,
    .update = update,
    .pieces = pieces,
    .restored = restored,
    .formula = formula,
    .passes = 2,
};

const struct scheme scheme_replicas = {
    .name = "replicas",
    .summary = "each rank trains the same by itself, to the same bits",
    .is_replicated = true,
    .create = create,
    .destroy = destroy,
    .draw = draw,
    .begin = begin,
    .finish = finish,
    .squares = squares,
    .update = update,
    .pieces = pieces,
    .restored = restored,
    .formula = formula,
};
