/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETIF_H
#define MUSTER_NETIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

/* The settings of network interfaces that a site can ask for, and the Interface lines of
 * muster.conf that do:
 *   Interface=eth[1-2] up=yes mtu=9000 txqueuelen=10000 rp_filter=2 address=10.1.0.0/16
 * Every value is a number; names for numbers (yes, v2) are in the table. */

/* In the order in which they are made; they are put back in the opposite one. */
enum netif_setting {
    NETIF_RX_RING, /* descriptors */
    NETIF_TX_RING,
    NETIF_TXQUEUELEN, /* packets */
    NETIF_MTU,        /* bytes */
    NETIF_ARP_IGNORE, /* these five: /proc/sys/net/ipv4/conf/INTERFACE */
    NETIF_ARP_ANNOUNCE,
    NETIF_ARP_FILTER,
    NETIF_RP_FILTER,
    NETIF_ACCEPT_LOCAL,
    NETIF_ROCE_CONFIG,   /* rdma_cm's directory of the device in configfs: 1 there, 0 not; never in
                            muster.conf, the next two need it */
    NETIF_ROCE_MODE,     /* what rdma_cm uses for new connections: 1 RoCE v1, 2 RoCE v2 */
    NETIF_ROCE_TOS,      /* likewise, the type of service, 0 to 255 */
    NETIF_TRAFFIC_CLASS, /* of all the port's RDMA packets, whatever programs ask for, 0 to 255; -1:
                            as they ask. NVIDIA's own driver has it, the kernel's has not */
    NETIF_PFC,           /* the priorities with flow control (IEEE 802.1Qbb): bit 1 << priority */
    NETIF_DSCP, /* the priorities of packets with DSCP 0: bit 1 << priority; then DSCP 1 ... */
    NETIF_DSCP_LAST = NETIF_DSCP + 63,
    NETIF_UP,      /* 1 up, 0 down (IFF_UP) */
    NETIF_ADDRESS, /* checked only, never set */
    NETIF_SETTINGS
};

enum {
    NETIF_LINES = 32, /* Interface lines in a muster.conf */
    NETIF_NAME = 16,  /* IFNAMSIZ */
    NETIF_ADDRESS_TEXT = 64,
};

/* One Interface line. */
struct netif_line {
    unsigned line; /* in muster.conf */
    struct hostlist interfaces;
    bool given[NETIF_SETTINGS];
    long values[NETIF_SETTINGS];
    char address[NETIF_ADDRESS_TEXT]; /* "require": any address; else "10.1.0.0/16": one within */
};

/* Whether it is one of a DSCP's. */
bool netif_is_dscp(enum netif_setting setting);

/* "mtu", "rx-ring", ...: as muster.conf and the journal say it. "unknown" for no setting. */
const char *netif_setting_name(enum netif_setting setting);

/* The setting of that name, or -1. */
int netif_setting_parse(const char *name);

/* The value as muster.conf says it ("9000", "yes", "v2"). */
void netif_value_format(enum netif_setting setting, long value, char *text, size_t size);

/* Reads such a text. Returns 0, or -1 with err "found ..., allowed ...". Any setting but
 * NETIF_ADDRESS. is_journal: a value that the kernel may have had before, which is more than may be
 * asked for. */
int netif_value_parse(enum netif_setting setting, const char *text, bool is_journal, long *value,
                      struct error *err);

/* Reads the value of an Interface line: names, blanks, KEY=VALUE ... Returns 0; -1 with err
 * "found ..., allowed ..." and line empty. line is overwritten; release with netif_line_clear(). */
int netif_line_parse(const char *text, struct netif_line *line, struct error *err);
void netif_line_clear(struct netif_line *line);

/* Writes what netif_line_parse() reads. Returns 0, or -1 when memory is out. */
int netif_line_print(const struct netif_line *line, FILE *stream);

/* The settings a line may have, for messages: "up=yes, mtu=1280-65535, ...". */
void netif_line_allowed(char *text, size_t size);

/* Whether a line asks for the setting on the interface; its value goes to *value (may be NULL).
 * Returns the line, or NULL. */
const struct netif_line *netif_wish(const struct netif_line *lines, size_t line_count,
                                    const char *interface, enum netif_setting setting, long *value);

/* Whether address (4 or 16 bytes, family AF_INET or AF_INET6) is what wanted asks for. "require"
 * takes any but IPv6 link-local ones. */
bool netif_address_matches(const char *wanted, int family, const unsigned char *address);

/* A name the kernel may give an interface and that is one name in a path. */
bool netif_is_name(const char *name);

#endif
