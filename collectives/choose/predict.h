/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PREDICT_H
#define MUSTER_PREDICT_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/choose/machine.h"

/* Predicts how long an algorithm takes, from the measurements of the machine. Pure functions. */

/* Up to this number of ranks the plans are walked; above it the formula is used. */
enum { PREDICT_WALK_RANKS = 32 };

/* Walks the plans of all ranks through time and returns the time of the rank that ends last, in us.
 * A step begins when the steps it comes after have ended and its rank has begun the earlier steps
 * of its stream. A rank sends one message at a time, and receives one at a time. Messages that
 * leave or reach a node share its NIC. A message above 4 KiB starts when its receiver is ready.
 * Computing takes the rank's processor; lossless coding does so at the codec's rates, and shrinks
 * messages as measured. The shape is as in a real call, with the ranks of the layout; shape->rank
 * is ignored. Returns -1 if the algorithm does not apply, or the plans do not fit each other; NAN
 * if memory is out. */
double predict_walk_us(const struct machine *machine, const struct layout *layout,
                       const struct algorithm *algorithm, const struct plan_shape *shape,
                       enum element_type type, struct error *err);

/* Returns the time in us by the algorithm's formula (struct algorithm_cost): `messages` messages of
 * bytes / messages each over the slowest link of the layout, in the shape's wire format, and
 * reducing at the measured rate. */
double predict_formula_us(const struct machine *machine, const struct layout *layout,
                          const struct algorithm *algorithm, const struct plan_shape *shape,
                          enum element_type type);

#endif
