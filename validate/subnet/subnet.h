/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SUBNET_H
#define MUSTER_SUBNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"

/* A network as its switches know it: an InfiniBand subnet, or the Ethernet that LLDP shows. Pure
 * data: the loaders in sources/ fill it, then subnet_finish() works out what
 * hangs where. Devices and ports refer to each other by index. */

enum subnet_kind { SUBNET_SWITCH, SUBNET_ADAPTER, SUBNET_ROUTER };

/* lanes 0: not known. Ethernet is one lane. The speed of a lane is the name's: EDR 25000, HDR
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
    char label[32]; /* what is written on it where that is not its number: "Eth1/5"; "" */
    struct subnet_rate active, enabled, supported;
    long long counters[SUBNET_COUNTERS]; /* since they were cleared; -1: not known */
};

struct subnet_device {
    enum subnet_kind kind;
    uint64_t guid;         /* 0: it has none (Ethernet) */
    int model;             /* its maker's number, PCI device ID; 0: not known */
    char id[68];           /* as a technician looks it up: "0x0002c903000e0b72", a MAC address */
    char description[256]; /* what it says of itself, or what the map of names says */
    char name[64];         /* a switch's, for people; of an adapter that of its node; "" */
    char adapter[32];      /* of an adapter: "mlx5_0" */
    int first_port, port_count; /* number n is ports[first_port + n - 1] */
    int level;       /* of a switch: 0 nodes hang on it, 1 above these, ...; -1: not known */
    int plane;       /* which of the parts that no cable joins */
    bool is_service; /* an adapter that is part of a switch: no node's */
};

/* Where a node's rail is plugged in. */
struct subnet_rail {
    int node, rail;        /* places in nodes and rails */
    int port, switch_port; /* places in ports */
    int leaf;              /* place in devices */
};

struct subnet {
    bool is_ethernet;
    char source[256]; /* where it was read: a file, "mlx5_0 port 1" */
    struct subnet_device *devices;
    size_t device_count, device_room;
    struct subnet_port *ports;
    size_t port_count, port_room;
    /* by subnet_finish(): */
    struct hostlist nodes, rails;    /* names, each in natural order; a rail is "mlx5_0:1" */
    struct subnet_rail *attachments; /* by node, then rail */
    size_t attachment_count;
    int plane_count, level_count;
};

/* An empty one is all zero. */
void subnet_clear(struct subnet *subnet);

/* What somebody wrote into a device, which goes to terminals and files: bytes that print and '?'
 * for others, without blanks at the end, as much as there is room for. text NULL: none. */
void subnet_copy_text(const char *text, char *to, size_t size);

/* Adds a device with ports 1 to port_count, none of them linked. id NULL: from guid. Returns its
 * place, or -1 with err. */
int subnet_add(struct subnet *subnet, enum subnet_kind kind, uint64_t guid, const char *id,
               const char *description, int port_count, struct error *err);

/* The port of that number, NULL when the device has no such. */
struct subnet_port *subnet_port(const struct subnet *subnet, int device, int number);

/* The device at the other end of the port's cable, -1: it has none. port NULL: -1. */
int subnet_beyond(const struct subnet *subnet, const struct subnet_port *port);

/* Says that two ports are the ends of one cable; twice the same is nothing new. Returns 0, or -1
 * with err when one of them has another peer. */
int subnet_link(struct subnet *subnet, struct subnet_port *one, struct subnet_port *other,
                struct error *err);

/* Names from a file in the format of infiniband-diags' node name map, lines of
 * 0x0002c903000e0b72 "n1 mlx5_0", which take the place of descriptions. Returns 0, or -1 with err.
 * Before subnet_finish(). */
int subnet_map(struct subnet *subnet, const char *path, struct error *err);

/* Works out names, planes, levels and attachments. A name of a node that has a domain is cut to
 * what stands before the first dot. Returns 0, or -1 when memory is out.
 * Leaves are the switches with nodes; one with few that is cabled to leaves with more, or as a
 * spine is, is none: somebody plugged a node, or the subnet manager's host, into a spine. */
int subnet_finish(struct subnet *subnet, struct error *err);

