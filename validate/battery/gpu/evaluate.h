/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_EVALUATE_H
#define MUSTER_GPU_EVALUATE_H

#include <stddef.h>

#include "lib/base/record.h"
#include "lib/constants/battery_constants.h"
#include "validate/accelerator/device/blas.h"
#include "validate/battery/gpu/worker.h"

/* What the nodes' devices measured, and which of them are at fault. Pure. */

/* In the order of the words that --tests takes. */
enum gpu_test {
    GPU_TEST_COMPUTE,
    GPU_TEST_REPEATABLE,
    GPU_TEST_MEMORY,
    GPU_TEST_PATHS,
    GPU_TEST_COLLECTIVES,
    GPU_TESTS
};

/* Returns the test that the task belongs to; for TASK_OPEN the first. */
enum gpu_test gpu_test_of(enum worker_task task);

enum figure {
    FIGURE_FP32,
    FIGURE_FP64,
    FIGURE_BLAS_FP64,
    FIGURE_TF32,
    FIGURE_BF16,
    FIGURE_FP16,
    FIGURE_FP8,
    FIGURE_INT8,
    FIGURE_COPY,
    FIGURE_READ,
    FIGURE_WRITE,
    FIGURE_TRIAD,
    FIGURE_TO_DEVICE,
    FIGURE_TO_HOST,
    FIGURE_TO_DEVICE_PAGEABLE,
    FIGURE_TO_HOST_PAGEABLE,
    FIGURE_FP32_TOGETHER,
    FIGURE_FP64_TOGETHER,
    FIGURE_BF16_TOGETHER,
    FIGURE_COPY_TOGETHER,
    FIGURE_TO_DEVICE_TOGETHER,
    FIGURE_TO_HOST_TOGETHER,
    FIGURE_NIC_LOOPBACK,
    FIGURE_NIC_TO_DEVICE,
    FIGURE_NIC_FROM_DEVICE,
    FIGURES
};

struct figure_spec {
    enum worker_task task;
    int kind;
    bool is_together; /* measured on all devices of the node at once */
    const char *metric, *unit;
    const double *least; /* share of the peers' median; a device below is at fault. NULL: none */
    enum fault_code code;
};

/* See Sinha et al., SC'22, "Not all GPUs are created equal": the clocks of an A100 system differ by
 * up to 9 %, outliers by more. */
extern const struct figure_spec figure_specs[FIGURES];

struct gpu_wrong {
    unsigned long long count, index, found, expected; /* of the first one */
};

/* The path from a device to another one of its node. */
struct gpu_path {
    int to;               /* index of that device */
    float GBps;           /* 10^9 byte/s; 0: not measured */
    bool is_direct;       /* the driver reports peer access */
    bool has_atomics;     /* additions in the other one's memory were tested */
    unsigned wrong_words; /* in what went there and came back */
    unsigned wrong_atomics;
};

enum pair_state { PAIR_NONE, PAIR_DONE, PAIR_WRONG, PAIR_BROKEN /* it hung, or failed */ };

/* An all-reduce of a device and another one of its node. */
struct gpu_pair {
    int with; /* index of that device */
    enum pair_state state;
    float ms, bytes;
};

