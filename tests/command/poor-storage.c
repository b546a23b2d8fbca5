/* SPDX-License-Identifier: Apache-2.0 */
/* To be preloaded. The first fsync() of each process takes SLOW_FSYNC_S seconds, as on a file
 * server that is busy or fails over; opendir() of HUNG_DIRECTORY does not return, as on a server
 * that is gone; with NO_FLOCK, flock() fails, as on a file system without locks. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#pragma GCC visibility push(default)
int fsync(int fd);
int fsync(int fd)
{
    static int calls;
    const char *seconds = getenv("SLOW_FSYNC_S");
    __typeof__(&fsync) real;
    void *found = dlsym(RTLD_NEXT, __func__);

    memcpy(&real, &found, sizeof real);
    if (seconds != NULL && __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) == 0)
        sleep((unsigned)atoi(seconds));
    return real(fd);
}

DIR *opendir(const char *name);
DIR *opendir(const char *name)
{
    const char *hung = getenv("HUNG_DIRECTORY");
    __typeof__(&opendir) real;
    void *found = dlsym(RTLD_NEXT, __func__);

    memcpy(&real, &found, sizeof real);
    while (hung != NULL && strcmp(name, hung) == 0)
        pause();
    return real(name);
}

int flock(int fd, int operation);
int flock(int fd, int operation)
{
    __typeof__(&flock) real;
    void *found = dlsym(RTLD_NEXT, __func__);

    memcpy(&real, &found, sizeof real);
    if (getenv("NO_FLOCK") == NULL)
        return real(fd, operation);
    errno = ENOLCK;
    return -1;
}
#pragma GCC visibility pop
