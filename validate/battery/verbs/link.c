/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/verbs/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 4.096 us x 2^16 = 0.27 s for an answer, and six retries: a dead path is known in about two
 * seconds to eight, depending on the device. A slow path, on which the messages of many queue pairs
 * wait for each other, is not taken for dead. Seven retries would be forever for soft-RoCE. A
 * receiver that is not ready is tried again after 41 ms (code 24), six times. */
enum { ANSWER_TIMEOUT = 16, RETRIES = 6, NOT_READY_TIMER = 24, NOT_READY_RETRIES = 6 };
enum { DEPTH = 128, LEAST_DEPTH = 8, DEPTH_OF_ALL = 512, RECEIVES_PER_SEND = 4 };
enum { HOPS = 64 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static void choose_depths(struct verbs_link *link)
{
    const struct ibv_device_attr *limits = &link->port->limits;
    int depth = least(DEPTH, DEPTH_OF_ALL / link->count), most;

    link->send_depth = least(depth < LEAST_DEPTH ? LEAST_DEPTH : depth, limits->max_qp_wr);
    most = least(limits->max_qp_wr, limits->max_cqe / link->count);
    link->receive_depth = least(RECEIVES_PER_SEND * link->send_depth, most);
    link->send_depth = least(link->send_depth, most);
}

static int use_gpu_memory(struct verbs_link *link, struct error *err)
{
    link->in = link->out = (unsigned char *)(uintptr_t)link->gpu->address;
    link->stride_bytes = link->message_bytes;
    link->region = verbs_register_gpu(link->port, link->gpu, err);
    return link->region ? 0 : -1;
}

static int allocate_memory(struct verbs_link *link, struct error *err)
{
    size_t page = 4096, count = (size_t)link->count;

    link->stride_bytes = (link->message_bytes + VERBS_HEADER_BYTES + 63) / 64 * 64;
    link->memory_bytes = 4 * VERBS_SMALL_BYTES + link->message_bytes + count * link->stride_bytes;
    link->memory_bytes = (link->memory_bytes + page - 1) / page * page;
    link->memory = aligned_alloc(page, link->memory_bytes);
    if (!link->memory)
        return error_set(err, "out of memory");
    memset(link->memory, 0, link->memory_bytes);
    link->small_out = link->memory;
    link->small_in = link->memory + 2 * VERBS_SMALL_BYTES; /* a datagram's header before it */
    link->in = link->memory + 4 * VERBS_SMALL_BYTES;
    link->out = link->in + count * link->stride_bytes;
    link->region = verbs_register(link->port, link->memory, link->memory_bytes, err);
    return link->region ? 0 : -1;
}

static struct ibv_qp *make_pair(struct verbs_link *link, struct error *err)
{
    struct ibv_qp_init_attr wanted = {
        .send_cq = link->sends,
        .recv_cq = link->receives,
        .cap = {.max_send_wr = (uint32_t)link->send_depth,
                .max_recv_wr = (uint32_t)link->receive_depth,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = VERBS_SMALL_BYTES},
        .qp_type = link->verb == VERB_UD ? IBV_QPT_UD : IBV_QPT_RC,
    };
    struct ibv_qp *pair = ibv_create_qp(link->port->domain, &wanted);

