/* SPDX-License-Identifier: Apache-2.0 */
#undef _FORTIFY_SOURCE /* it would define inline functions with the names defined here */
#include "config.h"

#include "tests/spank-host/fault.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/spank-host/host.h"

/* In shared memory, because processes that the plugin forks continue the count. */
static struct {
    bool is_armed, persists;
    enum fault_kind kind;
    enum fault_flavour flavour;
    unsigned at, calls;
    char victim[256];
    const void *sites[FAULT_SITES];
    const char *functions[FAULT_SITES];
} * control;

bool fault_has(enum fault_kind kind)
{
#ifdef __SANITIZE_ADDRESS__
    return kind != FAULT_MEMORY;
#else
    return kind < FAULT_KINDS;
#endif
}

void fault_arm(enum fault_kind kind, enum fault_flavour flavour, unsigned at, bool persists)
{
    if (control == NULL)
        control =
            mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    control->kind = kind;
    control->flavour = flavour;
    control->at = at;
    control->persists = persists;
    control->calls = 0;
    control->victim[0] = '\0';
    control->is_armed = true;
}

void fault_disarm(void)
{
    control->is_armed = false;
}

unsigned fault_calls(void)
{
    return control->calls;
}

const char *fault_first_failed(void)
{
    return control->victim;
}

const void *fault_site(unsigned i)
{
    return i >= 1 && i <= control->calls && i < FAULT_SITES ? control->sites[i] : NULL;
}

const char *fault_function(unsigned i)
{
    return i >= 1 && i <= control->calls && i < FAULT_SITES ? control->functions[i] : "?";
}

/* Counts a call. Returns whether it fails, and then sets errno. */
static bool call_fails(enum fault_kind kind, const char *function, const void *site,
                       const char *path, int fd)
{
    static const int broken[FAULT_FLAVOURS] = {ENOMEM, EIO, EACCES, EINTR};
    unsigned number;
    char link[64];
    ssize_t length;

    if (control == NULL || !control->is_armed || control->kind != kind || host_internal_depth > 0 ||
        !host_in_hook)
        return false;
    number = __atomic_add_fetch(&control->calls, 1, __ATOMIC_RELAXED);
    if (number < FAULT_SITES) {
        control->sites[number] = site;
        control->functions[number] = function;
    }
    if (control->at == 0 || number < control->at || (number > control->at && !control->persists))
        return false;
    if (control->victim[0] == '\0') {
        int n = snprintf(control->victim, sizeof control->victim, "%s %s", function,
                         path != NULL ? path : "");

        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        length = fd < 0 ? 0
                        : syscall(SYS_readlink, link, control->victim + n,
                                  sizeof control->victim - (size_t)n - 1);
        if (length > 0)
            control->victim[n + length] = '\0';
    }
    errno = broken[control->flavour];
    return true;
}

static bool is_short(void)
{
    return control->flavour == FAULT_SHORT;
}

static int exhausted(int error)
{
    return control->flavour == FAULT_EXHAUSTED ? error : errno;
}

/* Declares real, the C library's function of that name. */
#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (real == NULL)                                                                              \
    real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define HERE __builtin_return_address(0)
#define FAILS(name, path, fd) call_fails(FAULT_FILES, #name, HERE, path, fd)

#pragma GCC visibility push(default)

/* ---------------------------------------------------------------- memory */

