/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives, in the process of a device. */
#include "validate/battery/gpu/worker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/accelerator/device/device.h"

enum {
    NCCL_FAILED = 1 << 16, /* above the driver's numbers */
    ELEMENT = 4,           /* bytes */
};

static struct {
    struct nccl_library library;
    bool is_loaded;
    void *communicator;
    int rank, size;
    struct collective_sums sums;
} group;

static int check(const char *what, int status, struct error *err)
{
    return status == NCCL_SUCCESS ? 0 : NCCL_FAILED + nccl_error(&group.library, what, status, err);
}

static int check_device(const struct device *device, const char *what, int status,
                        struct error *err)
{
    return status == DEVICE_OK ? 0
                               : device_error(device->library, device->ordinal, what, status, err);
}

static int load(const char *path, enum device_vendor vendor, struct error *err)
{
    if (!group.is_loaded && nccl_load(path, vendor, &group.library, err) != 0)
        return -1;
    group.is_loaded = true;
    return 0;
}

static int make_id(struct worker_answer *answer, struct error *err)
{
    answer->version = group.library.version;
    return check("ncclGetUniqueId", group.library.call.id(&answer->id), err);
}

static int leave(struct error *err)
{
    void *communicator = group.communicator;

    group.communicator = NULL;
    return communicator ? check("ncclCommDestroy", group.library.call.leave(communicator), err) : 0;
}

static int join(const struct device *device, const struct worker_request *request,
                struct worker_answer *answer, struct error *err)
{
    int status = check(
        "ncclCommInitRank",
        group.library.call.join(&group.communicator, request->size, request->id, request->rank),
        err);

    if (status != 0) {
        group.communicator = NULL;
        return status;
    }
    group.rank = request->rank;
    group.size = request->size;
    collective_sums_begin(group.size, &group.sums);
    answer->value = fmin((double)device->memory_bytes / 64, 256 << 20);
    return 0;
}

/* ---------------------------------------------------------------- an operation */

struct operation {
    enum collective collective;
    size_t count, sent, received; /* elements */
    device_address memory[2];     /* from, to */
    unsigned *host;
};

static int begin(const struct device *device, const struct worker_request *request,
                 struct operation *operation, struct error *err)
{
    size_t size = request->bytes;
    int status = 0;

    *operation = (struct operation){.collective = (enum collective)request->kind};
    operation->count = size / ELEMENT;
    operation->sent = collective_sent(operation->collective, group.size, operation->count);
    operation->received = collective_received(operation->collective, group.size, operation->count);
    operation->host = malloc(size);
    if (!operation->host)
        return error_set(err, "cannot allocate host memory: %m");
    for (int i = 0; i < 2 && status == 0; i++)
        status = device_allocate(device, size, &operation->memory[i], err);
    return status;
}

static void end(const struct device *device, struct operation *operation)
{
    for (int i = 0; i < 2; i++)
        if (operation->memory[i])
            device->library->call.release(operation->memory[i]);
    free(operation->host);
}

/* Waits until the copy is done, as the host memory is used again. */
static int copied(struct device *device, int status, struct error *err)
{
    status = check_device(device, "a copy", status, err);
    if (status == 0)
        status = device_begin(device, err);
    return status ? status : device_end(device, NULL, err);
}

static int put(struct device *device, device_address to, const unsigned *host, size_t count,
               struct error *err)
{
    return copied(device, device->library->call.to_device(to, host, count * ELEMENT, NULL), err);
}

/* Puts what is to be sent on the device, and values that cannot be right where it will be
 * received. */
static int fill(struct device *device, struct operation *operation, struct error *err)
{
    int status;

    collective_fill(operation->collective, group.rank, operation->host, operation->sent);
    status = put(device, operation->memory[0], operation->host, operation->sent, err);
    memset(operation->host, 0xff, operation->received * ELEMENT);
    return status ? status
                  : put(device, operation->memory[1], operation->host, operation->received, err);
}

/* As device_end(), but an error of the network ends the wait too. */
static int wait_end(struct device *device, struct error *err)
{
    const struct device_functions *call = &device->library->call;
    int status = call->event_record(device->end, NULL), nccl_status = NCCL_SUCCESS;
    unsigned us = 0;

    while (status == DEVICE_OK && (status = call->event_query(device->end)) == DEVICE_NOT_READY) {
        status = group.library.call.status(group.communicator, &nccl_status);
        if (status == NCCL_SUCCESS && nccl_status != NCCL_IN_PROGRESS)
            status = nccl_status;
        if (status != NCCL_SUCCESS)
            return check("while it ran", status, err);
        device_pause(&us);
    }
    return check_device(device, "a collective", status, err);
}

/* Runs the collective `times` times, after one that is not timed, as the ranks do not begin at
 * once. */
static int run_timed(struct device *device, const struct operation *operation, int times,
                     struct worker_answer *answer, struct error *err)
{
    float ms = 0;
    int status = 0;

    for (int i = 0; i <= times && status == 0; i++) {
        if (i == 1)
            status = device_begin(device, err);
        if (status != 0)
            break;
        status =
            collective_start(&group.library, operation->collective, group.communicator, group.size,
                             operation->memory[0], operation->memory[1], operation->count, err);
        if (status != 0)
            status += NCCL_FAILED;
    }
    if (status == 0)
        status = wait_end(device, err);
    if (status == 0)
        status = check_device(device, "cuEventElapsedTime",
                              device->library->call.event_ms(&ms, device->begin, device->end), err);
    answer->value = (double)ms / times;
    return status;
}

static int verify(struct device *device, const struct operation *operation,
                  struct worker_answer *answer, struct error *err)
{
    size_t index = 0;
    unsigned expected = 0;
    int status = copied(device,
                        device->library->call.to_host(operation->host, operation->memory[1],
                                                      operation->received * ELEMENT, NULL),
                        err);

    if (status != 0)
        return status;
    answer->wrong = collective_verify(operation->collective, &group.sums, group.rank,
                                      operation->count, operation->host, &index, &expected);
    if (answer->wrong == 0)
        return 0;
    answer->outcome = WORKER_WRONG;
    answer->index = index;
    answer->found = operation->host[index];
    answer->expected = expected;
    return 0;
}

static int run(struct device *device, const struct worker_request *request,
               struct worker_answer *answer, struct error *err)
{
    struct operation operation;
    int status = begin(device, request, &operation, err);

    if (status == 0)
        status = fill(device, &operation, err);
    if (status == 0)
        status = run_timed(device, &operation, request->amount, answer, err);
    if (status == 0)
        status = verify(device, &operation, answer, err);
    end(device, &operation);
    return status;
}

int group_worker_do(const char *path, struct device *device, const struct worker_request *request,
                    struct worker_answer *answer, struct error *err)
{
    if (load(path, device->library->vendor, err) != 0)
        return -1;
    if (request->task == TASK_GROUP_ID)
        return make_id(answer, err);
    if (request->task == TASK_GROUP_JOIN)
        return join(device, request, answer, err);
    if (request->task == TASK_GROUP_LEAVE)
        return leave(err);
    return group.communicator ? run(device, request, answer, err)
                              : error_set(err, "not yet in a group");
}
