/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPEED_H
#define MUSTER_SPEED_H

#include <stdbool.h>
#include <stddef.h>

#include "trainer/comm/comm.h"
#include "trainer/compute/compute.h"
#include "trainer/model/shape.h"
#include "trainer/parallel/pipeline/step_time.h"

/* Measures in a moment how fast this rank computes and communicates, to plan pipelines. */

/* Sets seconds to the time of one layer, forward and backward, for a microbatch of `sequences`
 * sequences: the least of some turns. Sets steps to the number of its calls of watch_step(), which
 * differs between ranks. Returns 0, or -1 with err. */
int speed_of_layer(const struct shape *shape, const struct compute *compute, int sequences,
                   double *seconds, long *steps, struct error *err);

/* Sets seconds to the time of a step for each parameter of a stage, besides its layers: gradients
 * are set to zero, checked if several ranks' are summed (guard.h), their norm is computed, by each
 * of the stage's ranks for its share, and AdamW updates. count: parameters of the stage; of very
 * many only a part is measured. The least of some turns. Returns 0, or -1 with err. */
int speed_of_update(size_t count, int replicas, bool is_summed, double *seconds, struct error *err);

/* Returns the operations of a token in a layer, forward and backward: 72 C^2, and 12 C for each
 * token of context (Narayanan et al., SC'21, 5.1). */
double speed_layer_work(const struct shape *shape);

/* Returns the cost of the head in layers: the ratio of their multiplications per token, V C and 12
 * C^2. */
double speed_head_in_layers(const struct shape *shape);

/* Returns the speed of the slowest link of a ring of the communicator, each way, while each rank
 * sends to the next (with one rank: latency 0, infinite bandwidth). Collective, the same on all
 * ranks. */
struct link_speed speed_of_ring(struct comm *comm);

/* The same for pairs: this rank and the rank `other` of the communicator; -1: none. */
struct link_speed speed_of_pair(struct comm *comm, int other);

#endif
