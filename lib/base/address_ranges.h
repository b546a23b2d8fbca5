/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ADDRESS_RANGES_H
#define MUSTER_ADDRESS_RANGES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* IP addresses as ranges, IPv4 ones as mapped to IPv6 (RFC 4291 2.5.5.2). */

struct address_range {
    struct in6_addr first, last;
};

/* Returns false for what has no IP address. */
bool address_map(const struct sockaddr *from, struct in6_addr *address);

/* All IP addresses of this host, loopback too. Returns how many, in *own to be freed by the caller;
 * or 0: they cannot be read. */
size_t addresses_own(struct in6_addr **own);

/* What connections of this host to others may come from: each IPv4 address of it, and of each IPv6
 * one its /64, where a host makes itself new ones (RFC 8981). Without loopback. Folded. Returns how
 * many, in *ranges to be freed by the caller; or 0: they cannot be read. */
size_t address_ranges_own(struct address_range **ranges);

/* Sorts the ranges and joins those that touch; then those with the smallest gaps between them until
 * no more than `most` (at least 1) are left: what was in one of them still is. Returns how many. */
size_t address_ranges_fold(struct address_range *ranges, size_t count, size_t most);

/* The ranges have to be folded. May be called in a signal handler. */
bool address_ranges_contain(const struct address_range *ranges, size_t count,
                            const struct in6_addr *address);

/* "10.1.1.1 10.1.1.3-10.1.1.9 fe80::-fe80::ffff:ffff:ffff:ffff"; malloc'd, NULL without memory. */
char *address_ranges_text(const struct address_range *ranges, size_t count);

/* Appends what such a text says to *ranges (NULL and 0 at first), which the caller frees in any
 * case. Returns 0, or -1 where it says anything else or memory is out. */
int address_ranges_parse(const char *text, struct address_range **ranges, size_t *count);

#endif
