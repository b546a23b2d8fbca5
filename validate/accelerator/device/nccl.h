/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_NCCL_H
#define MUSTER_ACCELERATOR_NCCL_H

#include <stddef.h>

#include "lib/base/error.h"
#include "validate/accelerator/device/device.h"

/* Collectives of accelerators by NCCL and RCCL, libnccl.so.2 and librccl.so.1 by dlopen. Seen on a
 * stand-in only (tests/gpu).
 *
 * Functions and numbers by nccl.h, which has not changed them from 2.7 (ncclSend) to 2.31. RCCL's
 * header has the same ones. The functions
 * that take a struct with a version word (ncclConfig_t) are not used. Calls work on the device
 * whose context is current, and return when the work is in the stream; NULL, the default stream, is
 * one. The library reads its settings (NCCL_ALGO, NCCL_NVLS_ENABLE, NCCL_SOCKET_IFNAME ...) from
 * the environment once in a process. */

/* ncclUniqueId: passed by value. Made by one process, told to all; that process must live on until
 * all have joined. */
struct nccl_id {
    char internal[128];
};

enum nccl_type { NCCL_INT32 = 2, NCCL_FLOAT32 = 7 };
enum { NCCL_SUM = 0, NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7 };

/* FUNCTION(member, name in the library, arguments) */
#define NCCL_FUNCTIONS(FUNCTION)                                                                   \
    FUNCTION(version, "ncclGetVersion", (int *version))                                            \
    FUNCTION(id, "ncclGetUniqueId", (struct nccl_id * id))                                         \
    FUNCTION(join, "ncclCommInitRank",                                                             \
             (void **communicator, int size, struct nccl_id id, int rank))                         \
    FUNCTION(leave, "ncclCommDestroy", (void *communicator))                                       \
    FUNCTION(status, "ncclCommGetAsyncError", (void *communicator, int *status))                   \
    FUNCTION(all_reduce, "ncclAllReduce",                                                          \
             (device_address from, device_address to, size_t count, int type, int operation,       \
              void *communicator, void *stream))                                                   \
    FUNCTION(reduce_scatter, "ncclReduceScatter",                                                  \
             (device_address from, device_address to, size_t count_each, int type, int operation,  \
              void *communicator, void *stream))                                                   \
    FUNCTION(all_gather, "ncclAllGather",                                                          \
             (device_address from, device_address to, size_t count_each, int type,                 \
              void *communicator, void *stream))                                                   \
    FUNCTION(broadcast, "ncclBroadcast",                                                           \
             (device_address from, device_address to, size_t count, int type, int root,            \
              void *communicator, void *stream))                                                   \
    FUNCTION(                                                                                      \
        send, "ncclSend",                                                                          \
        (device_address from, size_t count, int type, int peer, void *communicator, void *stream)) \
    FUNCTION(                                                                                      \
        receive, "ncclRecv",                                                                       \
        (device_address to, size_t count, int type, int peer, void *communicator, void *stream))   \
    FUNCTION(group_begin, "ncclGroupStart", (void))                                                \
    FUNCTION(group_end, "ncclGroupEnd", (void))

struct nccl_functions {
#define FUNCTION(member, name, arguments) int(*member) arguments;
    NCCL_FUNCTIONS(FUNCTION)
#undef FUNCTION
    const char *(*error_text)(int status);
};

struct nccl_library {
    struct nccl_functions call;
    int version; /* 22105: 2.21.5 */
};

/* Loads it from the directories of path ("/a:/b") or as dlopen finds it. Returns 0, or -1 with err:
 * it is not here, too old, or others could change it. */
int nccl_load(const char *path, enum device_vendor vendor, struct nccl_library *library,
              struct error *err);

/* The status as an error: "ncclAllReduce: unhandled system error (2)"; returns it. */
int nccl_error(const struct nccl_library *library, const char *what, int status, struct error *err);

enum collective {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_ALL_TO_ALL, /* by ncclSend and ncclRecv in a group */
    COLLECTIVE_BROADCAST,  /* from rank 0 */
    COLLECTIVES
};

/* Its name, of the metric too: "all_reduce". */
extern const char *const collective_names[COLLECTIVES];

/* What the bus carries for each byte of the operation, by which bandwidths of groups of any size
 * compare: 2 (n - 1) / n of an all-reduce, 1 of a broadcast, else (n - 1) / n (nccl-tests,
 * doc/PERFORMANCE.md). The size of an operation is that of its larger side: of an all-gather what a
 * rank receives, of a reduce-scatter what it sends. */
double collective_bus_factor(enum collective collective, int ranks);

/* The size of an operation of size ranks that fits in so many bytes: a multiple of 128 bytes for
 * each rank, as nccl-tests align them, one of them at least. */
double collective_bytes(double bytes, int size);

/* Starts it on count elements in all, a multiple of size, of 4 bytes each: floats that are added,
 * else words. Returns a status, with err. */
int collective_start(const struct nccl_library *library, enum collective collective,
                     void *communicator, int size, device_address from, device_address to,
                     size_t count, struct error *err);

/* Elements of 4 bytes that a rank sends, and that it receives. */
size_t collective_sent(enum collective collective, int size, size_t count);
size_t collective_received(enum collective collective, int size, size_t count);

/* What rank sends, and what it must receive, bit for bit: sums are of small whole numbers, exact in
 * any order; each other word depends on its sender and its place there. sums_begin() once for a
 * size. Pure. */
struct collective_sums {
    unsigned of_index[8];
    int size;
};
void collective_sums_begin(int size, struct collective_sums *sums);
void collective_fill(enum collective collective, int rank, unsigned *elements, size_t count);
/* Returns how many of the received elements are wrong; of the first one where, and what is right.
 */
size_t collective_verify(enum collective collective, const struct collective_sums *sums, int rank,
                         size_t count, const unsigned *received, size_t *index, unsigned *expected);

#endif
