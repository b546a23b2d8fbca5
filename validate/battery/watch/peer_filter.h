/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PEER_FILTER_H
#define MUSTER_PEER_FILTER_H

#include <linux/filter.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

/* Listening sockets of this process, whatever library opened them (MPI, UCX), that hear the nodes
 * of the run alone: a packet from any other address is dropped by the kernel before a connection is
 * made. A classic BPF program on the socket (socket(7), SO_ATTACH_FILTER), which needs no
 * privilege. It keeps strangers' machines out, not other processes of the run's own nodes. */

enum { PEER_ADDRESSES = 32, PEER_FILTER_MOST = 512 };

/* The addresses of one node; IPv4 ones as mapped. */
struct peer_addresses {
    uint32_t count, is_cut; /* is_cut: it has more */
    struct in6_addr addresses[PEER_ADDRESSES];
};

/* Those of this node, of all interfaces that are up. */
void peer_addresses_read(struct peer_addresses *own);

/* The program that lets the nodes' addresses and this host itself pass. Neighboring addresses are
 * ranges, and where there are very many the smallest gaps between them pass too; of IPv6 the first
 * 64 bits count. Returns the number of instructions, or 0: the nodes' addresses are not all known
 * or it would be too long. */
size_t peer_filter_make(const struct peer_addresses *nodes, size_t count,
                        struct sock_filter program[PEER_FILTER_MOST]);

/* On all TCP sockets of this process that listen. Returns how many now have it. */
int peer_filter_apply(const struct sock_filter *program, size_t length);

#endif
