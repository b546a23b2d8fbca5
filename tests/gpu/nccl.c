/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in of libnccl.so.2: ranks send what they have over TCP to a thread of the process that
 * made the id, which answers each with its result. Time is the device's of the stand-in of libcuda
 * (cuda.c), by the bytes on the bus and the slowest member; the stream is done when the call is.
 * Prototypes and numbers by nccl.h of NCCL 2.21. The state's keys: README.md. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <link.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "tests/gpu/state.h"

#define EXPORT __attribute__((visibility("default")))

enum { OK, UNHANDLED_CUDA, SYSTEM, INTERNAL, INVALID_ARGUMENT, INVALID_USAGE, REMOTE };
enum { RANKS = 256, SECRET = 0x6d757374 };
enum kind { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, EXCHANGE };

/* What the model's links take for a byte on the bus, and an operation takes: ns. */
static const double bus_ns = 500, operation_ns = 100000;

struct id {
    uint32_t secret;
    struct sockaddr_in address;
    char rest[128 - sizeof(uint32_t) - sizeof(struct sockaddr_in)];
};

struct communicator {
    int socket, rank, size;
};

struct hello {
    int rank, size, version;
};

struct header {
    int kind, root, is_hung;
    uint64_t send, receive; /* bytes */
    double factor;          /* of its speed */
};

/* ---------------------------------------------------------------- the device */

/* Of the stand-in of libcuda: the current device, whose time goes on by ns; below 0: never. */
static int (*pass_time)(double ns);

static int find_cuda(struct dl_phdr_info *info, size_t size, void *path)
{
    (void)size;
    if (strstr(info->dlpi_name, "libcuda.so"))
        snprintf(path, 512, "%s", info->dlpi_name);
    return 0;
}

static bool has_device(void)
{
    char path[512] = "";
    void *library, *function;

    if (pass_time)
        return true;
    dl_iterate_phdr(find_cuda, path);
    library = *path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    function = library ? dlsym(library, "standin_pass_time") : NULL;
    memcpy(&pass_time, &function, sizeof function);
    return pass_time != NULL;
}

static double factor(int device, const char *key)
{
    const char *text = state_text(device, key, NULL);

    return text ? strtod(text, NULL) : 1;
}

/* ---------------------------------------------------------------- the thread of the root */

static bool put_all(int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size > 0) {
        ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        at += sent;
        size -= (size_t)sent;
    }
    return true;
}

static bool take_all(int fd, void *data, size_t size)
{
    return size == 0 || recv(fd, data, size, MSG_WAITALL) == (ssize_t)size;
}

struct member {
    int socket;
    struct header header;
    char *data, *result;
};

static void add(float *to, const float *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

/* What the operation leaves at that rank. */
static void compute(struct member *members, int size, int rank)
{
    struct member *member = &members[rank];
    const struct header *header = &member->header;
    size_t each = header->receive / (size_t)size, offset = 0;

    switch ((enum kind)header->kind) {
    case REDUCE_SCATTER:
        offset = (size_t)rank * header->receive;
        __attribute__((fallthrough));
    case ALL_REDUCE:
        memset(member->result, 0, header->receive);
        for (int i = 0; i < size; i++)
            add((float *)member->result, (const float *)(members[i].data + offset),
                header->receive / 4);
        break;
    case ALL_GATHER:
        for (int i = 0; i < size; i++)
            memcpy(member->result + (size_t)i * each, members[i].data, each);
        break;
    case BROADCAST:
        memcpy(member->result, members[header->root].data, header->receive);
        break;
    case EXCHANGE:
        for (int i = 0; i < size; i++)
            memcpy(member->result + (size_t)i * each, members[i].data + (size_t)rank * each, each);
        break;
    }
}

/* One operation of all. False when a member is gone. */
static bool serve(struct member *members, int size)
{
    struct header slowest = {.factor = 1};
    bool is_well = true;

    for (int i = 0; i < size && is_well; i++) {
        struct member *member = &members[i];

        is_well = take_all(member->socket, &member->header, sizeof member->header);
        member->data = malloc(member->header.send + 1);
        member->result = malloc(member->header.receive + 1);
        is_well = is_well && member->data && member->result &&
                  take_all(member->socket, member->data, member->header.send);
        slowest.is_hung |= member->header.is_hung;
        if (member->header.factor < slowest.factor)
            slowest.factor = member->header.factor;
    }
    for (int i = 0; i < size && is_well; i++) {
        compute(members, size, i);
        is_well = put_all(members[i].socket, &slowest, sizeof slowest) &&
                  put_all(members[i].socket, members[i].result, members[i].header.receive);
    }
    for (int i = 0; i < size; i++) {
        free(members[i].data);
        free(members[i].result);
        members[i].data = members[i].result = NULL;
    }
    return is_well;
}

static void *root_thread(void *argument)
{
    static struct member all[64][RANKS];
    static int used;
    int listener = (int)(intptr_t)argument, size = 1;
    struct member *members = all[used++ % 64];

    for (int i = 0; i < size; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        struct hello hello;
        int on = 1;

        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (fd < 0 || !take_all(fd, &hello, sizeof hello) || hello.size > RANKS)
            return NULL;
        size = hello.size;
        members[hello.rank] = (struct member){.socket = fd};
    }
    for (int i = 0; i < size; i++)
        put_all(members[i].socket, &size, sizeof size);
    while (serve(members, size))
        continue;
    for (int i = 0; i < size; i++)
        close(members[i].socket);
    close(listener);
    return NULL;
}

/* ---------------------------------------------------------------- the library */

EXPORT int ncclGetVersion(int *version);
int ncclGetVersion(int *version)
{
    int status = state_enter(-1, __func__);

    *version = (int)state_number(-1, "nccl_version", 22105);
    return status;
}

EXPORT const char *ncclGetErrorString(int status);
const char *ncclGetErrorString(int status)
{
    static const char *const texts[] = {
        "no error",         "unhandled cuda error", "unhandled system error", "internal error",
        "invalid argument", "invalid usage",        "remote process exited"};

    return status >= OK && status <= REMOTE ? texts[status] : "unknown result code";
}

/* An address by which others reach this host: the first one that is no loopback's, if any. */
static void own_address(struct sockaddr_in *address)
{
    struct ifaddrs *all, *one;

    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (getifaddrs(&all) != 0)
        return;
    for (one = all; one; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) &&
            !(one->ifa_flags & IFF_LOOPBACK)) {
            memcpy(address, one->ifa_addr, sizeof *address);
            break;
        }
    freeifaddrs(all);
    address->sin_port = 0;
}

