/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "trainer/model/parameters.h"
#include "trainer/parallel/gathered.h"
#include "trainer/parallel/strategy.h"

/* ZeRO: each unit is cut into one part per rank, all of the same size; the last ones are padded
 * with zeros, which nobody overwrites. Rank r updates part r of each unit. Level 1 shards the
 * moments, level 2 gradients too, level 3 parameters too. */

enum { SCATTERING = 2 }; /* reduce-scatters under way at once, each with its own buffer */

/* A reduce-scatter. Its buffer is for a unit's whole gradient (levels 2, 3), or for the resulting
 * part (level 1). */
struct scatter {
    struct collective_request *pending;
    int unit; /* -1: none */
    real *buffer;
};

struct zero {
    struct shard shard;
    int level, units;
    size_t *whole_at,
        *part_at;     /* where unit u begins in arrays of whole units, of parts; units + 1 */
    real *parameters; /* whole units, at level 3 parts */
    real *gradients;  /* whole units, at levels 2 and 3 parts */
    real *first_moments, *second_moments; /* parts */
    real *ends;                           /* whole gradient of unit 0; levels 2, 3 */
    struct scatter scatters[SCATTERING];
    int next;                            /* index of the next scatter to use */
    struct gathered *gathered;           /* level 3 */
    struct collective_request **gathers; /* of unit u's parameters after an update; levels 1, 2 */
};

static size_t part_size(const struct zero *zero, int unit)
{
    return zero->part_at[unit + 1] - zero->part_at[unit];
}

static size_t whole_size(const struct zero *zero, int unit)
{
    return zero->whole_at[unit + 1] - zero->whole_at[unit];
}

/* This rank's part of a unit in an array of whole units. */
static real *own_part(const struct zero *zero, real *whole, int unit)
{
    return whole + zero->whole_at[unit] +
           (size_t)comm_rank_info(zero->shard.comm).rank * part_size(zero, unit);
}

static real *own_parameters(const struct zero *zero, int unit)
{
    return zero->level == 3 ? zero->parameters + zero->part_at[unit]
                            : own_part(zero, zero->parameters, unit);
}

static real *own_gradients(const struct zero *zero, int unit)
{
    return zero->level == 1 ? own_part(zero, zero->gradients, unit)
                            : zero->gradients + zero->part_at[unit];
}

/* Returns the number of elements of this rank's part that are not padding, and sets *first to their
 * offset in the unit. */
static size_t own_count(const struct zero *zero, int unit, size_t *first)
{
    size_t size = shape_unit_size(zero->shard.options.shape, unit);

    *first = (size_t)comm_rank_info(zero->shard.comm).rank * part_size(zero, unit);
    if (*first >= size)
        return 0;
    return size - *first < part_size(zero, unit) ? size - *first : part_size(zero, unit);
}

static const real *parameters(void *context, int unit)
{
    struct zero *zero = context;

    if (zero->level == 3)
        return gathered_take(zero->gathered, unit);
    comm_wait(zero->shard.comm, zero->gathers[unit]);
    zero->gathers[unit] = NULL;
    return zero->parameters + zero->whole_at[unit];
}

static void release(void *context, int unit)
{
    struct zero *zero = context;

    if (zero->level == 3)
        gathered_release(zero->gathered, unit);
    comm_progress(zero->shard.comm);
}

static void progress(void *context)
{
    struct zero *zero = context;

    comm_progress(zero->shard.comm);
}

/* Waits for the reduce-scatter, so that its buffer is free. At level 1 copies the part to the
 * gradients. */
static void finish_scatter(struct zero *zero, struct scatter *scatter)
{
    if (scatter->unit < 0)
        return;
    comm_wait(zero->shard.comm, scatter->pending);
    if (zero->level == 1)
        memcpy(own_gradients(zero, scatter->unit), scatter->buffer,
               part_size(zero, scatter->unit) * sizeof(real));
    scatter->unit = -1;
}

static real *gradients(void *context, int unit)
{
    struct zero *zero = context;
    struct scatter *scatter = &zero->scatters[zero->next];

    if (zero->level == 1)
        return zero->gradients + zero->whole_at[unit];
    if (unit == 0)
        return zero->ends;
    finish_scatter(zero, scatter);
    return scatter->buffer;
}

