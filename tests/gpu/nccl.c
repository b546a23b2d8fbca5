/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libnccl.so.2: ranks send their data over TCP to a thread of the process that made
 * the unique ID; the thread sends each rank its result. A collective advances the simulated clock
 * of the device (cuda.c) by the bytes on the bus and the slowest member. Calls return when the
 * collective is complete. Prototypes and constants: nccl.h of NCCL 2.21; with -DSTAND_IN_HIP it is
 * librccl.so.1. Keys of the state: README.md. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "tests/gpu/hip.h"
#include "tests/gpu/state.h"

enum { OK, UNHANDLED_CUDA, SYSTEM, INTERNAL, INVALID_ARGUMENT, INVALID_USAGE, REMOTE };
enum { RANKS = 256, SECRET = 0x6d757374, SUM = 0, INT32 = 2, FLOAT32 = 7, ELEMENT = 4 };
enum kind { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, EXCHANGE };

/* The cost model: ns for a byte on the bus, and for an operation. */
static const double bus_ns = 500, operation_ns = 100000;

struct id {
    uint32_t secret;
    struct sockaddr_in address;
    char rest[128 - sizeof(uint32_t) - sizeof(struct sockaddr_in)];
};

struct communicator {
    int socket, rank, size;
};

struct header {
    int kind, root, is_hung;
    uint64_t send, receive; /* bytes */
    double factor;          /* the speed of the rank's device; 1: full speed */
};

/* standin_pass_time() of the stand-in for libcuda. */
static int (*pass_time)(double ns);

/* Sets pass_time. Finds the stand-in for libcuda by its soname, wherever it was loaded from.
 * Returns whether it is loaded. */
static bool has_device(void)
{
    void *library = dlopen(DRIVER_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    void *function = library ? dlsym(library, "standin_pass_time") : NULL;

    memcpy(&pass_time, &function, sizeof function);
    return pass_time != NULL;
}

/* ---------------------------------------------------------------- the thread of the root */

static bool send_all(int fd, const void *data, size_t size)
{
    return send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool receive_all(int fd, void *data, size_t size)
{
    return size == 0 || recv(fd, data, size, MSG_WAITALL) == (ssize_t)size;
}

struct member {
    int socket;
    struct header header;
    char *data;
};

/* Computes the result of the operation for a rank. */
static void compute(const struct member *members, int size, int rank, char *result)
{
    const struct header *header = &members[rank].header;
    size_t each = header->receive / (size_t)size;
    size_t offset = header->kind == REDUCE_SCATTER ? (size_t)rank * header->receive
                    : header->kind == EXCHANGE     ? (size_t)rank * each
                                                   : 0;

    memset(result, 0, header->receive);
    if (header->kind == BROADCAST)
        memcpy(result, members[header->root].data, header->receive);
    for (int i = 0; i < size && header->kind != BROADCAST; i++) {
        const float *from = (const float *)(members[i].data + offset);

        if (header->kind == ALL_GATHER || header->kind == EXCHANGE)
            memcpy(result + (size_t)i * each, from, each);
        else
            for (size_t k = 0; k < header->receive / ELEMENT; k++)
                ((float *)result)[k] += from[k];
    }
}

/* Runs one operation of all ranks. Returns false if a rank is gone. */
static bool operation_run(struct member *members, int size)
{
    struct header slowest = {.factor = 1};
    bool is_well = true;

    for (int i = 0; i < size && is_well; i++) {
        struct member *member = &members[i];

        is_well = receive_all(member->socket, &member->header, sizeof member->header) &&
                  (member->data = realloc(member->data, member->header.send + 1)) &&
                  receive_all(member->socket, member->data, member->header.send);
        slowest.is_hung |= member->header.is_hung;
        if (member->header.factor < slowest.factor)
            slowest.factor = member->header.factor;
    }
    for (int i = 0; i < size && is_well; i++) {
        char *result = malloc(members[i].header.receive + 1);

        is_well = result != NULL;
        if (is_well) {
            compute(members, size, i, result);
            is_well = send_all(members[i].socket, &slowest, sizeof slowest) &&
                      send_all(members[i].socket, result, members[i].header.receive);
        }
        free(result);
    }
    return is_well;
}

static void *root_thread(void *argument)
{
    struct member *members = calloc(RANKS, sizeof *members);
    int listener = (int)(intptr_t)argument, size = 1, joined = 0, on = 1;

    for (; members && joined < size; joined++) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        struct communicator member;

        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (fd < 0 || !receive_all(fd, &member, sizeof member) || member.size > RANKS)
            return NULL;
        size = member.size;
        members[member.rank].socket = fd;
    }
    for (int i = 0; i < joined; i++)
        send_all(members[i].socket, &size, sizeof size);
    while (joined == size && operation_run(members, size))
        continue;
    for (int i = 0; i < joined; i++) {
        close(members[i].socket);
        free(members[i].data);
    }
    free(members);
    close(listener);
    return NULL;
}

/* ---------------------------------------------------------------- the library */

API(ncclGetVersion, int *version)
{
    *version = (int)state_number(-1, "nccl_version", 22105);
    return state_enter(-1, __func__);
}

__attribute__((visibility("default"))) const char *ncclGetErrorString(int status);
const char *ncclGetErrorString(int status)
{
    static const char *const texts[] = {
        "no error",         "unhandled cuda error", "unhandled system error", "internal error",
        "invalid argument", "invalid usage",        "remote process exited"};

    return status >= OK && status <= REMOTE ? texts[status] : "unknown result code";
}

/* The address of this host for other nodes: the first one of an interface that is up and no
 * loopback; 127.0.0.1 if there is none. */
static struct sockaddr_in own_address(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct ifaddrs *all = NULL;

    if (getifaddrs(&all) != 0)
        return address;
    for (struct ifaddrs *one = all; one; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) &&
            !(one->ifa_flags & IFF_LOOPBACK)) {
            address.sin_addr = ((struct sockaddr_in *)one->ifa_addr)->sin_addr;
            break;
        }
    freeifaddrs(all);
    return address;
}