#ifndef __SANITIZE_ADDRESS__
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size)
{
    if (call_fails(FAULT_MEMORY, "malloc", HERE, NULL, -1)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (call_fails(FAULT_MEMORY, "calloc", HERE, NULL, -1)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    if (call_fails(FAULT_MEMORY, "realloc", HERE, NULL, -1)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(memory, size);
}
#endif

/* ---------------------------------------------------------------- files that are opened */

int open(const char *path, int flags, ...)
{
    mode_t mode;
    va_list args;

    REAL(open);
    va_start(args, flags);
    mode = va_arg(args, mode_t);
    va_end(args);
    if (FAILS(open, path, -1)) {
        errno = exhausted(EMFILE);
        return -1;
    }
    return real(path, flags, mode);
}

int openat(int fd, const char *path, int flags, ...)
{
    mode_t mode;
    va_list args;

    REAL(openat);
    va_start(args, flags);
    mode = va_arg(args, mode_t);
    va_end(args);
    if (FAILS(openat, path, -1)) {
        errno = exhausted(EMFILE);
        return -1;
    }
    return real(fd, path, flags, mode);
}

int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
    return open(path, flags, 0);
}

int __openat_2(int fd, const char *path, int flags);
int __openat_2(int fd, const char *path, int flags)
{
    return openat(fd, path, flags, 0);
}

FILE *fopen(const char *path, const char *mode)
{
    REAL(fopen);
    if (FAILS(fopen, path, -1)) {
        errno = exhausted(EMFILE);
        return NULL;
    }
    return real(path, mode);
}

DIR *opendir(const char *path)
{
    REAL(opendir);
    if (FAILS(opendir, path, -1)) {
        errno = exhausted(EMFILE);
        return NULL;
    }
    return real(path);
}

int socket(int domain, int type, int protocol)
{
    REAL(socket);
    if (FAILS(socket, NULL, -1)) {
        errno = exhausted(EMFILE);
        return -1;
    }
    return real(domain, type, protocol);
}

int pipe2(int ends[2], int flags)
{
    REAL(pipe2);
    if (FAILS(pipe2, NULL, -1)) {
        errno = exhausted(EMFILE);
        return -1;
    }
    return real(ends, flags);
}

int mkostemp(char *template, int flags)
{
    REAL(mkostemp);
    if (FAILS(mkostemp, template, -1)) {
        errno = exhausted(ENOSPC);
        return -1;
    }
    return real(template, flags);
}

void *dlopen(const char *path, int flags)
{
    REAL(dlopen);
    return FAILS(dlopen, path, -1) ? real("/nowhere/no.so", flags) : real(path, flags);
}

/* ---------------------------------------------------------------- reading and writing */

ssize_t read(int fd, void *buffer, size_t size)
{
    REAL(read);
    if (FAILS(read, NULL, fd)) {
        if (!is_short())
            return -1;
        size = size > 0; /* one byte */
    }
    return real(fd, buffer, size);
}

ssize_t __read_chk(int fd, void *buffer, size_t size, size_t buffer_size);
ssize_t __read_chk(int fd, void *buffer, size_t size, size_t buffer_size)
{
    if (size > buffer_size)
        abort();
    return read(fd, buffer, size);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    REAL(write);
    if (FAILS(write, NULL, fd)) {
        errno = exhausted(ENOSPC);
        if (!is_short())
            return -1;
        size = size > 0;
    }
    return real(fd, buffer, size);
}

struct dirent *readdir(DIR *directory)
{
    REAL(readdir);
    return FAILS(readdir, NULL, dirfd(directory)) ? NULL : real(directory);
}

ssize_t readlink(const char *path, char *text, size_t size)
{
    REAL(readlink);
    return FAILS(readlink, path, -1) ? -1 : real(path, text, size);
}

ssize_t __readlink_chk(const char *path, char *text, size_t size, size_t text_size);
ssize_t __readlink_chk(const char *path, char *text, size_t size, size_t text_size)
{
    if (size > text_size)
        abort();
    return readlink(path, text, size);
}

char *realpath(const char *path, char *result)
{
    REAL(realpath);
    return FAILS(realpath, path, -1) ? NULL : real(path, result);
}

char *__realpath_chk(const char *path, char *result, size_t size);
char *__realpath_chk(const char *path, char *result, size_t size)
{
    if (size < 4096)
        abort();
    return realpath(path, result);
}

int gethostname(char *name, size_t size)
{
    REAL(gethostname);
    return FAILS(gethostname, NULL, -1) ? -1 : real(name, size);
}

/* ---------------------------------------------------------------- the rest, -1 and errno */

/* Defines a function that returns -1 on failure. path and fd: the arguments that name the file;
 * NULL, -1: it has none. */
#define SIMPLE(type, name, parameters, arguments, path, fd)                                        \
    type name parameters                                                                           \
    {                                                                                              \
        REAL(name);                                                                                \
        return FAILS(name, path, fd) ? (type)-1 : real arguments;                                  \
    }

SIMPLE(int, stat, (const char *path, struct stat *status), (path, status), path, -1)
SIMPLE(int, lstat, (const char *path, struct stat *status), (path, status), path, -1)
SIMPLE(int, fstat, (int fd, struct stat *status), (fd, status), NULL, fd)
SIMPLE(int, fstatat, (int fd, const char *path, struct stat *status, int flags),
       (fd, path, status, flags), path, -1)
SIMPLE(int, access, (const char *path, int mode), (path, mode), path, -1)
SIMPLE(int, mkdir, (const char *path, mode_t mode), (path, mode), path, -1)
SIMPLE(int, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode), path, -1)
SIMPLE(int, rename, (const char *from, const char *to), (from, to), to, -1)
SIMPLE(int, renameat, (int from_fd, const char *from, int to_fd, const char *to),
       (from_fd, from, to_fd, to), to, -1)
SIMPLE(int, fchmod, (int fd, mode_t mode), (fd, mode), NULL, fd)
SIMPLE(int, ftruncate, (int fd, off_t length), (fd, length), NULL, fd)
SIMPLE(int, fsync, (int fd), (fd), NULL, fd)
SIMPLE(int, flock, (int fd, int operation), (fd, operation), NULL, fd)
SIMPLE(int, dup2, (int from, int to), (from, to), NULL, from)
SIMPLE(int, connect, (int fd, const struct sockaddr *address, socklen_t size), (fd, address, size),
       NULL, fd)
SIMPLE(int, bind, (int fd, const struct sockaddr *address, socklen_t size), (fd, address, size),
       NULL, fd)
SIMPLE(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t size),
       (fd, level, name, value, size), NULL, fd)
SIMPLE(ssize_t, send, (int fd, const void *data, size_t size, int flags), (fd, data, size, flags),
       NULL, fd)
SIMPLE(ssize_t, recv, (int fd, void *data, size_t size, int flags), (fd, data, size, flags), NULL,
       fd)
SIMPLE(ssize_t, sendto,
       (int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
        socklen_t to_size),
       (fd, data, size, flags, to, to_size), NULL, fd)
SIMPLE(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags),
       NULL, fd)
SIMPLE(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), NULL,
       fd)
SIMPLE(int, poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout), NULL, -1)

pid_t fork(void)
{
    REAL(fork);
    if (FAILS(fork, NULL, -1)) {
        errno = exhausted(EAGAIN);
        return -1;
    }
    return real();
}

#pragma GCC visibility pop
