/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/pipeline/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "trainer/comm/channel.h"
#include "trainer/parallel/pipeline/schedule.h"

/* Lanes of transfers that may be under way at once: each buffer at the model's ends has its lane. A
 * gradient has one lane for both ways, as it comes in and goes out in the same buffer. */
enum {
    BUFFERS = 2,
    LANE_OUT = 0,
    LANE_GRADIENT = LANE_OUT + BUFFERS,
    LANE_IN = LANE_GRADIENT + BUFFERS
};
enum { TAG_FORWARD, TAG_BACKWARD };

struct pipeline {
    struct pipeline_options options;
    struct stage stage;
    int replica, before, behind; /* ranks of the neighbors */
    struct comm *island;
    struct comm *pair;       /* this rank and the one of the other stage that has the ends; NULL */
    struct channel *channel; /* NULL: one stage */
    struct model *model;
    size_t model_bytes;
    int in_buffers;
    struct pipeline_action *actions; /* of a step */
    size_t part;  /* elements of the ends that this rank sums in pipeline_tie() */
    real *buffer; /* replicas x part; NULL: none is needed */
    struct pipeline_traffic sent;
};

/* A walk under way. */
struct walk {
    struct pipeline *pipeline;
    const struct store *store;
    const int32_t *inputs, *targets;
    double scale;
    bool trains;
    int done;                          /* microbatches whose buffers are free again */
    int inputs_asked, gradients_asked; /* microbatches whose receive has begun */
};

static int rows_of(const struct pipeline *pipeline, int microbatch, int *first)
{
    int own;

    return placement_share(pipeline_rows(pipeline, &own), microbatch,
                           pipeline->options.microbatches, first);
}

static size_t bytes_of(const struct pipeline *pipeline, int rows)
{
    const struct shape *shape = pipeline->options.shape;

    return (size_t)rows * (size_t)shape->context * (size_t)shape->channels *
           pipeline->options.compute->element_bytes;
}

int pipeline_most_rows(const struct pipeline_options *options)
{
    int replicas = options->placement->replicas;
    int most = (options->batch + replicas - 1) / replicas; /* of a replica */

    return (most + options->microbatches - 1) / options->microbatches;
}

static int allocate(struct pipeline *pipeline, struct error *err)
{
    const struct pipeline_options *options = &pipeline->options;
    int held = schedule_held(pipeline->stage.number, pipeline->stage.stages, options->microbatches);
    struct model_options model = {
        {options->shape, options->compute, pipeline_most_rows(options)}, pipeline->stage, held};

    if (pipeline->channel && bytes_of(pipeline, pipeline_most_rows(options)) > CHANNEL_MOST)
        return error_set(err,
                         "found %.1f GB of activations per microbatch, expected at most 2 GB; use "
                         "more --microbatches",
                         (double)bytes_of(pipeline, pipeline_most_rows(options)) / 1e9);
    pipeline->in_buffers = held + !stage_is_first(&pipeline->stage);
    pipeline->actions = calloc(2 * (size_t)options->microbatches, sizeof *pipeline->actions);
    if (!pipeline->actions)
        return error_set(err, "a pipeline: %m");
    schedule_fill(pipeline->stage.number, pipeline->stage.stages, options->microbatches,
                  pipeline->actions);
    pipeline->model_bytes = model_bytes(&model);
    if (model_create(&model, &pipeline->model, err) != 0)
        return -1;
    if (!pipeline->pair)
        return 0;
    pipeline->part = shape_unit_size(options->shape, 0);
    if (options->placement->replicas == 1)
        return 0;
    pipeline->part = (pipeline->part + (size_t)options->placement->replicas - 1) /
                     (size_t)options->placement->replicas;
    pipeline->buffer = calloc(1, pipeline_buffer_bytes(pipeline));
    return pipeline->buffer ? 0 : error_set(err, "cannot allocate a gradient: %m");
}

static int join(struct pipeline *pipeline, struct comm *comm, struct error *err)
{
    const struct placement *placement = pipeline->options.placement;
    int number = pipeline->stage.number;
    bool has_ends = stage_has(&pipeline->stage, 0) && placement->stages > 1;

    if (comm_split(comm, number, pipeline->replica, &pipeline->island, err) != 0 ||
        comm_split(comm, has_ends ? pipeline->replica : -1, number, &pipeline->pair, err) != 0)
        return -1;
    if (placement->stages == 1)
        return 0;
    if (number > 0)
        pipeline->before = placement_rank(placement, number - 1, pipeline->replica);
    if (number + 1 < placement->stages)
        pipeline->behind = placement_rank(placement, number + 1, pipeline->replica);
    if (channel_create(comm, LANE_IN + placement->stages + 1, &pipeline->channel, err) != 0)
        return -1;
    comm_set_channel(pipeline->island, pipeline->channel);
    return 0;
}

