/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ADDRESS_RANGES_H
#define MUSTER_ADDRESS_RANGES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Ranges of IP addresses; IPv4 addresses are mapped to IPv6 (RFC 4291 2.5.5.2). */

struct address_range {
    struct in6_addr first, last;
};

/* Maps the address of a socket. Returns false if it is not an IP address. */
bool address_map(const struct sockaddr *from, struct in6_addr *address);

/* Gets all IP addresses of this host, also loopback, in *own, which the caller frees. Returns their
 * number, 0 if they cannot be read. */
size_t addresses_own(struct in6_addr **own);

/* Lists the source addresses that this host may use for connections: each IPv4 address, and the
 * /64 network of each IPv6 address, because a host adds temporary addresses in it (RFC 8981).
 * Loopback is left out. *ranges is folded; the caller frees it. Returns the number of ranges, 0 if
 * they cannot be read. */
size_t address_ranges_own(struct address_range **ranges);

/* Sorts the ranges and joins ranges that touch or overlap. Then joins the ranges with the smallest
 * gaps until at most `most` (1 or more) are left. Every address of a range stays covered. Returns
 * the number of ranges. */
size_t address_ranges_fold(struct address_range *ranges, size_t count, size_t most);

/* Returns whether a range contains the address. The ranges must be folded. Safe in a signal
 * handler. */
bool address_ranges_contain(const struct address_range *ranges, size_t count,
                            const struct in6_addr *address);

/* Returns the text "10.1.1.1 10.1.1.3-10.1.1.9 fe80::-fe80::ffff:ffff:ffff:ffff", malloc'd; NULL if
 * memory is out. */
char *address_ranges_text(const struct address_range *ranges, size_t count);

/* Parses such a text and appends its ranges to *ranges (NULL and 0 at first), which the caller
 * frees in any case. Returns 0, or -1 if the text is invalid or memory is out. */
int address_ranges_parse(const char *text, struct address_range **ranges, size_t *count);

#endif
