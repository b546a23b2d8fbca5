/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERBS_PORT_H
#define MUSTER_VERBS_PORT_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/node/inventory.h"

/* One RDMA port, opened by libibverbs, with memory registered at it. Functions that return int give
 * 0, or -1 with err. */

struct verbs_port {
    char name[INVENTORY_NAME]; /* "rxe1:1" */
    int number;                /* of the port on its device */
    struct ibv_context *context;
    struct ibv_pd *domain;
    struct ibv_port_attr attributes;
    struct ibv_device_attr limits;
    int gid_index; /* -1: none, an InfiniBand port that needs no GRH */
    union ibv_gid gid;
    enum gid_type gid_type;
};

/* Opens a port. port: of the inventory. gid_index: -1 for none. */
int verbs_port_open(const struct rdma_port *port, int gid_index, struct verbs_port **opened,
                    struct error *err);
void verbs_port_close(struct verbs_port *port);

/* Writes a GID as text: "::ffff:10.77.0.1". */
void verbs_gid_text(const union ibv_gid *gid, char *text, size_t size);

/* Returns 256 to 4096. */
int verbs_mtu_bytes(enum ibv_mtu mtu);
/* Returns the greatest MTU that is not more than bytes; 256 at least. */
enum ibv_mtu verbs_mtu_of(int bytes);

/* Registers memory. If too little memory can be locked, err names the limit. */
struct ibv_mr *verbs_register(struct verbs_port *port, void *memory, size_t size_bytes,
                              struct error *err);

/* Memory of a GPU, which is registered by the file of its dma-buf or, if fd is -1, at its own
 * address by a peer memory client. */
struct verbs_gpu_memory {
    uint64_t address;
    size_t size_bytes;
    int fd;
};
struct ibv_mr *verbs_register_gpu(struct verbs_port *port, const struct verbs_gpu_memory *memory,
                                  struct error *err);

/* Writes how memory of a GPU could be registered at this port: by dma-buf (as the driver says), and
 * by a peer memory client (as the kernel says; root: of /sys). Each is available, or not, with the
 * reason. Returns whether either is. */
bool verbs_probe_gpu_memory(struct verbs_port *port, const char *root, char *text, size_t size);

#endif
