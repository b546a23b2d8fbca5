/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PREDICT_H
#define MUSTER_PREDICT_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/choose/machine.h"

/* How long an algorithm will take, from what was measured of the machine. Pure. */

/* Ranks up to which plans are walked; above, the formula. */
enum { PREDICT_WALK_RANKS = 32 };

/* Walks the plans of all ranks through time: a step begins when those it comes after have ended and
 * its rank has begun the ones before it; messages of a rank leave one after the other, and so they
 * arrive; those that leave or reach a node share its NIC; a message above 4 KiB starts when its
 * receiver is ready for it; what is computed takes its rank's processor. The time is that of the
 * rank that ends last, in us. shape->rank and its topology's ring are as in a real call, ranks are
 * those of the layout. What is coded without loss shrinks as measured, and takes its rank's
 * processor at the codec's rates. -1: out of memory, the algorithm does not apply, or the plans of
 * ranks do not fit each other. */
double predict_walk_us(const struct machine *machine, const struct layout *layout,
                       const struct algorithm *algorithm, const struct plan_shape *shape,
                       enum element_type type, struct error *err);

/* By the algorithm's formula (struct algorithm_cost): messages of bytes / messages each over the
 * slowest link of the layout, as they travel on the shape's wire, and what is reduced at the
 * measured rate. */
double predict_formula_us(const struct machine *machine, const struct layout *layout,
                          const struct algorithm *algorithm, const struct plan_shape *shape,
                          enum element_type type);

#endif
