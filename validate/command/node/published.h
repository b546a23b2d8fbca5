/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PUBLISHED_H
#define MUSTER_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/slurm/cluster.h"

/* Notes that nodes publish in their Extra, for the health checks of other nodes. The controller
 * lists one node or all. If all nodes have a fault at once and each reads all, the load grows with
 * the square of their number. So each publishes its own note first, and then reads a few others,
 * one by one, before it reads all. The controller orders the writes, and each node sees those
 * before its own. So of N nodes that sample, in any order and at any speed, at most about N *
 * wanted / (HEALTH_SAMPLE_NODES + 1) find fewer than `wanted`. */

/* Opens Slurm and loads this node's record into the empty cluster. Returns 0, or -1 with err. This
 * process does not query the controller again after a failure that took longer than
 * HEALTH_ANSWER_S: it waits 20 s for an answer, and a health check that asks for its node three
 * times has 45 s. */
int published_load(const char *name, struct cluster *cluster, struct error *err);

/* Writes note (NULL: none) under the key of the node's Extra if it has changed: extra.h. Returns 0,
 * or -1 with err. */
int published_put(const struct cluster_node *node, const char *key, const char *note,
                  struct error *err);

typedef bool published_match(const struct cluster_node *other, const void *context);

/* Reads up to HEALTH_SAMPLE_NODES random nodes of the largest partition of the node `name`, until
 * `wanted` others match. Sets *nodes to the size of the partition. Returns 1 if `wanted` match,
 * else 0, also if the partition is so small or `wanted` so large that all nodes can be read
 * instead, if a node cannot be read, or if it takes longer than HEALTH_SAMPLE_S. Returns -1 with
 * err. */
int published_sample(const char *name, size_t wanted, published_match *is_match,
                     const void *context, size_t *nodes, struct error *err);

#endif