API(ncclGetUniqueId, struct id *id)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int status = state_enter(-1, __func__);
    socklen_t length = sizeof id->address;
    pthread_t thread;

    if (status != OK)
        return status;
    *id = (struct id){.secret = SECRET, .address = own_address()};
    if (bind(listener, (struct sockaddr *)&id->address, length) != 0 ||
        listen(listener, RANKS) != 0 ||
        getsockname(listener, (struct sockaddr *)&id->address, &length) != 0 ||
        pthread_create(&thread, NULL, root_thread, (void *)(intptr_t)listener) != 0)
        return SYSTEM;
    pthread_detach(thread);
    return OK;
}

API(ncclCommInitRank, struct communicator **communicator, int size, struct id id, int rank)
{
    struct communicator *made = calloc(1, sizeof *made);
    int status = state_enter(has_device() ? pass_time(0) : -1, __func__), answer, on = 1;

    if (status != OK)
        return status;
    if (!made || !pass_time)
        return UNHANDLED_CUDA;
    if (id.secret != SECRET || rank < 0 || rank >= size || size > RANKS)
        return INVALID_ARGUMENT;
    *made = (struct communicator){socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rank, size};
    setsockopt(made->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(made->socket, (struct sockaddr *)&id.address, sizeof id.address) != 0)
        return SYSTEM;
    if (!send_all(made->socket, made, sizeof *made) ||
        !receive_all(made->socket, &answer, sizeof answer) || answer != size)
        return REMOTE;
    *communicator = made;
    return OK;
}

API(ncclCommDestroy, struct communicator *communicator)
{
    close(communicator->socket);
    free(communicator);
    return state_enter(-1, __func__);
}

API(ncclCommGetAsyncError, struct communicator *communicator, int *status)
{
    *status = OK;
    return state_enter(-1, __func__);
}

static double bus_bytes(const struct header *header, int size)
{
    double bytes = (double)(header->send > header->receive ? header->send : header->receive);
    double share = (double)(size - 1) / size;

    return bytes * (header->kind == ALL_REDUCE ? 2 * share : header->kind == BROADCAST ? 1 : share);
}

