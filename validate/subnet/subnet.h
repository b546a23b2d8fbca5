/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SUBNET_H
#define MUSTER_SUBNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"

/* The cabling of a network: an InfiniBand subnet, or an Ethernet as LLDP shows it. Pure data: the
 * loaders in sources/ fill it, then subnet_finish() finds the leaves, levels and attachments.
 * Devices and ports refer to each other by index. */

enum subnet_kind { SUBNET_SWITCH, SUBNET_ADAPTER, SUBNET_ROUTER };

/* lanes 0: unknown. Ethernet has one lane. The speed of a lane is the nominal one: EDR 25000, HDR
 * 50000 Mb/s (InfiniBand Architecture Specification, volume 1, PortInfo). */
struct subnet_rate {
    int lanes, lane_mbps;
};

/* In the order of the thresholds in findings/rates.c. */
enum subnet_counter {
    SUBNET_SYMBOL_ERRORS,
    SUBNET_LINK_RECOVERIES,
    SUBNET_LINK_DOWNED,
    SUBNET_RECEIVE_ERRORS,
    SUBNET_INTEGRITY_ERRORS,
    SUBNET_BUFFER_OVERRUNS,
    SUBNET_DISCARDS,
    SUBNET_COUNTERS,
};

struct subnet_port {
    int device, number;
    int peer;       /* the port at the other end of the cable, -1: none */
    char label[32]; /* the printed name, if it is not the number: "Eth1/5"; else "" */
    struct subnet_rate active, enabled, supported;
    long long counters[SUBNET_COUNTERS]; /* since they were cleared; -1: unknown */
};

struct subnet_device {
    enum subnet_kind kind;
    uint64_t guid;         /* 0: none (Ethernet) */
    int model;             /* the vendor's PCI device ID; 0: unknown */
    char id[68];           /* as printed for technicians: "0x0002c903000e0b72", a MAC address */
    char description[256]; /* the device's own description, or that of the name map */
    char name[64];         /* of a switch: its name; of an adapter: the node's name; "" */
    char adapter[32];      /* of an adapter: "mlx5_0" */
    int first_port, port_count; /* port number n is ports[first_port + n - 1] */
    int level;       /* of a switch: 0 leaf with nodes, 1 the switches above, ...; -1: unknown */
    int plane;       /* index of the connected part of the network */
    bool is_service; /* an adapter inside a switch, which belongs to no node */
};

/* The attachment of a node's rail to a switch. */
struct subnet_rail {
    int node, rail;        /* indexes in nodes and rails */
    int port, switch_port; /* indexes in ports */
    int leaf;              /* index in devices */
};

struct subnet {
    bool is_ethernet;
    char source[256]; /* where it was read from: a file, "mlx5_0 port 1" */
    struct subnet_device *devices;
    size_t device_count;
    struct subnet_port *ports;
    size_t port_count;
    /* filled by subnet_finish(): */
    struct hostlist nodes, rails;    /* names, each in natural order; a rail is "mlx5_0:1" */
    struct subnet_rail *attachments; /* by node, then rail */
    size_t attachment_count;
    int plane_count, level_count;
};

/* An empty subnet is all zero. */
void subnet_clear(struct subnet *subnet);

/* Copies a text from a device safely for terminals and files: '?' for bytes that do not print,
 * without blanks at the end, cut to size. text NULL: "". */
void subnet_copy_text(const char *text, char *to, size_t size);

/* Adds a device with ports 1 to port_count, none of them linked. id NULL: from guid. Returns its
 * index, or -1 with err. */
int subnet_add(struct subnet *subnet, enum subnet_kind kind, uint64_t guid, const char *id,
               const char *description, int port_count, struct error *err);

/* Returns the device's port of the number, or NULL. */
struct subnet_port *subnet_port(const struct subnet *subnet, int device, int number);

/* Returns the device at the other end of the port's cable; -1 without a cable or if port is NULL.
 */
int subnet_peer_device(const struct subnet *subnet, const struct subnet_port *port);

/* Links two ports as the ends of one cable; linking them again is allowed. Returns 0, or -1 with
 * err if one of them has another peer. */
int subnet_link(struct subnet *subnet, struct subnet_port *one, struct subnet_port *other,
                struct error *err);

/* Replaces descriptions with names from a file in the format of infiniband-diags' node name map:
 * lines of 0x0002c903000e0b72 "n1 mlx5_0". Returns 0, or -1 with err. Call it before
 * subnet_finish(). */
int subnet_map(struct subnet *subnet, const char *path, struct error *err);

