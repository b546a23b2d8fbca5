/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MEETING_H
#define MUSTER_MEETING_H

#include "validate/battery/links/channel.h"
#include "validate/battery/links/path.h"
#include "validate/battery/program.h"

/* The rails of this node, open; and what happens when two nodes meet: each rail of the one with
 * the like rail of the other, both directions one after the other. */

enum { MEETING_RAILS = 16, MEETING_ADDRESS_BYTES = 1024 };

/* What a node tells its partner. Travels as it is. */
struct offer {
    char name[INVENTORY_NAME];
    int is_open; /* up, and UCX drives it */
    double nominal_mbps;
    uint32_t address_bytes;
    unsigned char address[MEETING_ADDRESS_BYTES];
};

struct offers {
    int count;
    struct offer rails[MEETING_RAILS];
};

/* One direction of one rail of one pair, or (to -1) a rail that takes no part. Travels as it is. */
struct link_result {
    int from, to; /* nodes */
    char rail[INVENTORY_NAME], peer_rail[INVENTORY_NAME];
    double nominal_mbps;                                /* the lower of both ends'; -1 unknown */
    double latency_us, latency_low_us, latency_high_us; /* median, least, greatest */
    int latency_count;
    double bandwidth_mbps, bandwidth_low_mbps,
        bandwidth_high_mbps; /* whole, 95 % interval of parts */
    int bandwidth_count;
    double sent_bytes, counted_bytes; /* payload, and what the NIC counted; -1: it cannot */
    double damaged;
    char transport[96];
    char failure[256]; /* "" when all was measured */
};

struct rails {
    struct offers own;
    struct channel *channels[MEETING_RAILS]; /* NULL: not open */
    const struct rail *rails[MEETING_RAILS]; /* into the program's fabric */
};

struct link_results {
    struct link_result *items; /* malloc'd */
    int count, size;
};

/* Opens this node's rails. Those that are down or cannot be driven go to results. */
void rails_open(struct program *program, struct rails *rails, struct link_results *results);
void rails_close(struct rails *rails);

/* Which rail of `second` meets rail `index` of `first`: the one of the same name, else the one at
 * the same index when neither name is known at the other end; -1: none. */
int offers_match(const struct offers *first, int index, const struct offers *second);

/* Measures all rails with the partner node (both ends call it); adds what this node sent. session
 * counts directions, the same on both ends; it is advanced. */
void meeting_hold(struct program *program, struct rails *rails, int partner,
                  const struct path_plan *plan, uint64_t *session, struct link_results *results);

#endif
