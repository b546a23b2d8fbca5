/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/ports.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/sysfs.h"

enum { PKEYS = 128, PKEY_FULL_MEMBER = 0x8000, FIRST_SPEED_OF_MANY_LANES_MBPS = 10000 };

/* Returns the lanes of the port: 4 for "200 Gb/sec (4X HDR)"; -1 if unknown. */
static int lanes_of(const struct checks *checks, const struct rdma_port *port)
{
    char line[INVENTORY_NAME];
    const char *width;

    if (sysfs_line(checks->root, line, sizeof line, "sys/class/infiniband/%s/ports/%d/rate",
                   port->device, port->port) < 0)
        return -1;
    width = strchr(line, '(');
    return width && strchr(width, 'X') ? (int)strtol(width + 1, NULL, 10) : -1;
}

int port_check_width(const struct checks *checks, const struct rail *rail)
{
    const struct rdma_port *port = rail->port;
    char line[INVENTORY_NAME];

    if (!port || port->link_layer != LINK_INFINIBAND || lanes_of(checks, port) != 1 ||
        port->rate_gbps * 1000 < FIRST_SPEED_OF_MANY_LANES_MBPS)
        return 0;
    sysfs_line(checks->root, line, sizeof line, "sys/class/infiniband/%s/ports/%d/rate",
               port->device, port->port);
    checks_fault(checks, rail->name, FAULT_LINK_NARROW,
                 "%s runs on one lane, %s; an InfiniBand link has four, a split cable two: check "
                 "the cable's connectors at both ends, then the cable",
                 rail->name, line);
    return 1;
}

int port_check_partitions(const struct checks *checks, const struct rail *rail)
{
    const struct rdma_port *port = rail->port;
    long long first = 0;

    if (!port || port->link_layer != LINK_INFINIBAND)
        return 0;
    for (int i = 0; i < PKEYS; i++) {
        long long key = sysfs_number(checks->root, "sys/class/infiniband/%s/ports/%d/pkeys/%d",
                                     port->device, port->port, i);

        if (key < 0)
            break;
        if (key & PKEY_FULL_MEMBER)
            return 0;
        if (first == 0)
            first = key;
    }
    if (first == 0)
        return 0; /* unknown */
    checks_fault(
        checks, rail->name, FAULT_PARTITION_LIMITED,
        "%s is a limited member of its partition (P_Key 0x%04llx): it reaches no other "
        "limited member, and MPI and NCCL between such nodes hang; make it a full member in "
        "the subnet manager's partitions",
        rail->name, first);
    return 1;
}

static int is_same_board(const struct checks *checks, const struct rdma_port *a,
                         const struct rdma_port *b)
{
    char board_a[INVENTORY_NAME], board_b[INVENTORY_NAME];

    if (strcmp(a->driver, b->driver) != 0)
        return 0;
    sysfs_line(checks->root, board_a, sizeof board_a, "sys/class/infiniband/%s/board_id",
               a->device);
    sysfs_line(checks->root, board_b, sizeof board_b, "sys/class/infiniband/%s/board_id",
               b->device);
    return board_a[0] && strcmp(board_a, board_b) == 0;
}

int port_check_firmware(const struct checks *checks, const struct rail *rail)
{
    const struct fabric *fabric = checks->fabric;
    const struct rdma_port *other = NULL;
    int same = 0, others = 0;

    if (!rail->port || !rail->port->firmware[0])
        return 0;
    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rdma_port *port = fabric->rails[i].port;

        if (!port || !port->firmware[0] || !is_same_board(checks, port, rail->port))
            continue;
        if (strcmp(port->firmware, rail->port->firmware) == 0)
            same++;
        else
            others++, other = port;
    }
    if (others <= same)
        return 0;
    checks_fault(checks, rail->name, FAULT_FIRMWARE_DIFFERS,
                 "%s has firmware %s, %d of the node's ports on the same board model have %s; "
                 "update it to match",
                 rail->name, rail->port->firmware, others, other->firmware);
    return 1;
}