EXPORT int ncclGetUniqueId(struct id *id);
int ncclGetUniqueId(struct id *id)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int status = state_enter(-1, __func__);
    socklen_t length = sizeof id->address;
    pthread_t thread;

    if (status != OK)
        return status;
    *id = (struct id){.secret = SECRET};
    own_address(&id->address);
    if (bind(listener, (struct sockaddr *)&id->address, length) != 0 ||
        listen(listener, RANKS) != 0 ||
        getsockname(listener, (struct sockaddr *)&id->address, &length) != 0 ||
        pthread_create(&thread, NULL, root_thread, (void *)(intptr_t)listener) != 0)
        return SYSTEM;
    pthread_detach(thread);
    return OK;
}

EXPORT int ncclCommInitRank(struct communicator **communicator, int size, struct id id, int rank);
int ncclCommInitRank(struct communicator **communicator, int size, struct id id, int rank)
{
    struct communicator *made = calloc(1, sizeof *made);
    struct hello hello = {rank, size, 0};
    int status = state_enter(has_device() ? pass_time(0) : -1, __func__), answer, on = 1;

    if (status != OK)
        return status;
    if (!made || !has_device())
        return UNHANDLED_CUDA;
    if (id.secret != SECRET || rank < 0 || rank >= size || size > RANKS)
        return INVALID_ARGUMENT;
    *made = (struct communicator){socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rank, size};
    setsockopt(made->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(made->socket, (struct sockaddr *)&id.address, sizeof id.address) != 0)
        return SYSTEM;
    if (!put_all(made->socket, &hello, sizeof hello) ||
        !take_all(made->socket, &answer, sizeof answer) || answer != size)
        return REMOTE;
    *communicator = made;
    return OK;
}

EXPORT int ncclCommDestroy(struct communicator *communicator);
int ncclCommDestroy(struct communicator *communicator)
{
    int status = state_enter(-1, __func__);

    close(communicator->socket);
    free(communicator);
    return status;
}

EXPORT int ncclCommGetAsyncError(struct communicator *communicator, int *status);
int ncclCommGetAsyncError(struct communicator *communicator, int *status)
{
    (void)communicator;
    *status = OK;
    return state_enter(-1, __func__);
}

static double bus_bytes(const struct header *header, int size)
{
    double bytes = (double)(header->send > header->receive ? header->send : header->receive);
    double share = (double)(size - 1) / size;

    return bytes * (header->kind == ALL_REDUCE ? 2 * share : header->kind == BROADCAST ? 1 : share);
}

static int operate(struct communicator *communicator, enum kind kind, int root, const void *from,
                   size_t send, void *to, size_t receive)
{
    int device = pass_time(0);
    struct header own = {.kind = (int)kind,
                         .root = root,
                         .send = send,
                         .receive = receive,
                         .is_hung = state_number(device, "nccl_hang", 0) != 0,
                         .factor = factor(device, "nccl_slow")},
                  slowest;

    char *sent = malloc(send + 1);
    bool is_well;

    if (!sent)
        return SYSTEM;
    memcpy(sent, from, send);
    if (communicator->size > 1 &&
        state_number(device, "nccl_wrong", 0)) /* a high bit of the fraction of a float */
        sent[send / 8 * 4 + 2] ^= 0x40;
    is_well = put_all(communicator->socket, &own, sizeof own) &&
              put_all(communicator->socket, sent, send) &&
              take_all(communicator->socket, &slowest, sizeof slowest) &&
              take_all(communicator->socket, to, receive);
    free(sent);
    if (!is_well)
        return REMOTE;
    usleep((useconds_t)state_number(device, "nccl_late", 0) * 1000);
    pass_time(slowest.is_hung
                  ? -1
                  : operation_ns + bus_bytes(&own, communicator->size) * bus_ns / slowest.factor);
    return OK;
}

