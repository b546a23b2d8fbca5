/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/sysfs.h"
#include "lib/node/inventory-parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kernel ABI: Documentation/ABI/stable/sysfs-class-infiniband */

/* After GID_GAP empty entries the rest of a GID table counts as empty, to save time: tables have
 * 256 entries, filled from the front, and a node has 16 ports. */
enum { GID_GAP = 24, GID_TABLE = 1024 };

/* Reads "ACTIVE" from "4: ACTIVE". */
static void read_state(const char *root, const char *port, const char *file, char *text,
                       size_t size)
{
    char line[INVENTORY_NAME];
    const char *name = line;

    sysfs_line(root, line, sizeof line, "%s/%s", port, file);
    while (isdigit((unsigned char)*name))
        name++;
    if (*name == ':')
        name++;
    while (*name == ' ')
        name++;
    snprintf(text, size, "%s", name);
}

/* Returns 400 for "400 Gb/sec (4X NDR)", or -1. */
static double read_rate(const char *root, const char *port)
{
    char line[INVENTORY_NAME], *end;
    double rate;

    if (sysfs_line(root, line, sizeof line, "%s/rate", port) < 0)
        return -1;
    rate = strtod(line, &end);
    return end == line || strncmp(end, " Gb/sec", 7) != 0 || !(rate > 0 && rate < 1e6) ? -1 : rate;
}

static int read_lid(const char *root, const char *port, const char *file)
{
    long long lid = sysfs_number(root, "%s/%s", port, file);

    return lid > 0xffffffLL ? -1 : (int)lid;
}

static enum gid_type read_gid_type(const char *root, const char *port, int index)
{
    char text[32];

    sysfs_line(root, text, sizeof text, "%s/gid_attrs/types/%d", port, index);
    if (strcmp(text, "RoCE v2") == 0)
        return GID_ROCE_V2;
    if (strcmp(text, "IB/RoCE v1") == 0)
        return GID_ROCE_V1; /* the same for InfiniBand, which read_gids() handles itself */
    return GID_UNKNOWN;
}

static void read_gids(const char *root, const char *path, struct rdma_port *port)
{
    static const char zero[] = "0000:0000:0000:0000:0000:0000:0000:0000";
    int gap = 0;

    for (int i = 0; i < GID_TABLE && gap < GID_GAP && port->gid_count < INVENTORY_GIDS; i++) {
        struct gid *gid = &port->gids[port->gid_count];

        if (sysfs_line(root, gid->gid, sizeof gid->gid, "%s/gids/%d", path, i) < 0 ||
            strcmp(gid->gid, zero) == 0 || strlen(gid->gid) != sizeof zero - 1) {
            gap++;
            continue;
        }
        gap = 0;
        gid->index = i;
        if (port->link_layer == LINK_INFINIBAND) {
            gid->type = GID_IB;
        } else {
            gid->type = read_gid_type(root, path, i);
            sysfs_line(root, gid->netdev, sizeof gid->netdev, "%s/gid_attrs/ndevs/%d", path, i);
        }
        port->gid_count++;
    }
}

/* Reads the interface that shares the port: for RoCE by the GID table; for software devices the
 * parent; for IPoIB, or if there is no GID, the interface of the same PCI function with the port's
 * number (dev_port counts from 0). */
static void read_netdev(const char *root, struct rdma_port *port)
{
    char **names;
    size_t count;

    if (port->gid_count > 0 && port->gids[0].netdev[0]) {
        strcpy(port->netdev, port->gids[0].netdev);
        return;
    }
    if (sysfs_line(root, port->netdev, sizeof port->netdev, "sys/class/infiniband/%s/parent",
                   port->device) == 0)
        return;
    count = sysfs_names(root, &names, "sys/class/infiniband/%s/device/net", port->device);
    for (size_t i = 0; i < count && !port->netdev[0]; i++) {
        long long dev_port = sysfs_number(root, "sys/class/net/%s/dev_port", names[i]);

        if (strlen(names[i]) < sizeof port->netdev &&
            (dev_port == port->port - 1 || (dev_port < 0 && count == 1)))
            strcpy(port->netdev, names[i]);
    }
    sysfs_names_free(names, count);
}

