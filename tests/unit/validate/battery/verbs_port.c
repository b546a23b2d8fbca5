/* SPDX-License-Identifier: Apache-2.0 */
/* An adapter with two ports, the first one down. Checks that verbs calls name the second port.
 * The functions below replace libibverbs. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "validate/battery/verbs/link.h"

enum { GID_INDEX = 3 };

/* The port number of the last call of each kind; 0: no call. */
static struct {
    int state, gid, pair, address_port, datagram_address_port;
    int dma_buf_errno; /* errno of a driver that is asked for a dma-buf */
} queried_ports;

static struct ibv_device adapter = {.name = "mlx5_0"}, other = {.name = "mlx5_1"};
static struct ibv_context context;
static struct ibv_pd domain;
static struct ibv_mr region;
static struct ibv_ah handle;

struct ibv_device **ibv_get_device_list(int *count)
{
    static struct ibv_device *list[] = {&other, &adapter, NULL};

    if (count)
        *count = 2;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    return device == &adapter ? &context : NULL;
}

int ibv_close_device(struct ibv_context *closed)
{
    return 0;
}

int ibv_query_device(struct ibv_context *used_context, struct ibv_device_attr *attributes)
{
    *attributes = (struct ibv_device_attr){.max_qp_wr = 1024, .max_cqe = 4096, .max_qp_rd_atom = 1};
    return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *used_context, uint8_t number,
                   struct _compat_ibv_port_attr *result)
{
    struct ibv_port_attr *attributes = (struct ibv_port_attr *)(void *)result;

    queried_ports.state = number;
    attributes->state = number == 2 ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
    attributes->active_mtu = number == 2 ? IBV_MTU_4096 : IBV_MTU_1024;
    attributes->gid_tbl_len = 8;
    attributes->link_layer = IBV_LINK_LAYER_ETHERNET;
    return 0;
}

int ibv_query_gid(struct ibv_context *used_context, uint8_t number, int index, union ibv_gid *gid)
{
    queried_ports.gid = number;
    memset(gid, 0, sizeof *gid);
    if (index == GID_INDEX)
        inet_pton(AF_INET6, number == 2 ? "::ffff:10.0.2.1" : "::ffff:10.0.1.1", gid->raw);
    return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *used_context)
{
    return &domain;
}

int ibv_dealloc_pd(struct ibv_pd *freed)
{
    return 0;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *domain_used, void *memory, size_t size_bytes, int access)
{
    return &region;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *domain_used, void *memory, size_t size_bytes,
                                uint64_t iova, unsigned access)
{
    return &region;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *domain_used, uint64_t offset, size_t size_bytes,
                                 uint64_t iova, int fd, int access)
{
    errno = queried_ports.dma_buf_errno;
    return NULL;
}

int ibv_dereg_mr(struct ibv_mr *freed)
{
    return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *used_context, int room, void *cookie,
                             struct ibv_comp_channel *channel, int vector)
{
    return calloc(1, sizeof(struct ibv_cq));
}

int ibv_destroy_cq(struct ibv_cq *queue)
{
    free(queue);
    return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *domain_used, struct ibv_qp_init_attr *wanted)
{
    return calloc(1, sizeof(struct ibv_qp));
}

int ibv_destroy_qp(struct ibv_qp *pair)
{
    free(pair);
    return 0;
}

int ibv_modify_qp(struct ibv_qp *pair, struct ibv_qp_attr *attributes, int mask)
{
    if (mask & IBV_QP_PORT)
        queried_ports.pair = attributes->port_num;
    if (mask & IBV_QP_AV)
        queried_ports.address_port = attributes->ah_attr.port_num;
    return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *domain_used, struct ibv_ah_attr *attributes)
{
    queried_ports.datagram_address_port = attributes->port_num;
    return &handle;
}

int ibv_destroy_ah(struct ibv_ah *freed)
{
    return 0;
}

static struct rdma_port port_of(int number)
{
    struct rdma_port port = {.device = "mlx5_0", .port = number, .link_layer = LINK_ETHERNET};

    port.gid_count = 1;
    port.gids[0] = (struct gid){.index = GID_INDEX, .type = GID_ROCE_V2};
    return port;
}

static void check_connection(struct verbs_port *port, enum verb verb)
{
    struct verbs_settings settings = verbs_defaults();
    struct verbs_address address;
    struct verbs_link *link = NULL;

    is_int(verbs_link_open(port, verb, &settings, 4096, NULL, &link, NULL), 0, "%s opens",
           verb_name(verb));
    if (!link)
        return;
    verbs_link_address(link, &address);
    is_str(address.port, "mlx5_0:2", "... its address names the port");
    is_int(verbs_link_connect(link, &address, "n2", 0, NULL), 0, "... connects");
    is_int(queried_ports.pair, 2, "... its queue pairs are on the second port");
    is_int(link->mtu_bytes, 4096, "... with the second port's MTU");
    verbs_link_close(link);
}

/* Checks the text on GPU memory when the driver returns this errno for a dma-buf without a file. */
static void check_gpu_memory(struct verbs_port *port, int answer, const char *root,
                             bool is_available, const char *expected)
{
    char text[320];

    queried_ports.dma_buf_errno = answer;
    is_int(verbs_probe_gpu_memory(port, root, text, sizeof text), is_available,
           "memory of GPUs, %s", is_available ? "available" : "not available");
    is_str(text, expected, "... with the reason");
}

static void test_gpu_memory(struct verbs_port *port)
{
    char *root = tree_unpack("");

    check_gpu_memory(
        port, EBADF, root, true,
        "dma-buf: available; peer memory: not available, no peer memory client is loaded "
        "(nvidia_peermem)");
    check_gpu_memory(
        port, EOPNOTSUPP, root, false,
        "dma-buf: not available, the driver of mlx5_0:2 does not support it (Operation not "
        "supported); peer memory: not available, no peer memory client is loaded (nvidia_peermem)");
    tree_put(root, "sys/module/nvidia_peermem/refcnt", "0\n");
    check_gpu_memory(
        port, EPERM, root, true,
        "dma-buf: not available, the driver of mlx5_0:2 refuses it (Operation not permitted); "
        "peer memory: available, nvidia_peermem is loaded");
    tree_remove(root);
}

int main(void)
{
    struct rdma_port first = port_of(1), second = port_of(2);
    struct verbs_port *port = NULL;
    struct error err = {""};
    char gid[64];

    is_int(verbs_port_open(&first, GID_INDEX, &port, &err), -1, "the first port is down");
    is_str(err.text, "mlx5_0:1 is down, not ACTIVE; check cable or switch port",
           "... and named with its number");
    is_int(verbs_port_open(&second, GID_INDEX, &port, &err), 0, "the second one opens");
    if (!port)
        return tap_done();
    is_str(port->name, "mlx5_0:2", "... under its number");
    is_int(queried_ports.state, 2, "... its state is queried");
    is_int(queried_ports.gid, 2, "... and its GID");
    verbs_gid_text(&port->gid, gid, sizeof gid);
    is_str(gid, "::ffff:10.0.2.1", "... the GID of the second port");
    test_gpu_memory(port);
    check_connection(port, VERB_WRITE);
    is_int(queried_ports.address_port, 2, "... and so is the path of the connection");
    check_connection(port, VERB_UD);
    is_int(queried_ports.datagram_address_port, 2, "... and the path of datagrams");
    verbs_port_close(port);
    is_int(verbs_port_open(&second, 5, &port, &err), -1, "a missing GID index");
    has_str(err.text, "mlx5_0:2 has no GID with index 5", "... is reported with the port's number");
    return tap_done();
}
