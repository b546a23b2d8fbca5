/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/pipeline/arrange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/parallel/pipeline/split.h"
#include "validate/harness/watch/watch.h"

int arrange_islands(char (*names)[ISLAND_BYTES], int ranks, int *order, int *numbers)
{
    int islands = 0, placed = 0;

    for (int rank = 0; rank < ranks; rank++) {
        int before = 0;

        while (strcmp(names[before], names[rank]) != 0)
            before++;
        numbers[rank] = before < rank ? numbers[before] : islands++;
    }
    for (int island = 0; island < islands; island++)
        for (int rank = 0; rank < ranks; rank++)
            if (numbers[rank] == island)
                order[placed++] = rank;
    return islands;
}

int arrange_replicas(const int *numbers, int ranks, int islands)
{
    int divisor = 0;

    for (int island = 0; island < islands; island++) {
        int size = 0;

        for (int rank = 0; rank < ranks; rank++)
            size += numbers[rank] == island;
        while (size > 0) { /* Euclid */
            int rest = divisor % size;

            divisor = size;
            size = rest;
        }
    }
    return divisor;
}

/* Gathers the islands of all ranks, and sets the stages and the order of ranks by them. */
static int gather_islands(const struct arrange_options *options, struct comm *comm,
                          const char *island, struct arrangement *made, struct error *err)
{
    int ranks = comm_rank_info(comm).ranks, stages = options->stages > 0 ? options->stages : 1, rv;
    char(*names)[ISLAND_BYTES] = comm_gather_buffer(comm, sizeof *names), own[ISLAND_BYTES] = "";
    int *order = comm_gather_buffer(comm, sizeof *order);
    int *numbers = comm_gather_buffer(comm, sizeof *numbers), replicas;

    snprintf(own, sizeof own, "%s", island);
    comm_all_gather(comm, own, sizeof own, names);
    made->islands = arrange_islands(names, ranks, order, numbers);
    replicas = arrange_replicas(numbers, ranks, made->islands);
    if (options->is_auto && options->stages == 0)
        stages = made->islands > 1 ? ranks / replicas : 1;
    rv = placement_create(ranks, stages, options->shape->layers, &made->placement, err);
    if (rv == 0 && options->is_auto && replicas % made->placement.replicas)
        rv = error_set(
            err,
            "--stages: %d stages of %d ranks do not fit into %d islands; stages of %d ranks do",
            stages, made->placement.replicas, made->islands, replicas);
    rv = comm_agree(comm, rv, err);
    if (rv == 0)
        made->names = comm_gather_buffer(comm, sizeof *made->names); /* no more stages than ranks */
    if (rv == 0 && options->is_auto)
        memcpy(made->placement.order, order, (size_t)ranks * sizeof *order);
    for (int stage = 0; made->names && stage < stages; stage++)
        memcpy(made->names[stage], names[placement_rank(&made->placement, stage, 0)], ISLAND_BYTES);
    free(names);
    free(order);
    free(numbers);
    return rv;
}

/* Returns the maximum of the ranks' values, on all of them. */
static double most(struct comm *comm, double value)
{
    int ranks = comm_rank_info(comm).ranks;
    double *all = comm_gather_buffer(comm, sizeof *all);

    comm_all_gather(comm, &value, sizeof value, all);
    for (int rank = 0; rank < ranks; rank++)
        value = fmax(value, all[rank]);
    free(all);
    return value;
}

/* Measures a layer, and the update of a parameter. */
static int measure_work(const struct pipeline_options *options, struct comm *comm,
                        struct arrangement *made, struct error *err)
{
    int stages = made->placement.stages, replicas = made->placement.replicas;
    int stage, replica, rows = pipeline_most_rows(options), rv;
    double own_s = 0, parameter_s = 0;
    long steps = 0;
    struct stage own;

    placement_find(&made->placement, comm_rank_info(comm).rank, &stage, &replica);
    own = placement_stage(&made->placement, options->shape, stage);
    made->layer_rows = rows;
    made->layer_s = comm_gather_buffer(comm, sizeof *made->layer_s); /* no more stages than ranks */
    made->parameter_s = comm_gather_buffer(comm, sizeof *made->parameter_s);
    rv = speed_of_layer(options->shape, options->compute, rows, &own_s, &steps, err);
    if (rv == 0)
        rv = speed_of_update(stage_parameters(&own), replicas, stages * replicas > 1, &parameter_s,
                             err);
    if (comm_agree(comm, rv, err) != 0)
        return -1;
    /* a slow rank has fewer steps and is not behind for it */
    for (long left = (long)most(comm, (double)steps) - steps; left > 0; left--)
        watch_step();
    for (int i = 0; i < stages; i++) {
        made->layer_s[i] = most(comm, i == stage ? own_s : 0);
        made->parameter_s[i] = most(comm, i == stage ? parameter_s : 0);
    }
    made->head_s = made->layer_s[made->placement.stages - 1] * speed_head_in_layers(options->shape);
    return 0;
}

/* Returns the slowest of the ranks' links, on all of them. */
static struct link_speed slowest(struct comm *comm, struct link_speed own)
{
    return (struct link_speed){most(comm, own.latency_s), 1 / most(comm, 1 / own.Bps)};
}

/* Measures links within stages, between stages (every second boundary at a time), and around all
 * ranks. */
