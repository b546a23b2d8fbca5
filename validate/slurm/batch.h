/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATCH_H
#define MUSTER_BATCH_H

#include <stddef.h>

#include "lib/base/error.h"

/* One kind of change to many nodes, each with a text: the reason of its drain, its Comment, its
 * Extra. Nodes with the same text share a request to the controller: there are as many requests as
 * different texts, however many nodes there are. */
struct batch {
    struct batch_node {
        char *name, *text;
        size_t order; /* of its addition */
    } * nodes;
    size_t count;
};

/* The batch keeps copies. Returns 0, or -1 when memory is out. */
int batch_add(struct batch *batch, const char *name, const char *text);

/* One of cluster_drain(), cluster_set_comment() ...; nodes in Slurm's notation. */
typedef int batch_change_fn(const char *nodes, const char *text, struct error *err);
/* Reports the result for a node; err NULL: it is changed. */
typedef void batch_done_fn(const char *name, const char *text, const struct error *err,
                           void *context);

enum { BATCH_FAILURES = 64 };

/* Makes the changes and empties the batch. A list that the controller refuses is split in halves,
 * so that only the nodes at fault fail; after BATCH_FAILURES refusals nothing more is requested.
 * done (may be NULL) is called once for each node, in the order of their addition. Returns 0 if all
 * nodes are changed, else -1 with the last err. */
int batch_apply(struct batch *batch, batch_change_fn *change, batch_done_fn *done, void *context,
                struct error *err);
void batch_clear(struct batch *batch);

#endif