struct gpu_device {
    enum worker_outcome outcome; /* WORKER_DONE, or why it was given up, at which task */
    enum worker_task task;
    int peer; /* of TASK_PEER */
    int error;
    int ordinal, part; /* in the driver's order, and "gpuN" by the node's inventory */
    char model[64], pci[16], text[160];
    int multiprocessors; /* fewer in a partition of a GPU, whose model has the same name */
    int numa_node;       /* -1: not known */
    float best[FIGURES], lowest[FIGURES]; /* 0: not measured */
    int samples[FIGURES];
    char condition[160]; /* of a slow device, while it was at work: usage_condition() */
    struct gpu_wrong wrong_products, wrong_memory;
    float products, tested_mb;
    struct gpu_wrong wrong_blas; /* by the vendor's library; precision of the first */
    enum blas_precision wrong_blas_precision;
    char no_blas[160];    /* why products of the vendor's library were not tested */
    bool is_memory_short; /* something was not tested for want of memory */
    struct gpu_path paths[GPU_PEERS_MOST];
    struct gpu_pair pairs[GPU_PEERS_MOST];
    int path_count, pair_count;
    struct gpu_wrong wrong_atomics; /* in its memory */
    float additions;
    char nic[64];          /* the port of the NIC figures, "mlx5_0:1"; "": none */
    bool is_nic_near;      /* no port is nearer */
    char no_nic[160];      /* why its path to the device was not tested */
    char nic_failure[160]; /* the error of writes that failed; "": none */
    struct gpu_wrong wrong_nic;
};

struct gpu_node {
    enum worker_outcome outcome; /* WORKER_DONE, or why no device was tested, in text */
    int error;
    char text[200];
    bool is_shared; /* other processes use a device now: collectives are not judged */
    int count;
    int device_count;           /* that the driver has; 0: not all were wanted */
    struct gpu_device *devices; /* [count], in the driver's order */
};

/* Returns the path to the device of that index, or NULL. gpu_path_make() adds it; it returns NULL
 * if the device has GPU_PEERS_MOST paths to others. */
const struct gpu_path *gpu_path_find(const struct gpu_device *device, int to);
struct gpu_path *gpu_path_make(struct gpu_device *device, int to);
void gpu_path_forget(struct gpu_device *device, int to);

/* The same for the all-reduce with that device. */
const struct gpu_pair *gpu_pair_find(const struct gpu_device *device, int with);
void gpu_pair_put(struct gpu_device *device, const struct gpu_pair *pair);

/* gpu_middle() returns the median; of two samples the better one, of fewer NAN. gpu_common()
 * returns the same, but NAN unless there are two, or three quarters of them are within a fifth of
 * it. */
double gpu_middle(const double *samples, size_t count);
double gpu_common(const double *samples, size_t count);

/* Whether two devices are of the same model, and of the same size within a third: a partition of a
 * GPU has its name, but half of it at most. */
bool gpu_is_same_model(const struct gpu_device *a, const struct gpu_device *b);

/* Sets what each figure should be: the median over all devices of that model; of two devices the
 * better one; of one NAN. */
void gpu_references(const struct gpu_node *nodes, size_t count, const struct gpu_device *model,
                    double references[FIGURES]);

/* Whether two nodes have as many devices, of the same models at the same PCI addresses. */
bool gpu_is_same_node(const struct gpu_node *a, const struct gpu_node *b);

/* Returns what the path between two devices should carry, in GB/s. With three nodes or more that is
 * the median over the same pair, at the same PCI addresses, in both directions. Else it is the
 * median of the paths of its kind in the node (within a GPU, within a NUMA node, beyond), if most
 * of these are alike; of two devices the better direction. NAN if it is not known. */
double gpu_peer_reference(const struct gpu_node *nodes, size_t count, size_t node, int from,
                          int to);

/* The same by nodes only, and so the same for all nodes that are alike; NAN if these are fewer than
 * three. */
double gpu_peer_reference_of_nodes(const struct gpu_node *nodes, size_t count, size_t node,
                                   int from, int to);

/* Whether the device is low in that figure against the reference, or on the path to that peer, and
 * is to be measured again. */
bool gpu_is_low(const struct gpu_device *device, enum figure figure, double reference);
bool gpu_is_nic_low(const struct gpu_device *device, enum figure figure);
bool gpu_is_peer_low(const struct gpu_node *nodes, size_t count, size_t node, int from, int to);

/* Reports a record for each figure that was measured. */
void gpu_evaluate(const struct gpu_node *nodes, size_t count, const char *const *names,
                  const struct record_sink *sink);

#endif