static void read_device(const char *root, struct rdma_port *port)
{
    char device[SYSFS_PATH], line[INVENTORY_NAME];
    const char *name = line;

    if (sysfs_path("", device, sizeof device, "sys/class/infiniband/%s", port->device) < 0)
        return;
    sysfs_line(root, port->firmware, sizeof port->firmware, "%s/fw_ver", device + 1);
    /* "1: CA", "4: RNIC", "6: unspecified", "7: usnic" */
    sysfs_line(root, line, sizeof line, "%s/node_type", device + 1);
    name = strchr(line, ':');
    snprintf(port->node_type, sizeof port->node_type, "%s",
             name ? name + 1 + strspn(name + 1, " ") : line);
    if (!FITS(device, "sys/class/infiniband/%s/device", port->device))
        return;
    sysfs_link(root, port->driver, sizeof port->driver, "%s/driver", device);
    port->is_virtual_function = sysfs_exists(root, "%s/physfn", device);
    location_read(root, device, &port->location);
}

/* Gives a software device (rxe, siw) the location of its interface. */
static void borrow_location(const struct inventory *inventory, struct rdma_port *port)
{
    const struct nic *nic = inventory_nic(inventory, port->netdev);

    if (nic && !port->location.pci[0])
        port->location = nic->location;
}

/* Reads the verbs files of all ports; uverbsN/ibdev is the device of the file. */
static void read_verbs_files(const char *root, struct inventory *inventory)
{
    char **names, device[INVENTORY_NAME];
    size_t count = sysfs_names(root, &names, "sys/class/infiniband_verbs");

    for (size_t i = 0; i < count; i++) {
        if (strncmp(names[i], "uverbs", 6) != 0 ||
            sysfs_line(root, device, sizeof device, "sys/class/infiniband_verbs/%s/ibdev",
                       names[i]) < 0)
            continue;
        for (size_t j = 0; j < inventory->rdma_count; j++)
            if (strcmp(inventory->rdma[j].device, device) == 0)
                snprintf(inventory->rdma[j].verbs_file, sizeof inventory->rdma[j].verbs_file,
                         "/dev/infiniband/%.32s", names[i]);
    }
    sysfs_names_free(names, count);
}

static void read_port(const char *root, const char *device, int number,
                      const struct inventory *inventory, struct rdma_port *port)
{
    char path[SYSFS_PATH], layer[32];

    snprintf(port->device, sizeof port->device, "%s", device);
    port->port = number;
    port->location = LOCATION_UNKNOWN;
    read_device(root, port);
    port->is_software = sysfs_exists(root, "sys/class/infiniband/%s/parent", device);
    if (!FITS(path, "sys/class/infiniband/%s/ports/%d", device, number))
        return;
    sysfs_line(root, layer, sizeof layer, "%s/link_layer", path);
    if (strcmp(layer, "InfiniBand") == 0)
        port->link_layer = LINK_INFINIBAND;
    else if (strcmp(layer, "Ethernet") == 0)
        port->link_layer = LINK_ETHERNET;
    read_state(root, path, "state", port->state, sizeof port->state);
    read_state(root, path, "phys_state", port->phys_state, sizeof port->phys_state);
    port->rate_gbps = read_rate(root, path);
    port->lid = read_lid(root, path, "lid");
    port->sm_lid = read_lid(root, path, "sm_lid");
    read_gids(root, path, port);
    read_netdev(root, port);
    borrow_location(inventory, port);
}

int rdma_read(const char *root, struct inventory *inventory, struct error *err)
{
    char **devices, **ports;
    size_t device_count = sysfs_names(root, &devices, "sys/class/infiniband"), port_count;
    int result = 0;

    for (size_t i = 0; i < device_count && result == 0; i++) {
        if (strlen(devices[i]) >= INVENTORY_NAME)
            continue;
        port_count = sysfs_names(root, &ports, "sys/class/infiniband/%s/ports", devices[i]);
        for (size_t j = 0; j < port_count && result == 0; j++) {
            long number = strtol(ports[j], NULL, 10);

            if (number < 1 || number > 65535)
                continue;
            if (inventory->rdma_count == INVENTORY_RDMA)
                result = error_set(err, "more than %d RDMA ports", INVENTORY_RDMA);
            else
                read_port(root, devices[i], (int)number, inventory,
                          &inventory->rdma[inventory->rdma_count++]);
        }
        sysfs_names_free(ports, port_count);
    }
    sysfs_names_free(devices, device_count);
    read_verbs_files(root, inventory);
    return result;
}
