/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERB_H
#define MUSTER_VERB_H

#include <stddef.h>

#include "lib/base/error.h"

/* What muster-links measures of an RDMA port by libibverbs itself, and its settings. Pure. */

enum verb {
    VERB_WRITE, /* RDMA write over a reliable connection (RC) */
    VERB_READ,  /* RDMA read, RC */
    VERB_SEND,  /* send and receive, RC */
    VERB_UD,    /* send and receive of unreliable datagrams (UD), none longer than the path's MTU */
    VERB_KINDS,
};

enum { VERBS_QUEUE_PAIRS = 64 };

struct verbs_settings {
    unsigned wanted;         /* a bit for each verb */
    int queue_pairs;         /* at once per port, 1 to VERBS_QUEUE_PAIRS */
    int gid_index;           /* RoCE; -1: the rail's best */
    int service_level;       /* InfiniBand's SL 0 to 15, RoCE's priority 0 to 7 */
    int traffic_class;       /* of the GRH, 0 to 255; RoCE v2: the DSCP is its upper six bits */
    int mtu_bytes;           /* 256, 512, ... 4096; 0: the lower of both ports' */
    long long message_bytes; /* of bandwidth over RC */
};

struct verbs_settings verbs_defaults(void);

/* "rc_write", "rc_read", "rc_send", "ud_send" */
const char *verb_name(enum verb verb);

/* Parses some of "write,read,send,ud". Returns 0, or -1 with err. */
int verbs_parse(const char *text, unsigned *wanted, struct error *err);

/* What one link_result of the battery is about: a verb between two nodes, all rails of it at once,
 * or one node's ports with themselves and each other. */
enum verb_scope { VERB_PAIR, VERB_TOGETHER, VERB_LOOPBACK, VERB_LOCAL };

/* Writes "bandwidth_rc_write", "latency_ud_send", "bandwidth_rc_write_together" or
 * "bandwidth_loopback". Returns text. */
const char *verb_metric(const char *figure, enum verb verb, enum verb_scope scope, char *text,
                        size_t size);

#endif
