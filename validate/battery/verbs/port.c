/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/verbs/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/base/sysfs.h"

static struct ibv_context *open_device(const char *name, struct error *err)
{
    struct ibv_device **devices = ibv_get_device_list(NULL), **device;
    struct ibv_context *context = NULL;

    if (!devices) {
        error_set(err, "libibverbs finds no devices: %m");
        return NULL;
    }
    for (device = devices; *device && strcmp(ibv_get_device_name(*device), name) != 0; device++)
        ;
    if (!*device)
        error_set(err,
                  "libibverbs does not list %s; check that its driver package (ibverbs-providers, "
                  "rdma-core) is installed and that this user can open /dev/infiniband",
                  name);
    else if (!(context = ibv_open_device(*device)))
        error_set(err, "cannot open %s: %m; check that this user can open /dev/infiniband/uverbs*",
                  name);
    ibv_free_device_list(devices);
    return context;
}

/* Returns the type of a GID, which sysfs has in all versions of the kernel. */
static enum gid_type type_of(const struct rdma_port *port, int index)
{
    for (size_t i = 0; i < port->gid_count; i++)
        if (port->gids[i].index == index)
            return port->gids[i].type;
    return GID_UNKNOWN;
}

static bool is_zero(const union ibv_gid *gid)
{
    static const union ibv_gid zero;

    return memcmp(gid, &zero, sizeof zero) == 0;
}

static int take_gid(struct verbs_port *opened, const struct rdma_port *port, int index,
                    struct error *err)
{
    bool is_ethernet = opened->attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
    int failed;

    opened->gid_index = index;
    opened->gid_type = type_of(port, index);
    if (index < 0)
        return is_ethernet
                   ? error_set(err,
                               "%s has no RoCE GID; check that its interface has an IP address",
                               opened->name)
                   : 0;
    failed = index >= opened->attributes.gid_tbl_len ||
             ibv_query_gid(opened->context, (uint8_t)opened->number, index, &opened->gid) != 0;
    if (failed || is_zero(&opened->gid))
        return error_set(
            err, "%s has no GID with index %d; muster inventory lists its GIDs and the one to use",
            opened->name, index);
    return 0;
}

int verbs_port_open(const struct rdma_port *port, int gid_index, struct verbs_port **opened,
                    struct error *err)
{
    struct verbs_port *made = calloc(1, sizeof *made);

    if (!made)
        return error_set(err, "out of memory");
    snprintf(made->name, sizeof made->name, "%.48s:%d", port->device, port->port);
    made->number = port->port;
    made->context = open_device(port->device, err);
    if (!made->context) {
        verbs_port_close(made);
        return -1;
    }
    if (ibv_query_port(made->context, (uint8_t)port->port, &made->attributes) != 0 ||
        ibv_query_device(made->context, &made->limits) != 0)
        error_set(err, "cannot query the state of %s: %m", made->name);
    else if (made->attributes.state != IBV_PORT_ACTIVE)
        error_set(err, "%s is %s, not ACTIVE; check cable or switch port", made->name,
                  ibv_port_state_str(made->attributes.state));
    else if (take_gid(made, port, gid_index, err) == 0) {
        made->domain = ibv_alloc_pd(made->context);
        if (made->domain) {
            *opened = made;
            return 0;
        }
        error_set(err, "%s cannot allocate a protection domain: %m", made->name);
    }
    verbs_port_close(made);
    return -1;
}

void verbs_port_close(struct verbs_port *port)
{
    if (!port)
        return;
    if (port->domain)
        ibv_dealloc_pd(port->domain);
    if (port->context)
        ibv_close_device(port->context);
    free(port);
}

void verbs_gid_text(const union ibv_gid *gid, char *text, size_t size)
{
    if (!inet_ntop(AF_INET6, gid->raw, text, (socklen_t)size))
        snprintf(text, size, "?");
}

int verbs_mtu_bytes(enum ibv_mtu mtu)
{
    return 128 << mtu;
}

enum ibv_mtu verbs_mtu_of(int bytes)
{
    enum ibv_mtu mtu = IBV_MTU_256;

