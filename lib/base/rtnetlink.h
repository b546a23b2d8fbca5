/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RTNETLINK_H
#define MUSTER_RTNETLINK_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/constants/node_constants.h"

/* A small client of the kernel's rtnetlink (rtnetlink(7)): the socket, and messages made and read.
 * Every answer is waited for wait_ms at most and its lengths are checked before they are believed.
 * Errors are "%m" of the kernel with its own words (the extended acknowledgement) where it gives
 * any. */

struct netlink {
    int fd;
    int ioctl_fd; /* for ethtool */
    long wait_ms; /* NETLINK_WAIT_MS once opened */
    uint32_t sequence;
};

/* Returns 0, or -1 with err; close what was opened. */
int netlink_open(struct netlink *netlink, struct error *err);
void netlink_close(struct netlink *netlink);

/* What is in an attribute, and how much. */
static inline const void *netlink_value(const struct rtattr *attribute)
{
    return attribute + 1;
}
static inline size_t netlink_size(const struct rtattr *attribute)
{
    return attribute->rta_len - sizeof *attribute;
}

/* Walks attributes: *at is moved behind the one returned; NULL at the end or where lengths do not
 * fit. */
const struct rtattr *netlink_next_attribute(const char **at, const char *end);

/* Whether message is a whole one of that type with at least `fixed` bytes behind its header. */
bool netlink_is_message(const void *message, size_t length, int type, size_t fixed);

/* Where the attributes of such a message begin, and *end. */
const char *netlink_attributes(const struct nlmsghdr *message, size_t fixed, const char **end);

/* Appends an attribute; there must be room for it. */
void netlink_put_attribute(char *message, unsigned short type, const void *value, size_t length);

/* Sends a request, whose sequence is netlink->sequence, and hands each message of the answer to
 * take(), until that or the kernel says it is the last. take returns 0 to go on, 1 when done.
 * Returns 0, or -1 with err and errno. */
int netlink_query(struct netlink *netlink, const void *request, size_t length,
                  int (*take)(const struct nlmsghdr *message, size_t length, void *context),
                  void *context, struct error *err);

/* NLMSG_ERROR's: 0 for an acknowledgement, else the errno, and text gets the kernel's words or "".
 * -1 when it is none or its lengths do not fit. */
int netlink_parse_error(const void *message, size_t length, char *text, size_t size);

#endif
