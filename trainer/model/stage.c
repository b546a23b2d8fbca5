/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/model/stage.h"

bool stage_is_first(const struct stage *stage)
{
    return stage->number == 0;
}

bool stage_is_last(const struct stage *stage)
{
    return stage->number == stage->stages - 1;
}

bool stage_has(const struct stage *stage, int unit)
{
    if (unit == 0)
        return stage_is_first(stage) || stage_is_last(stage);
    return unit > stage->first && unit <= stage->first + stage->layers;
}

bool stage_owns(const struct stage *stage, int unit)
{
    return unit == 0 ? stage_is_first(stage) : stage_has(stage, unit);
}

size_t stage_unit_size(const struct stage *stage, int unit)
{
    return stage_has(stage, unit) ? shape_unit_size(stage->shape, unit) : 0;
}

size_t stage_unit_offset(const struct stage *stage, int unit)
{
    int before = unit - 1 - stage->first;

    if (unit == 0)
        return 0;
    before = before > 0 ? before : 0;
    before = before < stage->layers ? before : stage->layers;
    return stage_unit_size(stage, 0) + (size_t)before * shape_unit_size(stage->shape, 1);
}

size_t stage_parameters(const struct stage *stage)
{
    return stage_unit_size(stage, 0) + (size_t)stage->layers * shape_unit_size(stage->shape, 1);
}
