/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SEGMENTS_H
#define MUSTER_SEGMENTS_H

/* What TCP itself knows of the data that this process sends through an interface: Linux's TCP_INFO
 * of its own sockets, which needs no privilege. Travels as it is. */

struct segments {
    double sent; /* data segments, those sent again among them */
    double lost; /* sent again, without those of which the receiver said that it had them twice
                    (DSACK, RFC 2883): these were late, not lost */
};

/* Of all TCP sockets of this process that have an address of the interface, as they are now; NULL
 * or "": none. What a socket has counted goes with it when it is closed. */
void segments_read(const char *interface, struct segments *segments);

/* What came between two readings; a sum that went backwards has lost a socket: 0. */
void segments_between(const struct segments *before, const struct segments *after,
                      struct segments *segments);

#endif