static void complete(void *context, int unit)
{
    struct zero *zero = context;
    struct scatter *scatter = &zero->scatters[zero->next];
    struct comm *comm = zero->shard.comm;

    if (zero->level == 1) {
        finish_scatter(zero, scatter);
        scatter->pending = comm_start_reduce_scatter(comm, zero->gradients + zero->whole_at[unit],
                                                     part_size(zero, unit), scatter->buffer);
    } else {
        if (unit == 0)
            finish_scatter(zero, scatter);
        scatter->pending =
            comm_start_reduce_scatter(comm, unit == 0 ? zero->ends : scatter->buffer,
                                      part_size(zero, unit), own_gradients(zero, unit));
    }
    scatter->unit = unit;
    zero->next = (zero->next + 1) % SCATTERING;
    comm_progress(comm);
}

static void destroy(struct shard *shard)
{
    struct zero *zero = (struct zero *)shard;

    if (!zero)
        return;
    /* a run that ends early may leave the all-gathers of its last update under way */
    for (int unit = 0; zero->gathers && unit < zero->units; unit++)
        comm_wait(zero->shard.comm, zero->gathers[unit]);
    gathered_destroy(zero->gathered);
    for (int i = 0; i < SCATTERING; i++)
        free(zero->scatters[i].buffer);
    free(zero->whole_at);
    free(zero->part_at);
    free(zero->parameters);
    free(zero->gradients);
    free(zero->first_moments);
    free(zero->second_moments);
    free(zero->ends);
    free(zero->gathers);
    free(zero->shard.saves);
    free(zero);
}

static void lay_out(struct zero *zero)
{
    size_t ranks = (size_t)comm_rank_info(zero->shard.comm).ranks;

    for (int unit = 0; unit < zero->units; unit++) {
        size_t part = (shape_unit_size(zero->shard.options.shape, unit) + ranks - 1) / ranks;

        zero->part_at[unit + 1] = zero->part_at[unit] + part;
        zero->whole_at[unit + 1] = zero->whole_at[unit] + ranks * part;
        if (ranks * part * sizeof(real) > zero->shard.bytes.largest_unit)
            zero->shard.bytes.largest_unit = ranks * part * sizeof(real);
    }
}

/* Allocates the buffers: for a layer's whole gradient at levels 2 and 3, for a part at level 1. */
static int allocate_buffers(struct zero *zero, struct error *err)
{
    size_t *working = &zero->shard.bytes.working;
    size_t size = whole_size(zero, zero->units - 1);

    if (zero->level == 1)
        size = part_size(zero, 0) > part_size(zero, 1) ? part_size(zero, 0) : part_size(zero, 1);
    else if (!(zero->ends = shard_alloc(whole_size(zero, 0), working, err)))
        return -1;
    for (int i = 0; i < SCATTERING; i++) {
        zero->scatters[i].unit = -1;
        if (!(zero->scatters[i].buffer = shard_alloc(size, working, err)))
            return -1;
    }
    return 0;
}

static int allocate(struct zero *zero, struct error *err)
{
    size_t wholes = zero->whole_at[zero->units], parts = zero->part_at[zero->units];
    size_t *state = &zero->shard.bytes.state;

    if (!(zero->parameters = shard_alloc(zero->level == 3 ? parts : wholes, state, err)) ||
        !(zero->gradients = shard_alloc(zero->level == 1 ? wholes : parts, state, err)) ||
        !(zero->first_moments = shard_alloc(parts, state, err)) ||
        !(zero->second_moments = shard_alloc(parts, state, err)) ||
        allocate_buffers(zero, err) != 0)
        return -1;
    if (zero->level < 3)
        return 0;
    return gathered_create(&(struct gathered_options){zero->shard.comm, zero->units,
                                                      zero->shard.options.window, zero->parameters,
                                                      zero->part_at},
                           &zero->shard.bytes, &zero->gathered, err);
}

static void set_pieces(struct zero *zero)
{
    for (int unit = 0; unit < zero->units; unit++) {
        size_t first, count = own_count(zero, unit, &first), at = zero->part_at[unit];

        zero->shard.saves[unit] = zero->shard.loads[unit] = (struct checkpoint_state){
            shape_unit_offset(zero->shard.options.shape, unit) + first, count,
            own_parameters(zero, unit), zero->first_moments + at, zero->second_moments + at};
    }
}

static int create(const struct strategy *strategy, const struct shard_options *options,
                  struct comm *comm, struct shard **shard, struct error *err)
{
    struct zero *made = calloc(1, sizeof *made);
    size_t units = (size_t)shape_units(options->shape);