int pipeline_create(const struct pipeline_options *options, struct comm *comm,
                    struct pipeline **pipeline, struct error *err)
{
    struct pipeline *made = calloc(1, sizeof *made);
    int number, rv = made ? 0 : error_set(err, "a pipeline: %m");

    if (comm_agree(comm, rv, err) != 0 || !made) {
        free(made);
        return -1;
    }
    made->options = *options;
    placement_find(options->placement, comm_rank_info(comm).rank, &number, &made->replica);
    made->stage = placement_stage(options->placement, options->shape, number);
    if (join(made, comm, err) != 0 || comm_agree(comm, allocate(made, err), err) != 0) {
        pipeline_destroy(made);
        return -1;
    }
    *pipeline = made;
    return 0;
}

void pipeline_destroy(struct pipeline *pipeline)
{
    if (!pipeline)
        return;
    channel_destroy(pipeline->channel);
    model_destroy(pipeline->model);
    comm_destroy(pipeline->pair);
    comm_destroy(pipeline->island);
    free(pipeline->actions);
    free(pipeline->buffer);
    free(pipeline);
}

const struct stage *pipeline_stage(const struct pipeline *pipeline)
{
    return &pipeline->stage;
}

struct comm *pipeline_island(const struct pipeline *pipeline)
{
    return pipeline->island;
}

int pipeline_rows(const struct pipeline *pipeline, int *first)
{
    return placement_share(pipeline->options.batch, pipeline->replica,
                           pipeline->options.placement->replicas, first);
}

static struct microbatch microbatch_of(const struct walk *walk, int number)
{
    const struct pipeline *pipeline = walk->pipeline;
    int first, rows = rows_of(pipeline, number, &first);
    size_t at = (size_t)first * (size_t)pipeline->options.shape->context;

    return (struct microbatch){.number = number,
                               .batch = rows,
                               .inputs = walk->inputs + at,
                               .targets = walk->targets + at,
                               .scale = walk->scale,
                               .trains = walk->trains,
                               .is_end = number + 1 == pipeline->options.microbatches};
}

static size_t transfer_bytes(const struct walk *walk, int number)
{
    int first;

    return bytes_of(walk->pipeline, rows_of(walk->pipeline, number, &first));
}

static void request_gradient(struct walk *walk)
{
    struct pipeline *pipeline = walk->pipeline;
    int number = walk->gradients_asked++;

    channel_receive(pipeline->channel, LANE_GRADIENT + number % BUFFERS, pipeline->behind,
                    TAG_BACKWARD, model_gradient(pipeline->model, number),
                    transfer_bytes(walk, number));
}

/* Begins receives as soon as there is room for them, so that data comes in while this stage
 * computes. */
static void request_ahead(struct walk *walk)
{
    struct pipeline *pipeline = walk->pipeline;
    int count = pipeline->options.microbatches;

    while (!stage_is_first(&pipeline->stage) && walk->inputs_asked < count &&
           walk->inputs_asked < walk->done + pipeline->in_buffers) {
        int number = walk->inputs_asked++;

        channel_receive(pipeline->channel, LANE_IN + number % pipeline->in_buffers,
                        pipeline->before, TAG_FORWARD, model_in(pipeline->model, number),
                        transfer_bytes(walk, number));
    }
    while (walk->trains && !stage_is_last(&pipeline->stage) && walk->gradients_asked < count &&
           walk->gradients_asked < walk->done + BUFFERS &&
           channel_is_free(pipeline->channel, LANE_GRADIENT + walk->gradients_asked % BUFFERS))
        request_gradient(walk);
}

