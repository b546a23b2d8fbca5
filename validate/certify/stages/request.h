/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REQUEST_H
#define MUSTER_REQUEST_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

/* What the nodes' `muster certificate issue` read: a head that is the same for all and blocks
 * "node: LIST" with the results that these nodes have alike. Each node of a step gets the whole
 * text of the step, so the nodes are split into parts whose text is bounded: what is sent in all
 * grows as the nodes do, not as their square. Pure. */

struct request_node {
    const char *name;
    char *results; /* lines, each with its end */
};

struct request_part {
    struct hostlist nodes;
    char *text;
};

struct request_parts {
    struct request_part *items;
    size_t count;
};

enum { REQUEST_BYTES = 128 << 10, REQUEST_BLOCK_NODES = 1024 };

/* Sorts nodes by their results. A text is at most `most` bytes long, unless one block alone is
 * longer. Returns 0, or -1 with err and no parts. Release with request_parts_clear(). */
int request_parts_make(const char *head, struct request_node *nodes, size_t count, size_t most,
                       struct request_parts *parts, struct error *err);
void request_parts_clear(struct request_parts *parts);

#endif
