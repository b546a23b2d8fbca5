/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_INTERRUPTED_DUMP_H
#define MUSTER_TESTS_INTERRUPTED_DUMP_H

#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Replaces recvfrom(): the kernel's next lists, as many as the test sets, change while they are
 * read. The kernel may find this out at the end only. Include it in only one file of the test. */

static int changes;

#pragma GCC visibility push(default)
ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
                 socklen_t *from_size)
{
    ssize_t got = syscall(SYS_recvfrom, fd, buffer, size, flags, from, from_size);
    struct nlmsghdr *message = buffer;

    if (got >= (ssize_t)sizeof *message && message->nlmsg_type == NLMSG_DONE && changes-- > 0)
        message->nlmsg_flags |= NLM_F_DUMP_INTR;
    return got;
}
#pragma GCC visibility pop

#endif