static double run_forward(struct walk *walk, int number)
{
    struct pipeline *pipeline = walk->pipeline;
    struct microbatch microbatch = microbatch_of(walk, number);
    bool is_last = stage_is_last(&pipeline->stage);
    double loss;

    if (!stage_is_first(&pipeline->stage))
        channel_wait(pipeline->channel, LANE_IN + number % pipeline->in_buffers);
    if (pipeline->channel) /* until the buffer that forward writes to has been sent */
        channel_wait(pipeline->channel, (is_last ? LANE_GRADIENT : LANE_OUT) + number % BUFFERS);
    loss = model_forward(pipeline->model, walk->store, &microbatch);
    if (!is_last) {
        channel_send(pipeline->channel, LANE_OUT + number % BUFFERS, pipeline->behind, TAG_FORWARD,
                     model_out(pipeline->model, number), transfer_bytes(walk, number));
        pipeline->sent.forward += transfer_bytes(walk, number);
    }
    return loss;
}

static void run_backward(struct walk *walk, int number)
{
    struct pipeline *pipeline = walk->pipeline;
    struct microbatch microbatch = microbatch_of(walk, number);
    int lane = LANE_GRADIENT + number % BUFFERS;

    if (!stage_is_last(&pipeline->stage)) {
        if (walk->gradients_asked == number) {
            channel_wait(pipeline->channel, lane);
            request_gradient(walk);
        }
        channel_wait(pipeline->channel, lane);
    }
    model_backward(pipeline->model, walk->store, &microbatch);
    if (!stage_is_first(&pipeline->stage)) {
        channel_send(pipeline->channel, lane, pipeline->before, TAG_BACKWARD,
                     model_gradient(pipeline->model, number), transfer_bytes(walk, number));
        pipeline->sent.backward += transfer_bytes(walk, number);
    }
    walk->done++;
}

double pipeline_walk(struct pipeline *pipeline, const struct store *store, const int32_t *inputs,
                     const int32_t *targets, double scale, bool trains)
{
    struct walk walk = {.pipeline = pipeline,
                        .store = store,
                        .inputs = inputs,
                        .targets = targets,
                        .scale = scale,
                        .trains = trains};
    double loss = 0;

    for (int i = 0; i < 2 * pipeline->options.microbatches; i++) {
        const struct pipeline_action *action = &pipeline->actions[i];

        if (action->kind == PIPELINE_BACKWARD && !trains)
            continue;
        request_ahead(&walk);
        if (action->kind == PIPELINE_BACKWARD) {
            run_backward(&walk, action->microbatch);
        } else {
            loss += run_forward(&walk, action->microbatch);
            walk.done += !trains;
        }
    }
    for (int i = 0; pipeline->channel && i < BUFFERS; i++) {
        channel_wait(pipeline->channel, LANE_OUT + i);
        channel_wait(pipeline->channel, LANE_GRADIENT + i);
    }
    return loss;
}

void pipeline_tie(struct pipeline *pipeline, real *ends)
{
    size_t size = shape_unit_size(pipeline->options.shape, 0);
    size_t first = pipeline->part * (size_t)pipeline->replica;
    size_t count = first < size ? size - first : 0;
    real *own;

    if (!pipeline->pair)
        return;
    if (!pipeline->buffer) {
        comm_wait(pipeline->pair, comm_start_allreduce(pipeline->pair, ends, size));
        return;
    }
    count = count < pipeline->part ? count : pipeline->part;
    own = pipeline->buffer + first;
    memcpy(own, ends + first, count * sizeof *own);
    comm_wait(pipeline->pair, comm_start_allreduce(pipeline->pair, own, pipeline->part));
    comm_wait(pipeline->island,
              comm_start_all_gather(pipeline->island, NULL, pipeline->part, pipeline->buffer));
    memcpy(ends, pipeline->buffer, size * sizeof *ends);
}

size_t pipeline_activation_bytes(const struct pipeline *pipeline)
{
    return pipeline->model_bytes;
}

size_t pipeline_buffer_bytes(const struct pipeline *pipeline)
{
    int replicas = pipeline->options.placement->replicas;

    return pipeline->pair && replicas > 1 ? pipeline->part * (size_t)replicas * sizeof(real) : 0;
}

struct pipeline_traffic pipeline_traffic(const struct pipeline *pipeline)
{
    struct pipeline_traffic traffic = pipeline->sent;
    struct traffic inside = comm_traffic(pipeline->island), pair = {.sent_bytes = 0};

    if (pipeline->pair)
        pair = comm_traffic(pipeline->pair);
    traffic.inside = inside.sent_bytes;
    traffic.ends = pair.sent_bytes;
    traffic.waited_s = inside.waited_s + pair.waited_s;
    if (pipeline->channel)
        traffic.waited_s += channel_traffic(pipeline->channel).waited_s;
    return traffic;
}
