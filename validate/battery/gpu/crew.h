/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_CREW_H
#define MUSTER_GPU_CREW_H

#include "lib/node/gpu/gpu_choice.h"
#include "validate/battery/gpu/device_set.h"
#include "validate/battery/gpu/evaluate.h"
#include "validate/harness/program.h"

/* The workers of a node's devices, and which tests they run. */

struct gpu_options {
    bool is_quick;
    bool skips_busy;
    unsigned tests; /* a bit for each enum gpu_test; 0: all */
    bool has_devices;
    struct device_set devices; /* the wanted ones, where has_devices */
};

struct crew {
    struct program *program;
    const struct gpu_options *options;
    struct worker workers[GPU_DEVICES_MOST];
    struct gpu_node *node;                    /* of this rank; devices: [GPU_DEVICES_MOST] */
    struct worker_nic nics[GPU_DEVICES_MOST]; /* a port for each device */
    double deadline_s;
    /* The MIG instances that CUDA_VISIBLE_DEVICES names: a process sees only the first of them, so
     * each worker gets its own. instance_count 0: there are none. */
    char instances[GPU_DEVICES_MOST][GPU_LIST_WORD];
    int instance_count;
};

/* Starts a worker for each wanted device, which opens it. Sets node to what came of it. With
 * skips_busy, devices that other processes use are given up at once. */
void crew_open(struct crew *crew);

/* Waits for the next answer of any worker. Returns its index, or -1 if none is busy. */
int crew_wait(struct crew *crew, struct worker_answer *answer);

/* Whether the device of that index is to be tested. */
bool crew_wants(const struct crew *crew, int index);

/* With skips_busy, when all workers have ended: forgets what was measured of devices that other
 * processes use now, and what others did with these. Returns whether there are any. */
bool crew_forget_busy(struct crew *crew);

/* Sets the RDMA port nearest to each device or, if that is not known, one of them. */
void crew_find_nics(struct crew *crew);

/* Restarts the workers of those devices that have ended. */
void crew_open_again(struct crew *crew, const struct device_set *devices);

/* Gives a device up at the task: keeps the reason, and ends its worker. peer: of the request. */
void crew_lose(struct crew *crew, int index, enum worker_task task, int peer,
               const struct worker_answer *answer);

#endif
