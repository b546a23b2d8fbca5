/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_NCCL_H
#define MUSTER_ACCELERATOR_NCCL_H

#include <stddef.h>

#include "lib/base/error.h"
#include "validate/accelerator/device/device.h"

/* Collectives of accelerators by NCCL and RCCL, libnccl.so.2 and librccl.so.1 by dlopen. Tested
 * only with a stand-in (tests/gpu).
 *
 * Functions and numbers from nccl.h, which has not changed them from 2.7 (ncclSend) to 2.31. RCCL's
 * header has the same. Functions that take a struct with a version word (ncclConfig_t) are not
 * used. Calls use the device whose context is current, and return once the work is in the stream;
 * the stream may be NULL, the default stream. The library reads its settings (NCCL_ALGO,
 * NCCL_NVLS_ENABLE, NCCL_SOCKET_IFNAME ...) from the environment once per process. */

/* ncclUniqueId: passed by value. One process makes it and sends it to all; that process must not
 * end before all have joined. */
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

/* Loads the library from the directories of path ("/a:/b") or as dlopen finds it. Returns 0, or -1
 * with err: it is missing, too old, or other users could change it. */
int nccl_load(const char *path, enum device_vendor vendor, struct nccl_library *library,
              struct error *err);

/* Sets err to "ncclAllReduce: unhandled system error (2)". Returns status. */
int nccl_error(const struct nccl_library *library, const char *what, int status, struct error *err);

enum collective {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_ALL_TO_ALL, /* by ncclSend and ncclRecv in a group */
    COLLECTIVE_BROADCAST,  /* from rank 0 */
    COLLECTIVES
};

/* The names of the collectives and of their metrics: "all_reduce". */
extern const char *const collective_names[COLLECTIVES];

/* Returns the bytes on the bus per byte of the operation, which makes the bandwidths of groups of
 * any size comparable: 2 (n - 1) / n for an all-reduce, 1 for a broadcast, else (n - 1) / n
 * (nccl-tests, doc/PERFORMANCE.md). The size of an operation is that of its larger side: for an
 * all-gather what a rank receives, for a reduce-scatter what it sends. */
double collective_bus_factor(enum collective collective, int ranks);

/* Returns the size of an operation of `size` ranks that fits in `bytes`: per rank a multiple of 128
 * bytes, the alignment of nccl-tests, and at least 128. */
double collective_bytes(double bytes, int size);

/* Starts the collective on `count` elements in total, a multiple of size, of 4 bytes each: floats
 * for sums, else words. Returns a status, with err. */
int collective_start(const struct nccl_library *library, enum collective collective,
                     void *communicator, int size, device_address from, device_address to,
                     size_t count, struct error *err);

/* Return the number of 4-byte elements that a rank sends, and that it receives. */
size_t collective_sent(enum collective collective, int size, size_t count);
size_t collective_received(enum collective collective, int size, size_t count);

/* The data that a rank sends, and must receive bit for bit: sums are of small integers, exact in
 * any order; every other word depends on its sender and its index there. Call
 * collective_sums_begin() once per size. Pure. */
struct collective_sums {
    unsigned of_index[8];
    int size;
};
void collective_sums_begin(int size, struct collective_sums *sums);
void collective_fill(enum collective collective, int rank, unsigned *elements, size_t count);
/* Returns the number of wrong received elements, and for the first one its index and the expected
 * value. */
size_t collective_verify(enum collective collective, const struct collective_sums *sums, int rank,
                         size_t count, const unsigned *received, size_t *index, unsigned *expected);

#endif
