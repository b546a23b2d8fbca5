/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_GROUP_EVALUATE_H
#define MUSTER_GPU_GROUP_EVALUATE_H

#include <stddef.h>

#include "validate/battery/gpu/device_set.h"
#include "validate/battery/gpu/evaluate.h"

/* Collectives of groups of devices: all of a node, all of all nodes, pairs of devices and of nodes;
 * and which of these are at fault. Pure. */

/* The result of a group: of an all-reduce of two devices, or of all collectives of more. */
struct group_result {
    bool is_measured;                /* it was begun */
    enum worker_outcome outcome;     /* WORKER_DONE; WORKER_WRONG; or why it ended */
    int collective;                  /* in which that was; -1: no communicator */
    struct device_set wrong_devices; /* of this node */
    unsigned long long wrong;        /* elements, of this node */
    int ranks;
    float bytes;           /* of an operation */
    float ms[COLLECTIVES]; /* of the slowest rank; 0: not measured */
    char text[160];        /* of this node; "" where it ended elsewhere */
};

enum { GROUP_ROUNDS = 4 /* of pairs of nodes, at most */ };

struct group_node {
    enum worker_outcome outcome; /* WORKER_DONE: it takes part; or why not, in text */
    char text[160];
    int version;    /* of NCCL: 22105; 0: not known */
    int count;      /* devices that take part */
    bool is_across; /* in the group of all nodes: its version is the one that most have */
    struct group_result within, across;
    struct {
        int partner;         /* node */
        unsigned char state; /* enum pair_state */
        float bandwidth;     /* GB/s on the bus */
    } rounds[GROUP_ROUNDS];
};

/* Returns the bus bandwidth, GB/s; 0: not measured. */
double group_bandwidth(const struct group_result *result, enum collective collective);

/* Returns the version of NCCL that most nodes have that take part; the newest, if several are as
 * common. 0: none. */
int group_version(const struct group_node *nodes, size_t count);

/* Whether the group within that node is slow in some collective, compared with nodes like it.
 * devices: [nodes], which show what nodes are alike. */
bool group_is_low(const struct gpu_node *devices, const struct group_node *nodes, size_t count,
                  size_t node);

/* Reports all groups. Devices are slow, or bad, if they are so in all their pairs while others are
 * not; nodes likewise. devices: [nodes], with what pairs of devices did. */
void group_evaluate(const struct gpu_node *devices, const struct group_node *nodes, size_t count,
                    const char *const *names, const struct record_sink *sink);

#endif
