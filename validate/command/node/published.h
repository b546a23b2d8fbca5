/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PUBLISHED_H
#define MUSTER_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/slurm/cluster.h"

/* What nodes publish of themselves in their Extra, for the health checks of others. The controller
 * lists one node or all of them. Where all have a fault at once, each reading all of them is a load
 * that grows with the square of their number; so each publishes its own first, and then reads a few
 * others, one by one, before it reads all. The controller puts the writings in an order, and each
 * sees those before its own: of N nodes that ask, in whatever order and however fast, no more than
 * about N * wanted / (HEALTH_SAMPLE_NODES + 1) find fewer than `wanted`. */

/* Writes note, NULL for none, under the key of the node's Extra where it is another: extra.h.
 * Returns 0, or -1 with err. */
int published_put(const struct cluster_node *node, const char *key, const char *note,
                  struct error *err);

typedef bool published_match(const struct cluster_node *other, const void *context);

/* Reads HEALTH_SAMPLE_NODES nodes at random of the largest partition of the node that has this
 * name, which has *nodes, until `wanted` others match. Returns 1 when so many do, else 0: also
 * where the partition is so small, or so many are wanted, that all may be read as well, or it takes
 * longer than HEALTH_SAMPLE_S; -1 with err. */
int published_sample(const char *name, size_t wanted, published_match *is_match,
                     const void *context, size_t *nodes, struct error *err);

#endif