    if (!made || !(made->whole_at = calloc(units + 1, sizeof *made->whole_at)) ||
        !(made->part_at = calloc(units + 1, sizeof *made->part_at)) ||
        !(made->gathers = calloc(units, sizeof(struct collective_request *)))) {
        error_set(err, "%s: %m", strategy->name);
        destroy(made ? &made->shard : NULL);
        return -1;
    }
    made->shard.strategy = strategy;
    made->shard.comm = comm;
    made->shard.options = *options;
    made->shard.store = (struct store){parameters, release, gradients, complete, progress, made};
    made->level = strategy->level;
    made->units = (int)units;
    lay_out(made);
    if (allocate(made, err) != 0 || shard_alloc_pieces(&made->shard, units, err) != 0) {
        destroy(&made->shard);
        return -1;
    }
    set_pieces(made);
    *shard = &made->shard;
    return 0;
}

static void draw(struct shard *shard)
{
    struct zero *zero = (struct zero *)shard;
    const struct shape *shape = shard->options.shape;
    size_t parts = zero->part_at[zero->units];

    for (int unit = 0; unit < zero->units; unit++) {
        size_t first = 0, count = shape_unit_size(shape, unit);
        real *at = zero->parameters + zero->whole_at[unit];

        if (zero->level == 3) {
            count = own_count(zero, unit, &first);
            at = own_parameters(zero, unit);
        }
        parameters_fill(shape, shard->options.seed, unit, first, count, at);
        comm_progress(shard->comm); /* a large model takes long */
    }
    memset(zero->first_moments, 0, parts * sizeof(real));
    memset(zero->second_moments, 0, parts * sizeof(real));
}

static void begin(struct shard *shard, bool trains)
{
    struct zero *zero = (struct zero *)shard;

    if (zero->level == 3)
        gathered_begin(zero->gathered, trains);
}

static void finish(struct shard *shard)
{
    struct zero *zero = (struct zero *)shard;

    for (int i = 0; i < SCATTERING; i++)
        finish_scatter(zero, &zero->scatters[i]);
    zero->next = 0;
}

static double squares(const struct shard *shard, int unit, int tensor)
{
    const struct zero *zero = (const struct zero *)shard;
    const struct shape *shape = shard->options.shape;
    size_t begin, count, first, end;
    double sum = 0;

    if (tensor == TENSOR_COUNT) {
        for (unit = 0; unit < zero->units; unit++)
            sum += adamw_squares(own_gradients(zero, unit), part_size(zero, unit));
        return sum;
    }
    count = own_count(zero, unit, &begin);
    first = shape_tensor_offset(shape, tensor);
    end = first + shape_tensor_size(shape, tensor);
    first = first > begin ? first : begin;
    end = end < begin + count ? end : begin + count;
    return first < end ? adamw_squares(own_gradients(zero, unit) + (first - begin), end - first)
                       : 0;
}

/* Levels 1 and 2: gathers the other ranks' parts while the next step begins. */
static void spread(struct zero *zero, int unit)
{
    zero->gathers[unit] = comm_start_all_gather(zero->shard.comm, NULL, part_size(zero, unit),
                                                zero->parameters + zero->whole_at[unit]);
}

static void update(struct shard *shard, const struct adamw *adamw, long step, double rate,
                   double scale)
{
    struct zero *zero = (struct zero *)shard;

    for (int unit = 0; unit < zero->units; unit++) {
        size_t at = zero->part_at[unit];

        adamw_update(adamw, step, rate, scale, part_size(zero, unit), own_gradients(zero, unit),
                     zero->first_moments + at, zero->second_moments + at,
                     own_parameters(zero, unit));
        if (zero->level < 3)
            spread(zero, unit);
    }
}

static void restored(struct shard *shard)
{
    struct zero *zero = (struct zero *)shard;

    for (int unit = 0; zero->level < 3 && unit < zero->units; unit++)
        spread(zero, unit);
}

#define STRATEGY(number, text)                                                                     \
    const struct strategy strategy_zero##number = {                                                \
        .name = "zero" #number,                                                                    \
        .summary = text,                                                                           \
        .is_piecewise = true,                                                                      \
        .level = number,                                                                           \
        .whole = 3 - number,                                                                       \
        .parts = 1 + number,                                                                       \
        .create = create,                                                                          \
        .destroy = destroy,                                                                        \
        .draw = draw,                                                                              \
        .begin = begin,                                                                            \
        .finish = finish,                                                                          \
        .squares = squares,                                                                        \
        .update = update,                                                                          \
        .restored = restored,                                                                      \
        .passes = number < 3 ? 2 : 3,                                                              \
    }

STRATEGY(1, "optimizer state sharded");
STRATEGY(2, "... and gradients");
STRATEGY(3, "... and parameters, gathered unit by unit");