/* Finds names, planes, levels and attachments. On InfiniBand the domain of a node's name is cut off
 * at the first dot. Returns 0, or -1 if memory is out. Leaves are the switches with nodes, except a
 * switch with few nodes that is cabled to leaves with more, or like a spine: there a node, or the
 * subnet manager's host, is plugged into a spine. */
int subnet_finish(struct subnet *subnet, struct error *err);

/* Returns the index of a node by name, or -1. */
int subnet_node(const struct subnet *subnet, const char *name);
/* Returns the attachment of a node's rail, or NULL if the rail is not linked to a switch. */
const struct subnet_rail *subnet_attachment(const struct subnet *subnet, int node, int rail);

/* Returns the Mb/s of all lanes; 0: unknown. */
double subnet_rate_mbps(struct subnet_rate rate);
/* Returns "4x HDR (200 Gb/s)", "100 Gb/s", or "unknown". */
struct text_line subnet_rate_text(const struct subnet *subnet, struct subnet_rate rate);
/* Returns the Mb/s of a lane: 50000 for "HDR"; 0 if the name is unknown. */
int subnet_speed_parse(const char *name, size_t length);

/* Returns 200000, the Mb/s of a lane with XDR, if PortInfo (64 bytes) has XDR, else 0. libibmad may
 * not know speeds above NDR. */
enum subnet_speed { SUBNET_ACTIVE, SUBNET_SUPPORTED, SUBNET_ENABLED };
int subnet_speed_of_info(const unsigned char *info, enum subnet_speed which);
/* Returns the highest Mb/s of a lane up to NDR in PortInfo's LinkSpeed* (mask) and LinkSpeedExt*
 * (extended), and in the vendor's mask fdr10, where 1 is FDR10; 0: none. */
int subnet_speed_of_masks(unsigned mask, unsigned extended, unsigned fdr10);

/* Returns "leaf1 (0x0002c903000e0b72)". */
struct text_line subnet_device_text(const struct subnet *subnet, int device);
/* Returns "leaf1 (0x0002c903000e0b72) port 5", or "n3 mlx5_0:1". */
struct text_line subnet_port_text(const struct subnet *subnet, int port);
/* Returns "port 5", or "Eth1/5". */
struct text_line subnet_port_label(const struct subnet_port *port);

/* Reads the output of `ibnetdiscover` (all its options except -l and -g), which ibsim reads too,
 * and adds it to subnet. Returns 0, or -1 with err "PATH:LINE: ...". The caller clears subnet in
 * any case, and calls subnet_finish(). */
int subnet_read_text(const char *path, struct subnet *subnet, struct error *err);

/* Discovers the subnets of this host's active InfiniBand ports through libibnetdisc, with error
 * counters. port: "mlx5_0:1", NULL: all of them. Returns 0, 1 if there is no such port (err says
 * so), or -1 with err. */
int subnet_discover(const char *port, struct subnet *subnet, struct error *err);

/* What LLDP shows on nodes: an interface and the switch port that it is cabled to. Neighbors that
 * are no switches are left out; cables between switches are unknown. */
struct subnet_neighbor {
    int node;                                            /* index in nodes */
    char interface[32], chassis[68], name[64], port[32]; /* name "": none */
    struct subnet_rate rate;
    double age_s; /* how long the neighbor has been seen unchanged */
};

/* An empty list is all zero. */
struct subnet_neighbors {
    struct hostlist nodes; /* also those without a neighbor */
    struct subnet_neighbor *items;
    size_t count;
};

void subnet_neighbors_clear(struct subnet_neighbors *neighbors);
/* Adds a node; neighbors added next belong to it. Of several switches on one interface the one with
 * the least age is kept: after a cable has moved, lldpd keeps the old switch until the time-to-live
 * of its last packet ends, two minutes by default. Each returns 0, or -1 with err. */
int subnet_neighbors_node(struct subnet_neighbors *neighbors, const char *node, struct error *err);
int subnet_neighbors_add(struct subnet_neighbors *neighbors, const struct subnet_neighbor *neighbor,
                         struct error *err);
/* Adds a node and its neighbors from the output of `lldpcli -f json show neighbors details` on it.
 */
int subnet_neighbors_read(struct subnet_neighbors *neighbors, const char *node, const char *text,
                          size_t length, struct error *err);

/* Sorts the neighbors, and fills subnet from them. Returns 0, or -1 with err. The caller clears
 * subnet in any case, and calls subnet_finish(). */
int subnet_neighbors_build(struct subnet_neighbors *neighbors, struct subnet *subnet,
                           struct error *err);

/* The same from the files NODE.json of a directory. Returns 0, or -1 with err "PATH: ...". */
int subnet_read_lldp(const char *directory, struct subnet *subnet, struct error *err);

#endif