/* The place of a node or rail by name, -1. */
int subnet_node(const struct subnet *subnet, const char *name);
/* The attachment of a node's rail, NULL when it is not linked to a switch. */
const struct subnet_rail *subnet_attachment(const struct subnet *subnet, int node, int rail);

/* Mb/s of all lanes; 0: not known. */
double subnet_rate_mbps(struct subnet_rate rate);
/* "4x HDR (200 Gb/s)", "100 Gb/s"; "unknown". */
struct text_line subnet_rate_text(const struct subnet *subnet, struct subnet_rate rate);
/* 50000 of "HDR"; 0. */
int subnet_speed_parse(const char *name, size_t length);

/* The speed of a lane, 0 or 200000 for XDR, by what PortInfo (64 bytes) says of its speeds past
 * NDR, which libibmad may not know. */
enum subnet_speed { SUBNET_ACTIVE, SUBNET_SUPPORTED, SUBNET_ENABLED };
int subnet_speed_of_info(const unsigned char *info, enum subnet_speed which);
/* The same up to NDR, of PortInfo's LinkSpeed* and LinkSpeedExt* and of the vendor's mask, of which
 * 1 is FDR10; 0: none. */
int subnet_speed_of_masks(unsigned mask, unsigned extended, unsigned fdr10);

/* "leaf1 (0x0002c903000e0b72)". */
struct text_line subnet_device_text(const struct subnet *subnet, int device);
/* "leaf1 (0x0002c903000e0b72) port 5", "n3 mlx5_0:1". */
struct text_line subnet_port_text(const struct subnet *subnet, int port);
/* "port 5", "Eth1/5". */
struct text_line subnet_port_label(const struct subnet_port *port);

/* Reads what `ibnetdiscover` prints (all its options but -l and -g), which is also what ibsim
 * takes; adds to what other files had. Returns 0, or -1 with err "PATH:LINE: ...". subnet is to be
 * cleared in any case; subnet_finish() is the caller's. */
int subnet_read_text(const char *path, struct subnet *subnet, struct error *err);

/* Discovers the subnets of this host's active InfiniBand ports through libibnetdisc, with error
 * counters. port: "mlx5_0:1", NULL: all of them. Returns 0, 1 when there is no such port (err says
 * so), or -1 with err. */
int subnet_discover(const char *port, struct subnet *subnet, struct error *err);

/* What LLDP shows on nodes: interfaces and the switch ports that they are cabled to. Neighbors
 * that are no switches are passed over; of cables between switches nothing is known. */
struct subnet_neighbor {
    int node;                                            /* place in nodes */
    char interface[32], chassis[68], name[64], port[32]; /* name "": it has none */
    struct subnet_rate rate;
    double age_s; /* since it was first heard as it is now */
};

/* An empty one is all zero. */
struct subnet_neighbors {
    struct hostlist nodes; /* also those without a neighbor */
    struct subnet_neighbor *items;
    size_t count;
};

void subnet_neighbors_clear(struct subnet_neighbors *neighbors);
/* A further node, to which what is added then belongs. Of several switches on one interface the one
 * of the least age stays: lldpd keeps the switch that a cable was in for as long as its last word
 * said, two minutes by default. Each returns 0, or -1 with err. */
int subnet_neighbors_node(struct subnet_neighbors *neighbors, const char *node, struct error *err);
int subnet_neighbors_add(struct subnet_neighbors *neighbors, const struct subnet_neighbor *neighbor,
                         struct error *err);
/* Both, from what `lldpcli -f json show neighbors details` has printed on that node. */
int subnet_neighbors_read(struct subnet_neighbors *neighbors, const char *node, const char *text,
                          size_t length, struct error *err);

/* Makes a network of them, sorting them. Returns 0, or -1 with err; subnet is to be cleared in any
 * case, subnet_finish() is the caller's. */
int subnet_neighbors_build(struct subnet_neighbors *neighbors, struct subnet *subnet,
                           struct error *err);

/* The same of files NODE.json of a directory. Returns 0, or -1 with err "PATH: ...". */
int subnet_read_lldp(const char *directory, struct subnet *subnet, struct error *err);

#endif