static size_t size_of(int type)
{
    return type == 2 || type == 7 ? 4 : 0; /* ncclInt32, ncclFloat32 */
}

#define OPERATE(kind, root, send_count, receive_count)                                             \
    do {                                                                                           \
        int status_ = state_enter(pass_time(0), __func__);                                         \
                                                                                                   \
        if (status_ != OK)                                                                         \
            return status_;                                                                        \
        if (stream || size_of(type) == 0)                                                          \
            return INVALID_ARGUMENT;                                                               \
        return operate(communicator, kind, root, from, (send_count)*size_of(type), to,             \
                       (receive_count)*size_of(type));                                             \
    } while (0)

EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
                         struct communicator *communicator, void *stream);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
                  struct communicator *communicator, void *stream)
{
    if (operation != 0 || type != 7)
        return INVALID_ARGUMENT;
    OPERATE(ALL_REDUCE, 0, count, count);
}

EXPORT int ncclReduceScatter(const void *from, void *to, size_t count, int type, int operation,
                             struct communicator *communicator, void *stream);
int ncclReduceScatter(const void *from, void *to, size_t count, int type, int operation,
                      struct communicator *communicator, void *stream)
{
    if (operation != 0 || type != 7)
        return INVALID_ARGUMENT;
    OPERATE(REDUCE_SCATTER, 0, count * (size_t)communicator->size, count);
}

EXPORT int ncclAllGather(const void *from, void *to, size_t count, int type,
                         struct communicator *communicator, void *stream);
int ncclAllGather(const void *from, void *to, size_t count, int type,
                  struct communicator *communicator, void *stream)
{
    OPERATE(ALL_GATHER, 0, count, count * (size_t)communicator->size);
}

EXPORT int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
                         struct communicator *communicator, void *stream);
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
                  struct communicator *communicator, void *stream)
{
    if (root < 0 || root >= communicator->size)
        return INVALID_ARGUMENT;
    OPERATE(BROADCAST, root, count, count);
}

/* Between begin and end of a group: one block to and from each rank, as large. */
#ifndef STAND_IN_OLD
static struct {
    bool is_open;
    struct communicator *communicator;
    const void *from[RANKS];
    void *to[RANKS];
    size_t size;
    int sends, receives;
} group;

EXPORT int ncclSend(const void *from, size_t count, int type, int peer,
                    struct communicator *communicator, void *stream);
int ncclSend(const void *from, size_t count, int type, int peer, struct communicator *communicator,
             void *stream)
{
    if (!group.is_open || stream || peer < 0 || peer >= communicator->size || size_of(type) == 0)
        return INVALID_USAGE;
    group.communicator = communicator;
    group.from[peer] = from;
    group.size = count * size_of(type);
    group.sends++;
    return state_enter(-1, __func__);
}

EXPORT int ncclRecv(void *to, size_t count, int type, int peer, struct communicator *communicator,
                    void *stream);
int ncclRecv(void *to, size_t count, int type, int peer, struct communicator *communicator,
             void *stream)
{
    if (!group.is_open || stream || peer < 0 || peer >= communicator->size ||
        count * size_of(type) != group.size)
        return INVALID_USAGE;
    group.to[peer] = to;
    group.receives++;
    return state_enter(-1, __func__);
}
#endif

EXPORT int ncclGroupStart(void);
int ncclGroupStart(void)
{
#ifndef STAND_IN_OLD
    memset(&group, 0, sizeof group);
    group.is_open = true;
#endif
    return state_enter(-1, __func__);
}

EXPORT int ncclGroupEnd(void);
int ncclGroupEnd(void)
{
    int status = state_enter(-1, __func__);
#ifndef STAND_IN_OLD
    int size = group.communicator ? group.communicator->size : 0;
    char *sent = malloc(group.size * (size_t)size + 1),
         *received = malloc(group.size * (size_t)size + 1);

    group.is_open = false;
    if (status == OK && (!sent || !received || group.sends != size || group.receives != size))
        status = INVALID_USAGE;
    for (int i = 0; i < size && status == OK; i++)
        memcpy(sent + (size_t)i * group.size, group.from[i], group.size);
    if (status == OK)
        status = operate(group.communicator, EXCHANGE, 0, sent, group.size * (size_t)size, received,
                         group.size * (size_t)size);
    for (int i = 0; i < size && status == OK; i++)
        memcpy(group.to[i], received + (size_t)i * group.size, group.size);
    free(sent);
    free(received);
#endif
    return status;
}
