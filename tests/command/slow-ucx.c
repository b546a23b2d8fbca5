/* SPDX-License-Identifier: Apache-2.0 */
/* To be preloaded: UCX takes 400 ms to open each rail, as on a node with many devices. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default)
int ucp_init_version(unsigned major, unsigned minor, const void *params, const void *config,
                     void **context);
int ucp_init_version(unsigned major, unsigned minor, const void *params, const void *config,
                     void **context)
{
    __typeof__(&ucp_init_version) real;
    void *found = dlsym(RTLD_NEXT, __func__);

    memcpy(&real, &found, sizeof real);
    usleep(400000);
    return real(major, minor, params, config, context);
}
#pragma GCC visibility pop
