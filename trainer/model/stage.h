/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STAGE_H
#define MUSTER_STAGE_H

#include "trainer/model/shape.h"

/* A run of layers that one rank computes: all of the model, or what is between two cuts. The first
 * stage embeds and the last one classifies; as both use wte, both have the ends (unit 0). */
struct stage {
    const struct shape *shape;
    int number, stages; /* 0 ... stages - 1 */
    int first, layers;  /* layers [first, first + layers) */
};

bool stage_is_first(const struct stage *stage);
bool stage_is_last(const struct stage *stage);

/* Whether the stage has that unit, and whether it is the one that answers for it where two have
 * it: the ends are the first stage's. */
bool stage_has(const struct stage *stage, int unit);
bool stage_owns(const struct stage *stage, int unit);

/* Elements of the unit that it has; of units before it, in an array of those that it has; of all.
 */
size_t stage_unit_size(const struct stage *stage, int unit);
size_t stage_unit_offset(const struct stage *stage, int unit);
size_t stage_parameters(const struct stage *stage);

#endif
