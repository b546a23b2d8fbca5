/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/inventory.h"
#include "lib/base/deferred_error.h"
#include "lib/base/ranges.h"
#include "lib/base/sysfs.h"
#include "lib/node/inventory-parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of numbers in a list such as "0-3,8"; -1 if text is not a list. */
static int count_list(const char *text)
{
    struct range range;
    long count = 0;
    int rv;

    while ((rv = range_next(&text, &range)) > 0) {
        if (range.last > 1 << 20)
            return -1;
        count += range.last - range.first + 1;
    }
    return rv == 0 && count > 0 && count <= 1 << 20 ? (int)count : -1;
}

static int read_list(const char *root, const char *path)
{
    char text[4096];

    return sysfs_line(root, text, sizeof text, "%s", path) < 0 ? -1 : count_list(text);
}

static long long read_memory(const char *root)
{
    char *text = sysfs_file(root, 16384, "proc/meminfo");
    const char *found = text ? strstr(text, "MemTotal:") : NULL;
    long long kilobytes = found ? strtoll(found + 9, NULL, 10) : -1;

    free(text);
    return kilobytes > 0 && kilobytes < 1LL << 50 ? kilobytes * 1024 : -1;
}

static void read_node(const char *root, struct inventory *inventory)
{
    sysfs_line(root, inventory->hostname, sizeof inventory->hostname, "proc/sys/kernel/hostname");
    inventory->hostname[strcspn(inventory->hostname, ".")] = '\0';
    sysfs_line(root, inventory->kernel, sizeof inventory->kernel, "proc/sys/kernel/osrelease");
    sysfs_line(root, inventory->boot_id, sizeof inventory->boot_id,
               "proc/sys/kernel/random/boot_id");
    inventory->cpu_count = read_list(root, "sys/devices/system/cpu/online");
    inventory->numa_node_count = read_list(root, "sys/devices/system/node/online");
    inventory->is_virtual_machine = machine_is_virtual(root);
    inventory->memory_bytes = read_memory(root);
}

struct inventory *inventory_read(const char *root, struct error *err)
{
    struct inventory *inventory;
    int error;

    deferred_error_take();
    if (!sysfs_exists(root, "sys/class/net")) {
        error_set(err, "%s/sys/class/net: %m; expected the root of a node",
                  root && strcmp(root, "/") != 0 ? root : "");
        return NULL;
    }
    inventory = calloc(1, sizeof *inventory);
    if (!inventory) {
        error_set(err, "inventory: %m");
        return NULL;
    }
    read_node(root, inventory);
    if (nics_read(root, inventory, err) < 0 || rdma_read(root, inventory, err) < 0 ||
        gpus_read(root, inventory, err) < 0) {
        inventory_free(inventory);
        return NULL;
    }
    addresses_read(root, inventory);
    error = deferred_error_take();
    if (error != 0) {
        error_set(err, "the node could not be read completely: %s", strerror(error));
        inventory_free(inventory);
        return NULL;
    }
    return inventory;
}

void inventory_free(struct inventory *inventory)
{
    free(inventory);
}

const struct nic *inventory_nic(const struct inventory *inventory, const char *name)
{
    for (size_t i = 0; i < inventory->nic_count; i++)
        if (strcmp(inventory->nics[i].name, name) == 0)
            return &inventory->nics[i];
    return NULL;
}

bool nic_has_link(const struct nic *nic)
{
    return nic->is_up && nic->has_carrier;
}

bool nic_has_sockets(const struct nic *nic)
{
    return nic_has_link(nic) && nic->address_count > 0;
}

bool inventory_has_gpu(const struct inventory *inventory, enum gpu_vendor vendor)
{
    for (size_t i = 0; i < inventory->gpu_count; i++)
        if (inventory->gpus[i].vendor == vendor)
            return true;
    return false;
}

long inventory_gpu_at(const struct inventory *inventory, const char *pci)
{
    for (size_t i = 0; i < inventory->gpu_count; i++)
        if (strcmp(inventory->gpus[i].location.pci, pci) == 0)
            return (long)i;
    for (size_t i = 0; i < inventory->gpu_count; i++)
        if (inventory->gpus[i].vendor == GPU_AMD &&
            location_is_same_device(inventory->gpus[i].location.pci, pci))
            return (long)i;
    return -1;
}

const struct rdma_port *inventory_rdma_of(const struct inventory *inventory, const char *netdev)
{
    if (!netdev[0])
        return NULL;
    for (size_t i = 0; i < inventory->rdma_count; i++)
        if (strcmp(inventory->rdma[i].netdev, netdev) == 0)
            return &inventory->rdma[i];
    return NULL;
}

const char *link_layer_name(enum link_layer layer)
{
    return layer == LINK_INFINIBAND ? "InfiniBand"
           : layer == LINK_ETHERNET ? "Ethernet"
                                    : "unknown";
}

const char *gid_type_name(enum gid_type type)
{
    return type == GID_IB        ? "IB"
           : type == GID_ROCE_V1 ? "RoCE v1"
           : type == GID_ROCE_V2 ? "RoCE v2"
                                 : "unknown";
}
