/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_THREAD_ID_H
#define MUSTER_THREAD_ID_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Returns the ID of this thread. glibc has gettid since 2.30; RHEL 8 has 2.28. */
static inline pid_t thread_id(void)
{
    return (pid_t)syscall(SYS_gettid);
}

#endif
