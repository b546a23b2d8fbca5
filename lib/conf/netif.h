/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETIF_H
#define MUSTER_NETIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

/* The settings of network interfaces that a site can configure by Interface lines of muster.conf:
 *   Interface=eth[1-2] up=yes mtu=9000 txqueuelen=10000 rp_filter=2 address=10.1.0.0/16
 * Every value is a number; names for numbers (yes, v2) are in the table. */

/* In the order in which they are made. They are restored in the reverse order. */
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
    NETIF_ROCE_CONFIG,   /* rdma_cm's directory of the device in configfs: 1 exists, 0 not; never in
                            muster.conf; the next two need it */
    NETIF_ROCE_MODE,     /* of new connections by rdma_cm: 1 RoCE v1, 2 RoCE v2 */
    NETIF_ROCE_TOS,      /* of new connections by rdma_cm: the type of service, 0 to 255 */
    NETIF_TRAFFIC_CLASS, /* of all the port's RDMA packets, 0 to 255, whatever a program sets; -1:
                            as the program sets it. NVIDIA's own driver has it, the kernel's not */
    NETIF_PFC,           /* the priorities with flow control (IEEE 802.1Qbb): bits 1 << priority */
    NETIF_DSCP, /* the priorities of packets with DSCP 0: bits 1 << priority; then DSCP 1 ... */
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
    char address[NETIF_ADDRESS_TEXT]; /* "require": any; "10.1.0.0/16": one in this prefix */
};

/* Returns whether the setting is for a DSCP. */
bool netif_is_dscp(enum netif_setting setting);

/* Returns the name in muster.conf and in the journal: "mtu", "rx-ring", ...; or "unknown". */
const char *netif_setting_name(enum netif_setting setting);

/* Returns the setting with this name, or -1. */
int netif_setting_parse(const char *name);

/* Formats the value as in muster.conf ("9000", "yes", "v2"). */
void netif_value_format(enum netif_setting setting, long value, char *text, size_t size);

/* Parses a value as in muster.conf, of any setting except NETIF_ADDRESS. Returns 0, or -1 with err
 * "found ..., allowed ...". is_journal: a value that the kernel may have had before; its range is
 * wider than the range allowed in muster.conf. */
int netif_value_parse(enum netif_setting setting, const char *text, bool is_journal, long *value,
                      struct error *err);

/* Parses the value of an Interface line: names, blanks, KEY=VALUE ... Returns 0, or -1 with err
 * "found ..., allowed ..." and line empty. Overwrites line; release it with netif_line_clear(). */
int netif_line_parse(const char *text, struct netif_line *line, struct error *err);
void netif_line_clear(struct netif_line *line);

/* Writes the line as netif_line_parse() reads it. Returns 0, or -1 if memory is out. */
int netif_line_print(const struct netif_line *line, FILE *stream);

/* Formats the settings that a line may have, for messages: "up=yes, mtu=1280-65535, ...". */
void netif_line_allowed(char *text, size_t size);

/* Returns the line that configures the setting of the interface, and its value in *value (may be
 * NULL); or NULL. */
const struct netif_line *netif_line_find(const struct netif_line *lines, size_t line_count,
                                         const char *interface, enum netif_setting setting,
                                         long *value);

/* Returns whether address (4 or 16 bytes, family AF_INET or AF_INET6) is in the prefix wanted.
 * "require" matches any address that is not IPv6 link-local. */
bool netif_address_matches(const char *wanted, int family, const unsigned char *address);

/* Returns whether the kernel may give this name to an interface, and it is one component of a
 * path. */
bool netif_is_name(const char *name);

#endif