static int measure_links(struct comm *comm, struct arrangement *made, struct error *err)
{
    const struct placement *placement = &made->placement;
    int stage, replica;
    struct comm *island;

    placement_find(placement, comm_rank_info(comm).rank, &stage, &replica);
    if (comm_split(comm, stage, replica, &island, err) != 0)
        return -1;
    made->inside = slowest(comm, speed_of_ring(island));
    comm_destroy(island);
    made->across = (struct link_speed){0, INFINITY};
    for (int odd = 0; odd < 2; odd++) {
        int other = stage % 2 == odd ? stage + 1 : stage - 1;
        bool has = other >= 0 && other < placement->stages;
        struct link_speed found =
            speed_of_pair(comm, has ? placement_rank(placement, other, replica) : -1);

        made->across.latency_s = fmax(made->across.latency_s, found.latency_s);
        made->across.Bps = fmin(made->across.Bps, found.Bps);
    }
    made->around = speed_of_ring(comm);
    return 0;
}

static int split(const struct arrange_options *options, struct arrangement *made, struct error *err)
{
    int stages = made->placement.stages, layers = options->shape->layers;
    double *speeds;

    if (!options->split || strcmp(options->split, "measured") == 0) {
        if (!made->is_measured)
            return 0;
        speeds = calloc((size_t)stages, sizeof *speeds);
        if (!speeds)
            return error_set(err, "cannot allocate the layer split: %m");
        for (int i = 0; i < stages; i++)
            speeds[i] = 1 / made->layer_s[i];
        split_by_speed(layers, stages, speeds, made->head_s, made->placement.layers);
        free(speeds);
        return 0;
    }
    if (strcmp(options->split, "even") == 0)
        return 0;
    return split_parse(options->split, layers, stages, made->placement.layers, err);
}

static int predict(const struct pipeline_options *options, struct arrangement *made,
                   struct error *err)
{
    const struct placement *placement = &made->placement;
    struct placement whole = {1, placement->stages * placement->replicas, NULL, NULL};
    double row_bytes = (double)options->shape->context * options->shape->channels *
                       (double)options->compute->element_bytes;
    double parameters = (double)shape_parameters(options->shape) * sizeof(real), largest = 0;
    double *stage_s = calloc((size_t)placement->stages, sizeof *stage_s);
    int rows = pipeline_most_rows(options), whole_rows, first;
    double slowest_s = 0, whole_s, parameter_s = 0;
    struct arrange_times times = {.stages = placement->stages,
                                  .microbatches = options->microbatches,
                                  .stage_s = stage_s,
                                  .microbatch_bytes = rows * row_bytes,
                                  .inside_messages = 2 * (placement->replicas - 1),
                                  .inside = made->inside,
                                  .across = made->across};

    if (!stage_s)
        return error_set(err, "cannot allocate the times of the stages: %m");
    for (int i = 0; i < placement->stages; i++) {
        struct stage stage = placement_stage(placement, options->shape, i);

        stage_s[i] = placement->layers[i] * made->layer_s[i];
        slowest_s = fmax(slowest_s, made->layer_s[i]);
        parameter_s = fmax(parameter_s, made->parameter_s[i]);
        times.update_s =
            fmax(times.update_s, (double)stage_parameters(&stage) * made->parameter_s[i]);
        largest = fmax(largest, (double)stage_parameters(&stage) * sizeof(real));
    }
    stage_s[placement->stages - 1] += made->head_s;
    times.inside_bytes = 2 * largest * (placement->replicas - 1) / placement->replicas;
    if (placement->stages > 1)
        times.ends_bytes =
            (double)shape_unit_size(options->shape, 0) * sizeof(real) / placement->replicas;
    made->step_s = arrange_step_s(&times);
    /* all layers on each rank, sequences shared out to all, each byte twice around all ranks */
    whole_rows = placement_share(options->batch, whole.replicas - 1, whole.replicas, &first);
    whole_s = (options->shape->layers + speed_head_in_layers(options->shape)) * slowest_s *
              whole_rows / (rows > 0 ? rows : 1);
    times = (struct arrange_times){
        .stages = 1,
        .microbatches = 1,
        .stage_s = &whole_s,
        .inside_bytes = 2 * parameters * (whole.replicas - 1) / whole.replicas,
        .inside_messages = 2 * (whole.replicas - 1),
        .inside = made->around,
        .update_s = (double)shape_parameters(options->shape) * parameter_s};
    made->ddp_s = arrange_step_s(&times);
    free(stage_s);
    return 0;
}

int arrangement_make(const struct arrange_options *options, struct comm *comm, const char *island,
                     struct arrangement *arrangement, struct error *err)
{
    struct pipeline_options pipeline = {options->shape, options->compute, &arrangement->placement,
                                        options->batch, options->microbatches};
    int rv;

    *arrangement = (struct arrangement){.names = NULL};
    if (gather_islands(options, comm, island, arrangement, err) != 0)
        return -1;
    if (pipeline.microbatches == 0)
        pipeline.microbatches = placement_microbatches(&arrangement->placement, options->batch);
    arrangement->microbatches = pipeline.microbatches;
    arrangement->is_measured =
        options->is_auto || (options->split && strcmp(options->split, "measured") == 0);
    if (arrangement->is_measured && (measure_work(&pipeline, comm, arrangement, err) != 0 ||
                                     measure_links(comm, arrangement, err) != 0))
        return -1;
    rv = split(options, arrangement, err);
    if (rv == 0 && arrangement->is_measured)
        rv = predict(&pipeline, arrangement, err);
    return comm_agree(comm, rv, err);
}

void arrangement_clear(struct arrangement *arrangement)
{
    placement_clear(&arrangement->placement);
    free(arrangement->names);
    free(arrangement->layer_s);
    free(arrangement->parameter_s);
    *arrangement = (struct arrangement){.names = NULL};
}
