/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETLINK_PARTS_H
#define MUSTER_NETLINK_PARTS_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "lib/netif/netlink.h"

/* What netlink.c and dcb.c make and read messages with. */

/* Walks attributes: *at is moved behind the one returned; NULL at the end or where lengths do not
 * fit. */
const struct rtattr *netlink_next_attribute(const char **at, const char *end);

/* Whether message is a whole one of that type with at least `fixed` bytes behind its header. */
bool netlink_is_message(const void *message, size_t length, int type, size_t fixed);

/* Appends an attribute; there must be room for it. */
void netlink_put_attribute(char *message, unsigned short type, const void *value, size_t length);

/* Sends a request, whose sequence is netlink->sequence, and hands each message of the answer to
 * take(), until that or the kernel says it is the last. take returns 0 to go on, 1 when done.
 * Returns 0, or -1 with err and errno. */
int netlink_ask(struct netlink *netlink, const void *request, size_t length,
                int (*take)(const struct nlmsghdr *message, size_t length, void *context),
                void *context, struct error *err);

#endif