    if (!pair) {
        wanted.cap.max_inline_data = 0;
        pair = ibv_create_qp(link->port->domain, &wanted);
    }
    if (!pair)
        error_set(err, "%s cannot create a queue pair for %s: %m", link->port->name,
                  verb_name(link->verb));
    else
        link->inline_bytes = wanted.cap.max_inline_data;
    return pair;
}

static int init_pair(struct verbs_link *link, struct ibv_qp *pair, struct error *err)
{
    struct ibv_qp_attr attributes = {
        .qp_state = IBV_QPS_INIT,
        .port_num = (uint8_t)link->port->number,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
        .qkey = VERBS_DATAGRAM_KEY,
    };
    int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
               (link->verb == VERB_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
    int failure = ibv_modify_qp(pair, &attributes, mask);

    if (failure != 0)
        return error_set(err, "%s: cannot set up a queue pair: %s", link->port->name,
                         strerror(failure));
    return 0;
}

static int make_pairs(struct verbs_link *link, struct error *err)
{
    int count = link->count;

    link->sends = ibv_create_cq(link->port->context, count * link->send_depth, NULL, NULL, 0);
    link->receives = ibv_create_cq(link->port->context, count * link->receive_depth, NULL, NULL, 0);
    if (!link->sends || !link->receives)
        return error_set(err, "%s cannot create a completion queue: %m", link->port->name);
    for (int i = 0; i < count; i++) {
        link->pairs[i] = make_pair(link, err);
        if (!link->pairs[i] || init_pair(link, link->pairs[i], err) != 0)
            return -1;
    }
    return 0;
}

int verbs_link_open(struct verbs_port *port, enum verb verb, const struct verbs_settings *settings,
                    size_t message_bytes, const struct verbs_gpu_memory *gpu,
                    struct verbs_link **link, struct error *err)
{
    struct verbs_link *made = calloc(1, sizeof *made);

    if (!made)
        return error_set(err, "out of memory");
    made->port = port;
    made->verb = verb;
    made->settings = *settings;
    made->count = gpu ? 1 : settings->queue_pairs;
    made->message_bytes = message_bytes;
    made->gpu = gpu;
    made->packet_number = (uint32_t)rand() & 0xffffff;
    choose_depths(made);
    if ((gpu ? use_gpu_memory(made, err) : allocate_memory(made, err)) != 0 ||
        make_pairs(made, err) != 0) {
        verbs_link_close(made);
        return -1;
    }
    *link = made;
    return 0;
}

void verbs_link_close(struct verbs_link *link)
{
    if (!link)
        return;
    if (link->handle)
        ibv_destroy_ah(link->handle);
    for (int i = 0; i < link->count; i++)
        if (link->pairs[i])
            ibv_destroy_qp(link->pairs[i]);
    if (link->sends)
        ibv_destroy_cq(link->sends);
    if (link->receives)
        ibv_destroy_cq(link->receives);
    if (link->region)
        ibv_dereg_mr(link->region);
    free(link->memory);
    free(link);
}

void verbs_port_address(const struct verbs_port *port, struct verbs_address *address)
{
    *address = (struct verbs_address){
        .lid = port->attributes.lid,
        .mtu_bytes = verbs_mtu_bytes(port->attributes.active_mtu),
        .gid_index = port->gid_index,
        .gid_type = (int32_t)port->gid_type,
        .is_ethernet = port->attributes.link_layer == IBV_LINK_LAYER_ETHERNET,
    };
    memcpy(address->gid, port->gid.raw, sizeof address->gid);
    snprintf(address->port, sizeof address->port, "%s", port->name);
}

void verbs_link_address(const struct verbs_link *link, struct verbs_address *address)
{
    verbs_port_address(link->port, address);
    address->count = (uint32_t)link->count;
    address->packet_number = link->packet_number;
    address->key = link->region->rkey;
    address->in = (uint64_t)(uintptr_t)link->in;
    address->out = (uint64_t)(uintptr_t)link->out;
    address->small = (uint64_t)(uintptr_t)link->small_in;
    address->stride_bytes = link->stride_bytes;
    for (int i = 0; i < link->count; i++)
        address->queue_pairs[i] = link->pairs[i]->qp_num;
}

static bool is_ipv4(const struct verbs_address *address)
{
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    return memcmp(address->gid, mapped, sizeof mapped) == 0;
}

static void describe_gid(const struct verbs_address *address, char *text, size_t size)
{
    union ibv_gid gid;
    char number[64];

    memcpy(gid.raw, address->gid, sizeof gid.raw);
    verbs_gid_text(&gid, number, sizeof number);
    snprintf(text, size, "GID index %d (%s, %s)", (int)address->gid_index,
             gid_type_name((enum gid_type)address->gid_type), number);
}

int verbs_addresses_fit(const struct verbs_address *own, const char *node,
                        const struct verbs_address *peer, const char *peer_node, struct error *err)
{
    char own_gid[128], peer_gid[128];

    if (own->is_ethernet != peer->is_ethernet)
        return error_set(err,
                         "%s of %s is %s, %s of %s is %s: they are on different fabrics; name the "
                         "rails of one fabric in FabricInterfaces",
                         own->port, node, own->is_ethernet ? "RoCE" : "InfiniBand", peer->port,
                         peer_node, peer->is_ethernet ? "RoCE" : "InfiniBand");
    if (own->count != peer->count)
        return error_set(
            err, "%s of %s has %u queue pairs, %s of %s has %u: use the same options on all nodes",
            own->port, node, own->count, peer->port, peer_node, peer->count);
    if (!own->is_ethernet || (own->gid_type == peer->gid_type && is_ipv4(own) == is_ipv4(peer)))
        return 0;
    describe_gid(own, own_gid, sizeof own_gid);
    describe_gid(peer, peer_gid, sizeof peer_gid);
    return error_set(err,
                     "%s of %s uses %s, %s of %s %s: connections between them hang; use GIDs of "
                     "the same kind on all nodes (UCX_IB_GID_INDEX, NCCL_IB_GID_INDEX)",
                     own->port, node, own_gid, peer->port, peer_node, peer_gid);
}

static struct ibv_ah_attr address_of(const struct verbs_link *link)
{
    const struct verbs_address *peer = &link->peer;
    struct ibv_ah_attr address = {.dlid = (uint16_t)peer->lid,
                                  .sl = (uint8_t)link->settings.service_level,
                                  .port_num = (uint8_t)link->port->number,
                                  .is_global = link->port->gid_index >= 0};

    if (address.is_global) {
        memcpy(address.grh.dgid.raw, peer->gid, sizeof peer->gid);
        address.grh.sgid_index = (uint8_t)link->port->gid_index;
        address.grh.hop_limit = HOPS;
        address.grh.traffic_class = (uint8_t)link->settings.traffic_class;
    }
    return address;
}

/* Makes a queue pair "ready to receive". Returns 0 or an error number. */
static int make_receive(struct verbs_link *link, int index)
{
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_RTR};

    if (link->verb == VERB_UD)
        return ibv_modify_qp(link->pairs[index], &attributes, IBV_QP_STATE);
    attributes.path_mtu = verbs_mtu_of(link->mtu_bytes);
    attributes.dest_qp_num = link->peer.queue_pairs[index];
    attributes.rq_psn = link->peer.packet_number;
    attributes.max_dest_rd_atomic = (uint8_t)least(link->port->limits.max_qp_rd_atom, 16);
    attributes.min_rnr_timer = NOT_READY_TIMER;
    attributes.ah_attr = address_of(link);
    return ibv_modify_qp(link->pairs[index], &attributes,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

/* Makes a queue pair "ready to send". Returns 0 or an error number. */
static int make_send(struct verbs_link *link, int index)
{
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_RTS, .sq_psn = link->packet_number};

    if (link->verb == VERB_UD)
        return ibv_modify_qp(link->pairs[index], &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN);
    attributes.timeout = ANSWER_TIMEOUT;
    attributes.retry_cnt = RETRIES;
    attributes.rnr_retry = NOT_READY_RETRIES;
    attributes.max_rd_atomic = (uint8_t)least(link->port->limits.max_qp_init_rd_atom, 16);
    return ibv_modify_qp(link->pairs[index], &attributes,
                         IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                             IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

int verbs_link_connect(struct verbs_link *link, const struct verbs_address *peer,
                       const char *peer_node, int mtu_bytes, struct error *err)
{
    struct ibv_ah_attr address;
    int failure = 0, highest;

    link->peer = *peer;
    snprintf(link->peer_node, sizeof link->peer_node, "%s", peer_node);
    link->ends =
        (struct completion_ends){link->verb, link->port->name, link->peer.port, link->peer_node};
    highest = least(verbs_mtu_bytes(link->port->attributes.active_mtu), (int)peer->mtu_bytes);
    link->mtu_bytes = mtu_bytes > 0 && mtu_bytes < highest ? mtu_bytes : highest;
    for (int i = 0; i < link->count && failure == 0; i++) {
        failure = make_receive(link, i);
        if (failure == 0)
            failure = make_send(link, i);
    }
    if (failure == 0 && link->verb == VERB_UD) {
        address = address_of(link);
        link->handle = ibv_create_ah(link->port->domain, &address);
        failure = link->handle ? 0 : errno;
    }
    if (failure != 0) {
        char own[128], other[128];
        struct verbs_address mine;

        verbs_link_address(link, &mine);
        describe_gid(&mine, own, sizeof own);
        describe_gid(peer, other, sizeof other);
        return error_set(err, "%s cannot reach %s of %s: %s; %s to %s", link->port->name,
                         peer->port, peer_node, strerror(failure), own, other);
    }
    return 0;
}

int verbs_link_receive(struct verbs_link *link, int pair, struct error *err)
{
    struct ibv_sge piece = {
        .addr = (uint64_t)(uintptr_t)(link->in + (size_t)pair * link->stride_bytes),
        .length = (uint32_t)(link->message_bytes + VERBS_HEADER_BYTES),
        .lkey = link->region->lkey,
    };
    struct ibv_recv_wr work = {.wr_id = (uint64_t)pair, .sg_list = &piece, .num_sge = 1}, *bad;
    int failure = ibv_post_recv(link->pairs[pair], &work, &bad);

    if (failure != 0)
        return error_set(err, "%s: cannot post a receive buffer: %s", link->port->name,
                         strerror(failure));
    return 0;
}

int verbs_link_fill(struct verbs_link *link, struct error *err)
{
    for (int i = 0; i < link->receive_depth; i++)
        for (int pair = 0; pair < link->count; pair++)
            if (verbs_link_receive(link, pair, err) != 0)
                return -1;
    return 0;
}

/* Requests that were posted after one that failed are flushed, and some devices report these
 * first. */
int verbs_link_broken(const struct verbs_link *link, const struct ibv_wc *completion,
                      struct error *err)
{
    struct ibv_wc cause = *completion, next;

    while (cause.status == IBV_WC_WR_FLUSH_ERR && ibv_poll_cq(link->sends, 1, &next) > 0)
        if (next.status != IBV_WC_SUCCESS)
            cause = next;
    completion_explain((int)cause.status, cause.vendor_err, &link->ends, err->text,
                       sizeof err->text);
    return -1;
}
