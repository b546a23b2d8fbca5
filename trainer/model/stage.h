/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STAGE_H
#define MUSTER_STAGE_H

#include "trainer/model/shape.h"

/* Consecutive layers that one rank computes: all of the model, or a stage of a pipeline. The first
 * stage embeds and the last one classifies; as both use wte, both have the ends (unit 0). */
struct stage {
    const struct shape *shape;
    int number, stages; /* 0 ... stages - 1 */
    int first, layers;  /* layers [first, first + layers) */
};

bool stage_is_first(const struct stage *stage);
bool stage_is_last(const struct stage *stage);

/* Whether the stage has that unit, and whether it owns it: two stages may have the ends, which the
 * first one owns. */
bool stage_has(const struct stage *stage, int unit);
bool stage_owns(const struct stage *stage, int unit);

/* Return the elements of the unit in the stage (0: it does not have it); the offset of the unit in
 * an array of the stage's units; the elements of all its units. */
size_t stage_unit_size(const struct stage *stage, int unit);
size_t stage_unit_offset(const struct stage *stage, int unit);
size_t stage_parameters(const struct stage *stage);

#endif
