/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_DUPLICATES_H
#define MUSTER_JUDGE_DUPLICATES_H

#include <stdbool.h>
#include <stddef.h>

/* Finds duplicates among values that only one node may have: the addresses, MACs and GUIDs of its
 * rails and its management interface. Two nodes with the same value receive each other's packets,
 * so their measurements, and those of others with them, mean nothing. Pure. */

struct identity {
    const char *node;
    const char *kind;  /* "address", "mac", "guid" */
    const char *part;  /* "eth1" */
    const char *value; /* "10.1.1.3", without a prefix length */
};

struct duplicate {
    const struct identity *identities; /* the identities of two or more nodes, by node */
    size_t count;
    bool is_common; /* more than half of the nodes, and at least three, have it: it is intended (an
                       address behind NAT, or one announced by all) */
};

/* Sorts identities and finds values that several nodes have. node_count: the number of nodes that
 * reported identities. *duplicates is malloc'd, points into identities, and is freed by the caller.
 * Returns the number of duplicates, or -1 if memory is out. Values that need not be unique are left
 * out: loopback and IPv4 link-local addresses, MACs of zeros and those that routers share (VRRP,
 * RFC 5798). */
int duplicates_find(struct identity *identities, size_t count, size_t node_count,
                    struct duplicate **duplicates);

/* Formats "eth1 has the address 10.1.1.3, n3 has it too (eth1): ..." for the holder of the index.
 * 256 bytes are enough. */
void duplicate_message(const struct duplicate *duplicate, size_t holder, char *text, size_t size);

#endif