    while (mtu < IBV_MTU_4096 && verbs_mtu_bytes(mtu + 1) <= bytes)
        mtu++;
    return mtu;
}

enum { ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };

struct ibv_mr *verbs_register(struct verbs_port *port, void *memory, size_t size_bytes,
                              struct error *err)
{
    struct ibv_mr *region = ibv_reg_mr(port->domain, memory, size_bytes, ACCESS);
    struct rlimit limit;
    int failure = errno;

    if (region)
        return region;
    if (failure == ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY)
        error_set(
            err,
            "%s: cannot register %.1f MB, the limit of locked memory here is %.4g MB; set "
            "LimitMEMLOCK=infinity of slurmd's unit and PropagateResourceLimitsExcept=MEMLOCK",
            port->name, 1e-6 * (double)size_bytes, 1e-6 * (double)limit.rlim_cur);
    else
        error_set(err, "%s: cannot register %.1f MB: %s", port->name, 1e-6 * (double)size_bytes,
                  strerror(failure));
    return NULL;
}

struct ibv_mr *verbs_register_gpu(struct verbs_port *port, const struct verbs_gpu_memory *memory,
                                  struct error *err)
{
    struct ibv_mr *region = memory->fd >= 0
                                ? ibv_reg_dmabuf_mr(port->domain, 0, memory->size_bytes,
                                                    memory->address, memory->fd, ACCESS)
                                : ibv_reg_mr(port->domain, (void *)(uintptr_t)memory->address,
                                             memory->size_bytes, ACCESS);

    if (!region)
        error_set(err, "%s cannot register memory of the GPU by %s: %m", port->name,
                  memory->fd >= 0 ? "dma-buf" : "a peer memory client");
    return region;
}

/* Probes as UCX does, without a file: a driver that supports dma-buf says "bad file", another one
 * "not supported". */
static bool probe_dma_buf(struct verbs_port *port, char *text, size_t size)
{
    struct ibv_mr *region = ibv_reg_dmabuf_mr(port->domain, 0, (size_t)sysconf(_SC_PAGESIZE), 0, -1,
                                              IBV_ACCESS_LOCAL_WRITE);
    int failure = errno;

    if (region)
        ibv_dereg_mr(region);
    if (region || failure == EBADF || failure == EBADFD) {
        snprintf(text, size, "dma-buf: available");
        return true;
    }
    snprintf(text, size, "dma-buf: not available, the driver of %s %s (%s)", port->name,
             failure == EOPNOTSUPP || failure == EPROTONOSUPPORT ? "does not support it"
                                                                 : "refuses it",
             strerror(failure));
    return false;
}

/* Probes for a peer memory client: nvidia_peermem (before: nv_peer_mem) of NVIDIA's driver, or that
 * of amdgpu with MLNX_OFED's kernel. */
static bool probe_peer_memory(const char *root, char *text, size_t size)
{
    static const char *const modules[] = {"nvidia_peermem", "nv_peer_mem", "ib_peer_mem"};
    char **clients;
    size_t count;

    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (sysfs_exists(root, "sys/module/%s", modules[i])) {
            snprintf(text, size, "peer memory: available, %s is loaded", modules[i]);
            return true;
        }
    count = sysfs_names(root, &clients, "sys/kernel/mm/memory_peers");
    snprintf(text, size, "peer memory: %s%s",
             count > 0 ? "available, client " : "not available, no peer memory client is loaded",
             count > 0 ? clients[0] : " (nvidia_peermem)");
    sysfs_names_free(clients, count);
    return count > 0;
}

bool verbs_probe_gpu_memory(struct verbs_port *port, const char *root, char *text, size_t size)
{
    char dma_buf[160], peer_memory[160];
    bool has_dma_buf = probe_dma_buf(port, dma_buf, sizeof dma_buf);
    bool has_peer_memory = probe_peer_memory(root, peer_memory, sizeof peer_memory);

    snprintf(text, size, "%s; %s", dma_buf, peer_memory);
    return has_dma_buf || has_peer_memory;
}
