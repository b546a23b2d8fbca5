/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/gpu/nic.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "validate/battery/verbs/measure.h"

enum { MESSAGE_MOST = 1 << 20 };

struct nic_run {
    struct device *device;
    struct verbs_port *port;
    struct verbs_gpu_memory memory;
    device_address buffer; /* memory is in it, from its first page on */
    struct error no_export;
};

static int open_port(const struct worker_nic *nic, struct verbs_port **port, struct error *err)
{
    struct rdma_port wanted = {.port = nic->port};

    snprintf(wanted.device, sizeof wanted.device, "%s", nic->device);
    return verbs_port_open(&wanted, nic->gid_index, port, err);
}

static int allocate_memory(struct nic_run *run, struct error *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = run->device->memory_bytes / 16 / page * page;
    int status;

    size = size < MESSAGE_MOST ? size : MESSAGE_MOST;
    status = device_allocate(run->device, size + page, &run->buffer, err);
    if (status != DEVICE_OK)
        return status;
    run->memory = (struct verbs_gpu_memory){
        .address = (run->buffer + page - 1) / page * page, .size_bytes = size, .fd = -1};
    /* where there is no dma-buf a peer memory client may reach it */
    device_export(run->device, run->memory.address, size, &run->memory.fd, &run->no_export);
    return DEVICE_OK;
}

static int open_link(struct nic_run *run, bool is_of_device, struct verbs_link **link,
                     struct error *err)
{
    struct verbs_settings settings = verbs_defaults();

    if (verbs_link_open(run->port, VERB_WRITE, &settings, run->memory.size_bytes,
                        is_of_device ? &run->memory : NULL, link, err) == 0)
        return 0;
    return is_of_device && run->memory.fd < 0
               ? error_set(err, "%.120s; %.120s", run->no_export.text, err->text)
               : -1;
}

/* Returns as nic_measure() does. */
static int write_and_verify(struct nic_run *run, struct verbs_link *from, struct verbs_link *to,
                            struct worker_answer *answer, struct error *err)
{
    static uint64_t session;
    const struct path_plan plan = {
        .samples = 4, .sample_s = 0.04, .warmup_s = 0.02, .connect_s = 5, .timeout_s = 5};
    size_t size = run->memory.size_bytes, right;
    struct pattern pattern = verbs_pattern(size, ++session);
    struct path_result *path = calloc(1, sizeof *path);
    unsigned char *copy = calloc(1, size), *arrived = to->gpu ? copy : to->in;
    int status = path && copy ? 0 : error_set(err, "out of memory");

    if (status == 0 && to->gpu)
        status = device_copy(run->device, run->memory.address, copy, size, true, err);
    if (status == 0 && from->gpu) {
        pattern_fill(&pattern, copy, size);
        status = device_copy(run->device, run->memory.address, copy, size, true, err);
    } else if (status == 0) {
        verbs_write_pattern(from, session);
    }
    if (status == 0 && verbs_measure_within(from, to, "this node", 0, &plan, path, err) != 0) {
        /* a failure in host memory is the fault of the port, which muster-links tests */
        status = from->gpu || to->gpu ? 0 : -1;
        answer->outcome = WORKER_WRONG;
    } else if (status == 0) {
        if (to->gpu)
            status = device_copy(run->device, run->memory.address, copy, size, false, err);
        right = status == 0 ? pattern_check(&pattern, arrived, size) : size;
        if (right < size) {
            answer->outcome = WORKER_WRONG;
            answer->wrong = 1;
            answer->index = right;
            answer->found = arrived[right];
            answer->expected = pattern_byte(&pattern, right);
        }
        answer->value = path->bandwidth_mbps / 8e3;
    }
    free(copy);
    free(path);
    return status;
}

int nic_measure(struct device *device, const struct worker_request *request,
                struct worker_answer *answer, struct error *err)
{
    struct nic_run run = {.device = device, .memory.fd = -1};
    struct verbs_link *from = NULL, *to = NULL;
    int status = open_port(&request->nic, &run.port, err);

    if (status == 0)
        status = allocate_memory(&run, err);
    if (status == 0)
        status = open_link(&run, request->kind == NIC_FROM_DEVICE, &from, err);
    if (status == 0)
        status = open_link(&run, request->kind == NIC_TO_DEVICE, &to, err);
    if (status == 0)
        status = write_and_verify(&run, from, to, answer, err);
    verbs_link_close(from);
    verbs_link_close(to);
    if (run.memory.fd >= 0)
        close(run.memory.fd);
    if (run.buffer)
        device->library->call.release(run.buffer);
    verbs_port_close(run.port);
    return status;
}
