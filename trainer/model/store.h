/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STORE_H
#define MUSTER_STORE_H

#include "trainer/real.h"

/* Where the walk gets a unit's parameters and puts their gradients: whole arrays of
 * shape_unit_size() elements. A store may gather them from other ranks, free them, and sum
 * gradients with other ranks' as soon as they are complete. The order of calls is the same in each
 * walk: forward units 0, 1 ... layers, 0 for the head; backward layers ... 1. */
struct store {
    /* A unit's parameters, valid until they are released. */
    const real *(*parameters)(void *context, int unit);
    void (*release)(void *context, int unit);
    /* A unit's gradients, valid until they are completed. The first walk of a step sets them,
     * whatever they were; the others add to them. */
    real *(*gradients)(void *context, int unit);
    /* Called in the last walk of a step, when the unit's gradients are complete. */
    void (*complete)(void *context, int unit);
    /* Called between pieces of a unit's work: advances communication with other ranks. */
    void (*progress)(void *context);
    void *context;

    /* Called with a unit's gradients before complete(); may be NULL. */
    void (*check_gradients)(void *context, int unit, real *gradients);
    void *check_context;
};

#endif
