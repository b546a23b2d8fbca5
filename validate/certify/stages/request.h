/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REQUEST_H
#define MUSTER_REQUEST_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

/* The standard input of the nodes' `muster certificate issue`: a head that is the same for all, and
 * blocks "node: LIST" with the results that these nodes have in common. Each node of a step gets
 * the step's whole text, so the nodes are split into parts of bounded text: the total sent grows
 * linearly with the nodes, not as their square. Pure. */

struct request_node {
    const char *name;
    char *results; /* lines, each ending in a newline */
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

/* Sorts nodes by their results and splits them into parts. A text is at most `most` bytes long,
 * unless one block alone is longer. Returns 0, or -1 with err and no parts. Release with
 * request_parts_clear(). */
int request_parts_make(const char *head, struct request_node *nodes, size_t count, size_t most,
                       struct request_parts *parts, struct error *err);
void request_parts_clear(struct request_parts *parts);

#endif
