/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STORE_H
#define MUSTER_STORE_H

#include "trainer/real.h"

/* Where the walk gets a unit's parameters and leaves their gradients: whole arrays of
 * shape_unit_size() elements. What is behind it may gather them from other ranks, free them, and
 * send gradients off as soon as they are complete. The order of calls is the same in each walk:
 * forward units 0, 1 ... layers, 0 for the head; backward layers ... 1. */
struct store {
    /* Valid until they are released. */
    const real *(*parameters)(void *context, int unit);
    void (*release)(void *context, int unit);
    /* The first walk of a step sets them, whatever they were, the others add to them. Valid until
     * they are completed. */
    real *(*gradients)(void *context, int unit);
    /* In the last walk of a step. */
    void (*complete)(void *context, int unit);
    /* Between pieces of a unit's work: lets what is under way with other ranks get on. */
    void (*progress)(void *context);
    void *context;

    /* Sees a unit's gradients before they are completed; NULL: nobody does. */
    void (*look)(void *looker, int unit, real *gradients);
    void *looker;
};

#endif
