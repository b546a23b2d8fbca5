/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERBS_LINK_H
#define MUSTER_VERBS_LINK_H

#include "validate/battery/verbs/completion.h"
#include "validate/battery/verbs/port.h"
#include "validate/battery/verbs/verb.h"

/* Queue pairs of one port for one verb, connected to as many of another port, with the memory that
 * they use. Functions that return int give 0, or -1 with err. */

/* What the other end needs: of the port, and of a link also its queue pairs and memory. Sent as a
 * raw struct. */
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
    VERBS_DATAGRAM_KEY = 0x11111111, /* of both ends */
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

    int unreaped; /* pings that were sent and whose completion was not polled yet */
    uint32_t packet_number;
    struct verbs_address peer;
    struct ibv_ah *handle; /* of UD: address of the peer */
    int mtu_bytes;         /* of the connection */
    struct completion_ends ends;
    char peer_node[64];
};

/* Opens a link. message_bytes: of the longest message. The port's GID was chosen before. gpu: for
 * writes of one queue pair from and to memory of a GPU, which has room for a message and outlives
 * the link; NULL: memory of its own. */
int verbs_link_open(struct verbs_port *port, enum verb verb, const struct verbs_settings *settings,
                    size_t message_bytes, const struct verbs_gpu_memory *gpu,
                    struct verbs_link **link, struct error *err);
void verbs_link_close(struct verbs_link *link);

/* Sets the address of a port, without queue pairs and memory. */
void verbs_port_address(const struct verbs_port *port, struct verbs_address *address);
void verbs_link_address(const struct verbs_link *link, struct verbs_address *address);

/* Checks whether the two ports can communicate, as far as their addresses show. node, peer_node:
 * names for err. Pure. */
int verbs_addresses_fit(const struct verbs_address *own, const char *node,
                        const struct verbs_address *peer, const char *peer_node, struct error *err);

/* Connects the link. Both ends call it. Messages may be sent when this end knows that the other one
 * is done as well. mtu_bytes: 0 for the lower of both ports'. peer_node: for error messages. */
int verbs_link_connect(struct verbs_link *link, const struct verbs_address *peer,
                       const char *peer_node, int mtu_bytes, struct error *err);

/* Posts receive buffers for each queue pair, as many as it holds. */
int verbs_link_fill(struct verbs_link *link, struct error *err);
/* Posts one more for that queue pair. */
int verbs_link_receive(struct verbs_link *link, int pair, struct error *err);

/* Sets err from a completion that failed. Returns -1. */
int verbs_link_broken(const struct verbs_link *link, const struct ibv_wc *completion,
                      struct error *err);

#endif
