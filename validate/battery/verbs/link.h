/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERBS_LINK_H
#define MUSTER_VERBS_LINK_H

#include "validate/battery/verbs/completion.h"
#include "validate/battery/verbs/port.h"
#include "validate/battery/verbs/verb.h"

/* Queue pairs of one port for one verb, connected to as many of another port, with the memory that
 * they use. Functions that return int give 0, or -1 with err. */

/* What the other end needs: of the port, and of a link also its queue pairs and memory. Travels as
 * it is. */
struct verbs_address {
    uint32_t queue_pairs[VERBS_QUEUE_PAIRS];
    uint32_t count, packet_number, key;
    uint64_t in, out, small; /* addresses of its memory */
    uint64_t stride_bytes;   /* from one queue pair's part of `in` to the next one's */
    uint32_t lid;
    int32_t mtu_bytes;
    int32_t gid_index, gid_type, is_ethernet;
    unsigned char gid[16];
    char port[INVENTORY_NAME];
};

enum {
    VERBS_HEADER_BYTES = 40, /* of a datagram, before what was sent: the GRH */
    VERBS_SMALL_BYTES = 64,
};

struct verbs_link {
    struct verbs_port *port;
    enum verb verb;
    int count; /* queue pairs */
    struct ibv_qp *pairs[VERBS_QUEUE_PAIRS];
    struct ibv_cq *sends, *receives;
    int send_depth, receive_depth; /* of each queue pair */
    uint32_t inline_bytes;
    struct verbs_settings settings;

    unsigned char *memory;
    size_t memory_bytes, message_bytes, stride_bytes;
    unsigned char *out, *in; /* one message; one part for each queue pair */
    unsigned char *small_out, *small_in;
    struct ibv_mr *region;
    const struct verbs_gpu_memory *gpu; /* in place of memory, for one queue pair's streams of
                                           writes; nothing here looks into it */

    int unreaped; /* pings that were sent and not yet told as done */
    uint32_t packet_number;
    struct verbs_address peer;
    struct ibv_ah *handle; /* UD's way to the peer */
    int mtu_bytes;         /* of the connection */
    struct completion_place place;
    char peer_node[64];
};

/* message_bytes: the longest. settings as given; the port's GID was chosen before. gpu: for writes
 * of one queue pair from and to memory of a GPU that has room for a message, and outlives the link;
 * NULL: memory of its own. */
int verbs_link_open(struct verbs_port *port, enum verb verb, const struct verbs_settings *settings,
                    size_t message_bytes, const struct verbs_gpu_memory *gpu,
                    struct verbs_link **link, struct error *err);
void verbs_link_close(struct verbs_link *link);

/* Without queue pairs and memory. */
void verbs_port_address(const struct verbs_port *port, struct verbs_address *address);
void verbs_link_address(const struct verbs_link *link, struct verbs_address *address);

/* Whether the two ports can talk at all, as far as their GIDs tell; node and peer name them. Pure.
 */
int verbs_addresses_fit(const struct verbs_address *own, const char *node,
                        const struct verbs_address *peer, const char *peer_node, struct error *err);

/* Both ends call it; after it, and word from the other end that it is through as well, messages may
 * go. mtu_bytes: 0 for the lower of both ports'. peer_node: for what is said of failures. */
int verbs_link_connect(struct verbs_link *link, const struct verbs_address *peer,
                       const char *peer_node, int mtu_bytes, struct error *err);

/* Posts receive buffers for each queue pair, as many as it holds. */
int verbs_link_fill(struct verbs_link *link, struct error *err);
/* One more, for that queue pair. */
int verbs_link_receive(struct verbs_link *link, int pair, struct error *err);

/* err from a completion that failed. */
int verbs_link_broken(const struct verbs_link *link, const struct ibv_wc *completion,
                      struct error *err);

#endif
