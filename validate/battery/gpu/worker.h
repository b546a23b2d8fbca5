/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_WORKER_H
#define MUSTER_GPU_WORKER_H

#include <stdbool.h>

#include "validate/accelerator/device/nccl.h"

/* A worker process for each device. Only workers load the driver's libraries: one that hangs in the
 * driver is killed, or left behind, and only its own device is lost. Requests and answers are
 * datagrams of these structures, one answer to each request. */

enum { WORKER_FD = 3 /* its end of the socket */ };

enum worker_task {
    TASK_COUNT, /* loads the driver's library; device_count */
    TASK_OPEN,
    TASK_COMPUTE,     /* kind: enum precision; value: GFLOP/s */
    TASK_BLAS,        /* kind: enum blas_precision; value: GFLOP/s, 0: the device lacks it */
    TASK_REPEAT,      /* amount: products; value: how many were made */
    TASK_MEMORY,      /* kind: enum memory_access; value: GB/s */
    TASK_PATTERN,     /* amount: patterns, 1 to 6; value: MB tested */
    TASK_HOST,        /* kind: enum host_copy; value: GB/s */
    TASK_PEER,        /* peer: the other device; value: GB/s to it */
    TASK_ATOMICS,     /* peer: whose memory, -1: its own; value: additions, 0: the driver says that
                         the path has no atomics */
    TASK_NIC,         /* kind: enum nic_write; value: GB/s */
    TASK_GROUP_ID,    /* loads NCCL; version, id */
    TASK_GROUP_JOIN,  /* id, rank, size; value: bytes of an operation that it has memory for */
    TASK_GROUP_RUN,   /* kind: enum collective; bytes, of collective_bytes(); amount: how often;
                         value: ms for each */
    TASK_GROUP_LEAVE, /* destroys the communicator */
};

/* Whether the task may load a library, which takes long from a slow file system: if it is late,
 * that does not show that the device hangs. */
bool worker_loads(enum worker_task task);

enum precision { PRECISION_FP32, PRECISION_FP64, PRECISIONS };
enum memory_access { ACCESS_COPY, ACCESS_READ, ACCESS_WRITE, ACCESS_TRIAD, ACCESSES };
enum host_copy { COPY_TO_DEVICE, COPY_TO_HOST, COPY_TO_DEVICE_PAGEABLE, COPY_TO_HOST_PAGEABLE };
/* An RDMA port that writes to itself. */
enum nic_write { NIC_LOOPBACK /* in host memory */, NIC_TO_DEVICE, NIC_FROM_DEVICE };

/* The port, as of verbs_port_open(). */
struct worker_nic {
    char device[64]; /* "mlx5_0"; "": none */
    int port, gid_index;
};

struct worker_request {
    enum worker_task task;
    int device, kind, peer, amount;
    int numa_node; /* of host memory; -1: any */
    int rank, size;
    unsigned long long bytes;
    struct worker_nic nic;
    struct nccl_id id;
};

enum worker_outcome {
    WORKER_DONE,
    WORKER_WRONG,      /* the data were wrong: wrong, index, found, expected; TASK_NIC: or writes
                          failed */
    WORKER_NOT_TESTED, /* text says why: want of memory, no library */
    WORKER_ERROR,      /* the driver's, in text */
    WORKER_NO_DEVICE,  /* no driver, or no device: nothing to be tested */
    WORKER_HUNG,       /* by the parent: no answer within the limit, and it slept all the time */
    WORKER_SLOW,       /* by the parent: no answer, but it worked or waited for a processor, or was
                          still loading its libraries */
    WORKER_DIED,       /* by the parent: text says of what */
};

struct worker_answer {
    enum worker_outcome outcome;
    int error; /* WORKER_ERROR: the driver's number */
    double value;
    unsigned long long wrong;                  /* elements */
    unsigned long long index, found, expected; /* of the first one */
    bool is_direct;                            /* TASK_PEER: the driver reports peer access */
    int device_count;                          /* TASK_COUNT, TASK_OPEN */
    int multiprocessors;                       /* TASK_OPEN; HIP: compute units */
    int version;                               /* TASK_GROUP_ID: of NCCL */
    struct nccl_id id;
    char model[64], pci[16];
    char text[256];
};

/* Returns how often to run what takes ms milliseconds, for one figure. */
unsigned worker_times(float ms);

/* Runs a kernel that verifies and adds what it found to the answer, with the first error. Returns a
 * device_status, with err. */
int worker_verify(struct device *device, enum kernel kernel, const struct kernel_work *work,
                  struct worker_answer *answer, struct error *err);

/* Runs a task of a group, in the process. Returns 0 or, with err, a negative number if that was not
 * tested, a positive one if it failed. */
int group_worker_do(const char *path, struct device *device, const struct worker_request *request,
                    struct worker_answer *answer, struct error *err);

/* The main function of the process: loads the libraries from path ("": as usual), and answers until
 * its parent is gone. visible: its CUDA_VISIBLE_DEVICES, "": that of its parent. Returns the exit
 * status. */
int worker_main(const char *path, const char *visible);

/* ---------------------------------------------------------------- the parent's side */

struct worker {
    int pid, fd; /* fd -1: there is none, or it was given up */
    bool is_busy;
    enum worker_task task;
    double sent_s, limit_s; /* of the request that is not answered, by clock_s() */
    double queued_s;        /* at that time: how long it was ready to run while others ran */
    /* checks since then, and those that found it running or ready to */
    unsigned polls, polls_at_work;
};

/* Starts a worker_main(). Returns 0, or -1 with errno. */
int worker_start(struct worker *worker, const char *path, const char *visible);

/* Sends the request. The answer must come within limit_s, plus the longest time that a busy worker
 * was not scheduled, up to GPU_KEPT_LIMIT times limit_s. A worker that has died answers
 * WORKER_DIED. One that was given up (fd -1) gets no request. */
void worker_send(struct worker *worker, const struct worker_request *request, double limit_s);

/* Waits up to GPU_WAIT_MS for an answer of any busy worker. Returns the index of one that has
 * answered or was given up, with the answer; -1 if there is none yet; -2 if none is busy. */
int worker_wait(struct worker *workers, int count, struct worker_answer *answer);

void worker_end(struct worker *worker);

#endif
