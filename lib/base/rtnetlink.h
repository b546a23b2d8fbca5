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

/* A small client of the kernel's rtnetlink (rtnetlink(7)), or of sock_diag(7) with a socket that
 * the caller opens: functions to make and read messages. It waits for an answer for wait_ms at
 * most, and checks all lengths. Errors are "%m" with the kernel's own text (the extended
 * acknowledgement) if there is one. */

struct netlink {
    int fd;
    int ioctl_fd; /* for ethtool */
    long wait_ms; /* NETLINK_WAIT_MS after netlink_open() */
    uint32_t sequence;
};

/* Opens the sockets. Returns 0, or -1 with err. Close it after success. */
int netlink_open(struct netlink *netlink, struct error *err);
void netlink_close(struct netlink *netlink);

/* The value of an attribute, and its size in bytes. */
static inline const void *netlink_value(const struct rtattr *attribute)
{
    return attribute + 1;
}
static inline size_t netlink_size(const struct rtattr *attribute)
{
    return attribute->rta_len - sizeof *attribute;
}

/* Returns the next attribute and advances *at; NULL at the end or if a length is wrong. */
const struct rtattr *netlink_next_attribute(const char **at, const char *end);

/* Returns whether message is complete, of this type, and has at least `fixed` bytes after its
 * header. */
bool netlink_is_message(const void *message, size_t length, int type, size_t fixed);

/* Returns the first attribute of this type, or the one of such a message; NULL if there is none
 * before the end or a wrong length. */
const struct rtattr *netlink_find(const char *at, const char *end, unsigned type);
const struct rtattr *netlink_attribute(const struct nlmsghdr *message, size_t fixed, unsigned type);

/* Returns the 32 bits of such a message's attribute; `otherwise` if it is missing or too short. */
long netlink_number(const struct nlmsghdr *message, size_t fixed, unsigned type, long otherwise);

/* Returns the interface's own address in a message RTM_NEWADDR, with 4 or 16 bytes by its family,
 * or NULL. */
const struct rtattr *netlink_own_address(const struct nlmsghdr *message);

/* Appends an attribute; there must be room for it. */
void netlink_put_attribute(char *message, unsigned short type, const void *value, size_t length);

/* Sends a request, whose sequence is netlink->sequence, and passes each message of the answer to
 * take(), until the kernel ends the answer or take() returns 1; take() returns 0 to go on. Returns
 * 0, or -1 with err and errno: EINTR if a table changed while the kernel listed it, so that the
 * answer may be incomplete. */
int netlink_query(struct netlink *netlink, const void *request, size_t length,
                  int (*take)(const struct nlmsghdr *message, size_t length, void *context),
                  void *context, struct error *err);

/* As netlink_query(), for all entries of a table (RTM_GETADDR ...) of a family; AF_UNSPEC: of all
 * families. */
int netlink_dump(struct netlink *netlink, uint16_t type, uint8_t family,
                 int (*take)(const struct nlmsghdr *message, size_t length, void *context),
                 void *context, struct error *err);

/* Calls read(), which queries tables, and again if they changed meanwhile, LIVE_TRIES times at most
 * and within netlink->wait_ms in all. Returns what it returned last, with its errno. */
int netlink_read_stable(struct netlink *netlink,
                        int (*read)(struct netlink *netlink, void *context), void *context);

/* Parses a message NLMSG_ERROR. Returns 0 for an acknowledgement, else the errno; text gets the
 * kernel's text or "". Returns -1 if it is another message or a length is wrong. */
int netlink_parse_error(const void *message, size_t length, char *text, size_t size);

#endif
