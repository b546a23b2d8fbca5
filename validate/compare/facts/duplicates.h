/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_DUPLICATES_H
#define MUSTER_JUDGE_DUPLICATES_H

#include <stdbool.h>
#include <stddef.h>

/* What only one node may have: the addresses, MACs and GUIDs of its rails and its management
 * interface. Two nodes that have the same one take packets from each other, and neither their
 * measurements nor those of others with them tell anything. Pure. */

struct identity {
    const char *node;
    const char *kind;  /* "address", "mac", "guid" */
    const char *part;  /* "eth1" */
    const char *value; /* "10.1.1.3", without a prefix length */
};

struct duplicate {
    const struct identity *holders; /* several of at least two nodes, by node */
    size_t count;
    bool is_common; /* more than half of the nodes have it, and at least three: it is made so (an
                       address behind NAT, one that is announced by all) */
};

/* Sorts identities and finds what several nodes have; node_count: how many nodes told any.
 * *duplicates is malloc'd, points into identities and is the caller's to free. Returns how many, or
 * -1 when memory is out. What is no node's own is left out: loopback and IPv4 link-local addresses,
 * MACs of zeros and those that routers share (VRRP, RFC 5798). */
int duplicates_find(struct identity *identities, size_t count, size_t node_count,
                    struct duplicate **duplicates);

/* "eth1 has the address 10.1.1.3, n3 has it too (eth1): ..." for the holder of that index. 256
 * bytes hold it. */
void duplicate_message(const struct duplicate *duplicate, size_t holder, char *text, size_t size);

#endif
