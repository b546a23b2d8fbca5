/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/pipeline/forecast.h"

#include "trainer/parallel/pipeline/schedule.h"

/* `count` rounded up to a multiple of `parts`. */
static double padded(size_t count, int parts)
{
    size_t each = (count + (size_t)parts - 1) / (size_t)parts;

    return (double)each * parts;
}

void forecast_make(const struct pipeline_options *options, struct forecast *stages)
{
    const struct placement *placement = options->placement;
    const struct shape *shape = options->shape;
    double through = (double)options->batch * shape->context * shape->channels *
                     (double)options->compute->element_bytes;
    int replicas = placement->replicas;
    double ends = padded(shape_unit_size(shape, 0), replicas) * sizeof(real);

    for (int i = 0; i < placement->stages; i++) {
        struct stage stage = placement_stage(placement, shape, i);
        double parameters = (double)stage_parameters(&stage) * sizeof(real);
        int held = schedule_held(i, placement->stages, options->microbatches);
        struct model_options model = {
            {shape, options->compute, pipeline_most_rows(options)}, stage, held};
        bool has_ends = placement->stages > 1 && stage_has(&stage, 0);

        stages[i] = (struct forecast){
            .stage = stage,
            .state_bytes = 4 * parameters,
            .buffer_bytes = has_ends && replicas > 1 ? ends : 0,
            .activation_bytes = (double)model_bytes(&model),
            .forward = stage_is_last(&stage) ? 0 : through,
            .backward = stage_is_first(&stage) ? 0 : through,
            .ends = has_ends ? ends : 0,
            .inside = (replicas - 1) * (2 * parameters + (has_ends ? ends : 0)),
        };
    }
}
