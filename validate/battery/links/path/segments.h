/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SEGMENTS_H
#define MUSTER_SEGMENTS_H

/* TCP's own counts of the data that this process sends through an interface: Linux's TCP_INFO of
 * its own sockets, which needs no privilege. Sent as a raw struct. */

struct segments {
    double sent; /* data segments, those sent again among them */
    double lost; /* sent again, without those of which the receiver said that it had them twice
                    (DSACK, RFC 2883): these were late, not lost */
};

/* Sums the counts of all TCP sockets of this process that have an address of the interface, as they
 * are now; NULL or "": none. The counts of a socket are gone when it is closed. */
void segments_read(const char *interface, struct segments *segments);

/* Sets segments to the increase between two readings; 0 if a sum went backwards, as a socket was
 * closed. */
void segments_between(const struct segments *before, const struct segments *after,
                      struct segments *segments);

#endif
