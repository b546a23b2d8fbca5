/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPEED_H
#define MUSTER_SPEED_H

#include <stdbool.h>
#include <stddef.h>

#include "trainer/compute/compute.h"
#include "trainer/model/shape.h"
#include "trainer/comm/comm.h"
#include "trainer/parallel/pipeline/step_time.h"

/* How fast this rank computes and talks, measured in a moment, for plans of pipelines. */

/* Seconds of one layer, forward and backward, of a microbatch of so many sequences: the least of
 * some turns. *steps: how often it called watch_step(), which is not the same on all ranks. Returns
 * 0, or -1 with err. */
int speed_of_layer(const struct shape *shape, const struct compute *compute, int sequences,
                   double *seconds, long *steps, struct error *err);

/* Seconds that a step takes for each of a stage's parameters, beside its layers: gradients begin at
 * zero, are looked at where several ranks' are summed (guard.h), have a norm, of which each of the
 * stage's ranks takes its share, and AdamW updates. count: parameters of the stage; of very many a
 * part is measured, the least of some turns. Returns 0, or -1 with err. */
int speed_of_update(size_t count, int replicas, bool is_summed, double *seconds, struct error *err);

/* Operations of a token in a layer, forward and backward: 72 C^2 and 12 C of each token of context
 * (Narayanan et al., SC'21, 5.1). */
double speed_layer_work(const struct shape *shape);

/* What the head costs beside a layer: their multiplications, V C and 12 C^2 of each token. */
double speed_head_in_layers(const struct shape *shape);

/* The slowest link of a ring of the communicator, each way, while all ranks send to the one behind
 * them (of one rank: no latency, infinitely many bytes). Collective, the same on all ranks. */
struct link_speed speed_of_ring(struct comm *comm);

/* The same of pairs: this rank and another one of the communicator; other: -1, none. */
struct link_speed speed_of_pair(struct comm *comm, int other);

#endif