/* Runs an operation. Counts are in elements of 4 bytes; root < 0: the operation is not a sum. */
static int operate(const char *name, enum kind kind, int root, const void *from, size_t send_count,
                   void *to, size_t receive_count, int type, struct communicator *communicator,
                   void *stream)
{
    int device = pass_time(0), status = state_enter(device, name);
    struct header slowest, own = {.kind = (int)kind,
                                  .root = root,
                                  .send = send_count * ELEMENT,
                                  .receive = receive_count * ELEMENT,
                                  .is_hung = state_number(device, "nccl_hang", 0) != 0,
                                  .factor = state_factor(device, "nccl_slow", 1)};
    unsigned *sent;
    bool is_well;

    if (status != OK)
        return status;
    if (stream || root < 0 || root >= communicator->size ||
        (type != FLOAT32 && (type != INT32 || kind == ALL_REDUCE || kind == REDUCE_SCATTER)))
        return INVALID_ARGUMENT;
    if (state_number(device, "nccl_stop", 0))
        raise(SIGSTOP);
    sent = malloc(own.send + 1);
    if (!sent)
        return SYSTEM;
    memcpy(sent, from, own.send);
    if (communicator->size > 1 && state_number(device, "nccl_wrong", 0))
        sent[send_count / 2] ^= 1 << 22; /* a high bit of the fraction of a float */
    is_well = send_all(communicator->socket, &own, sizeof own) &&
              send_all(communicator->socket, sent, own.send) &&
              receive_all(communicator->socket, &slowest, sizeof slowest) &&
              receive_all(communicator->socket, to, own.receive);
    free(sent);
    if (!is_well)
        return REMOTE;
    usleep((useconds_t)state_number(device, "nccl_late", 0) * 1000);
    pass_time(slowest.is_hung
                  ? -1
                  : operation_ns + bus_bytes(&own, communicator->size) * bus_ns / slowest.factor);
    return OK;
}

API(ncclAllReduce, const void *from, void *to, size_t count, int type, int operation,
    struct communicator *communicator, void *stream)
{
    return operate(__func__, ALL_REDUCE, operation == SUM ? 0 : -1, from, count, to, count, type,
                   communicator, stream);
}

API(ncclReduceScatter, const void *from, void *to, size_t count, int type, int operation,
    struct communicator *communicator, void *stream)
{
    return operate(__func__, REDUCE_SCATTER, operation == SUM ? 0 : -1, from,
                   count * (size_t)communicator->size, to, count, type, communicator, stream);
}

API(ncclAllGather, const void *from, void *to, size_t count, int type,
    struct communicator *communicator, void *stream)
{
    return operate(__func__, ALL_GATHER, 0, from, count, to, count * (size_t)communicator->size,
                   type, communicator, stream);
}

API(ncclBroadcast, const void *from, void *to, size_t count, int type, int root,
    struct communicator *communicator, void *stream)
{
    return operate(__func__, BROADCAST, root, from, count, to, count, type, communicator, stream);
}

/* The open group: one block to and one from each rank, all of count elements. */
static struct {
    bool is_open;
    struct communicator *communicator;
    const void *from[RANKS];
    void *to[RANKS];
    size_t count;
    int sends, receives;
} group;

#ifndef STAND_IN_OLD
API(ncclSend, const void *from, size_t count, int type, int peer, struct communicator *communicator,
    void *stream)
{
    if (!group.is_open || stream || peer < 0 || peer >= communicator->size || type != INT32)
        return INVALID_USAGE;
    group.communicator = communicator;
    group.from[peer] = from;
    group.count = count;
    group.sends++;
    return state_enter(-1, __func__);
}

API(ncclRecv, void *to, size_t count, int type, int peer, struct communicator *communicator,
    void *stream)
{
    if (!group.is_open || stream || peer < 0 || peer >= communicator->size || type != INT32 ||
        count != group.count)
        return INVALID_USAGE;
    group.to[peer] = to;
    group.receives++;
    return state_enter(-1, __func__);
}
#endif

API(ncclGroupStart, void)
{
    memset(&group, 0, sizeof group);
    group.is_open = true;
    return state_enter(-1, __func__);
}

API(ncclGroupEnd, void)
{
    int size = group.communicator ? group.communicator->size : 0, status = INVALID_USAGE;
    size_t block = group.count * ELEMENT, count = group.count * (size_t)size;
    char *sent = malloc(count * ELEMENT + 1), *received = malloc(count * ELEMENT + 1);

    group.is_open = false;
    if (sent && received && size > 0 && group.sends == size && group.receives == size) {
        for (int i = 0; i < size; i++)
            memcpy(sent + (size_t)i * block, group.from[i], block);
        status = operate(__func__, EXCHANGE, 0, sent, count, received, count, INT32,
                         group.communicator, NULL);
        for (int i = 0; i < size && status == OK; i++)
            memcpy(group.to[i], received + (size_t)i * block, block);
    }
    free(sent);
    free(received);
    return status;
}
