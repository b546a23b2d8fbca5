/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/gpu/crew.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/constants/battery_constants.h"
#include "lib/fabric/affinity.h"
#include "lib/node/gpu/mig.h"
#include "validate/battery/gpu/usage.h"

int crew_wait(struct crew *crew, struct worker_answer *answer)
{
    int index;

    while ((index = worker_wait(crew->workers, GPU_DEVICES_MOST, answer)) != -2) {
        program_step(crew->program);
        if (index >= 0)
            return index;
    }
    return -1;
}

void crew_lose(struct crew *crew, int index, enum worker_task task, int peer,
               const struct worker_answer *answer)
{
    struct gpu_device *device = &crew->node->devices[index];

    device->outcome = answer->outcome;
    device->error = answer->error;
    device->task = task;
    device->peer = peer;
    if (answer->outcome == WORKER_HUNG)
        snprintf(device->text, sizeof device->text, "did not end in %g s", crew->deadline_s);
    else if (answer->outcome == WORKER_SLOW)
        snprintf(device->text, sizeof device->text,
                 "no answer in time, but the process was working or was not scheduled");
    else if (answer->outcome == WORKER_DIED)
        snprintf(device->text, sizeof device->text, "its process %.140s", answer->text);
    else
        snprintf(device->text, sizeof device->text, "%.159s", answer->text);
    worker_end(&crew->workers[index]);
}

static void find_part(const struct inventory *inventory, struct gpu_device *device)
{
    long found = inventory ? inventory_gpu_at(inventory, device->pci) : -1;

    if (found < 0)
        return;
    device->part = (int)found;
    device->numa_node = inventory->gpus[found].location.numa_node;
}

/* Sends the task to the worker of the device, which is started if there is none. Sets answer only
 * if it cannot be started. */
static void begin(struct crew *crew, int index, enum worker_task task, struct worker_answer *answer)
{
    bool is_instance = crew->instance_count > 0;
    struct worker_request request = {.task = task, .device = is_instance ? 0 : index, .peer = -1};
    struct gpu_device *device = &crew->node->devices[index];
    struct worker *worker = &crew->workers[index];

    device->ordinal = index;
    if (!*device->pci) { /* else the device is opened again */
        device->part = index;
        device->numa_node = -1;
    }
    if (worker->fd >= 0 || worker_start(worker, crew->program->conf.gpu_library_path,
                                        is_instance ? crew->instances[index] : "") == 0) {
        worker_send(worker, &request, GPU_OPEN_LIMIT * crew->deadline_s);
        return;
    }
    *answer = (struct worker_answer){.outcome = WORKER_DIED};
    snprintf(answer->text, sizeof answer->text, "cannot start: %s", strerror(errno));
    crew_lose(crew, index, task, -1, answer);
}

/* Counts the devices, by the worker of the first one. answer: its answer. Returns the number of
 * devices. */
static int count_devices(struct crew *crew, struct worker_answer *answer)
{
    begin(crew, 0, TASK_COUNT, answer);
    while (crew_wait(crew, answer) >= 0)
        ;
    if (answer->device_count == 0)
        crew_lose(crew, 0, TASK_COUNT, -1, answer);
    return answer->device_count;
}

/* Waits for all devices that are being opened. answer: the last one. */
static void open_wait(struct crew *crew, struct worker_answer *answer)
{
    int index;

    while ((index = crew_wait(crew, answer)) >= 0) {
        struct gpu_device *device = &crew->node->devices[index];

        if (*answer->model)
            snprintf(device->model, sizeof device->model, "%s", answer->model);
        if (answer->multiprocessors > 0)
            device->multiprocessors = answer->multiprocessors;
        if (*answer->pci) {
            snprintf(device->pci, sizeof device->pci, "%s", answer->pci);
            find_part(crew->program->inventory, device);
        }
        if (answer->outcome != WORKER_DONE)
            crew_lose(crew, index, TASK_OPEN, -1, answer);
    }
}

bool crew_wants(const struct crew *crew, int index)
{
    return !crew->options->has_devices || device_set_has(&crew->options->devices, index);
}

/* Opens the wanted devices, all at once. */
static void open_all(struct crew *crew, struct worker_answer *answer)
{
    for (int i = 0; i < crew->node->count; i++) {
        crew->node->devices[i].ordinal = crew->node->devices[i].part = i;
        if (crew_wants(crew, i))
            begin(crew, i, TASK_OPEN, answer);
        else
            worker_end(&crew->workers[i]); /* it has counted them */
    }
    open_wait(crew, answer);
}

/* Whether the bus has a device that the drivers are for. */
static bool has_devices(const struct inventory *inventory)
{
    for (size_t i = 0; inventory && i < inventory->gpu_count; i++)
        if (inventory->gpus[i].vendor == GPU_NVIDIA || inventory->gpus[i].vendor == GPU_AMD)
            return true;
    return false;
}

static void leave_busy(struct crew *crew, const struct usage *usage)
{
    struct worker_answer answer = {.outcome = WORKER_NOT_TESTED};

    for (int i = 0; i < crew->node->count; i++)
        if (crew->workers[i].fd >= 0 &&
            usage_forbids(usage, crew->node->devices[i].pci, answer.text, sizeof answer.text))
            crew_lose(crew, i, TASK_OPEN, -1, &answer);
}

bool crew_forget_busy(struct crew *crew)
{
    struct gpu_node *node = crew->node;
    struct usage usage;
    bool is_busy = false;

    usage_read(crew->program->conf.gpu_library_path, crew->deadline_s, &usage);
    for (int i = 0; i < node->count; i++) {
        struct gpu_device *device = &node->devices[i], left = {.outcome = WORKER_NOT_TESTED,
                                                               .peer = -1,
                                                               .ordinal = device->ordinal,
                                                               .part = device->part,
                                                               .numa_node = device->numa_node};

        if (device->outcome != WORKER_DONE ||
            !usage_forbids(&usage, device->pci, left.text, sizeof left.text))
            continue;
        memcpy(left.model, device->model, sizeof left.model);
        left.multiprocessors = device->multiprocessors;
        *device = left;
        for (int k = 0; k < node->count; k++)
            gpu_path_forget(&node->devices[k], i);
        is_busy = true;
    }
    for (int k = 0; k < node->count && is_busy; k++)
        node->devices[k].pair_count = 0;
    usage_clear(&usage);
    return is_busy;
}

/* Finds the MIG instances. See NVIDIA's MIG User Guide, "CUDA Device Enumeration". */
static void find_instances(struct crew *crew)
{
    const char *rest = getenv("CUDA_VISIBLE_DEVICES");

    while (rest && crew->instance_count < GPU_DEVICES_MOST) {
        char *name = crew->instances[crew->instance_count];

        rest = gpu_list_next(rest, name);
        if (strncmp(name, "MIG-", strlen("MIG-")) != 0)
            break;
        crew->instance_count++;
    }
}

void crew_open(struct crew *crew)
{
    struct gpu_node *node = crew->node;
    struct worker_answer answer = {.outcome = WORKER_DIED};
    struct usage usage = {0};
    int count;

    program_phase(crew->program, "opening devices");
    if (crew->options->skips_busy) /* before our own processes are there */
        usage_read(crew->program->conf.gpu_library_path, crew->deadline_s, &usage);
    count = count_devices(crew, &answer);
    if (count == 0) {
        node->outcome = answer.outcome;
        if (answer.outcome == WORKER_NO_DEVICE && has_devices(crew->program->inventory))
            node->outcome = WORKER_NOT_TESTED;
        node->error = answer.error;
        snprintf(node->text, sizeof node->text, "%.199s", node->devices[0].text);
        usage_clear(&usage);
        return;
    }
    if (count == 1)
        find_instances(crew);
    if (crew->instance_count > 1)
        count = crew->instance_count;
    if (!crew->options->has_devices)
        node->device_count = count;
    /* without a list of instances CUDA shows only the first one */
    if (!crew->options->has_devices && count == 1 && !getenv("CUDA_VISIBLE_DEVICES") &&
        mig_instances_count("") > 1)
        node->device_count = (int)mig_instances_count("");
    node->count = count > GPU_DEVICES_MOST ? GPU_DEVICES_MOST : count;
    open_all(crew, &answer);
    if (crew->options->skips_busy)
        leave_busy(crew, &usage);
    usage_clear(&usage);
}

static void copy_nic(const struct rail *rail, struct worker_nic *nic, char name[64])
{
    snprintf(nic->device, sizeof nic->device, "%s", rail->port->device);
    nic->port = rail->port->port;
    nic->gid_index = rail->gid_index;
    snprintf(name, 64, "%.50s:%d", nic->device, nic->port);
}

void crew_find_nics(struct crew *crew)
{
    const struct inventory *inventory = crew->program->inventory;
    const struct fabric *fabric = crew->program->fabric;
    struct affinity *affinity = malloc(sizeof *affinity);
    size_t count = fabric ? fabric->rail_count : 0;

    if (inventory && fabric && affinity)
        affinity_make(inventory, fabric, NULL, affinity);
    for (int i = 0; i < crew->node->count && inventory && affinity; i++) {
        struct gpu_device *device = &crew->node->devices[i];
        size_t gpu = (size_t)device->part;
        bool is_known = gpu < inventory->gpu_count && affinity->is_known[gpu];

        for (size_t k = 0; k < count && !*crew->nics[i].device; k++) {
            const struct rail *rail = &fabric->rails[((size_t)i + k) % count];

            if (rail->port && rail_is_up(rail) &&
                (!is_known || affinity->serves[gpu][rail - fabric->rails]))
                copy_nic(rail, &crew->nics[i], device->nic);
        }
        device->is_nic_near = is_known;
    }
    free(affinity);
}

void crew_open_again(struct crew *crew, const struct device_set *devices)
{
    struct worker_answer answer;

    for (int i = 0; i < crew->node->count; i++)
        if (device_set_has(devices, i) && crew->workers[i].fd < 0)
            begin(crew, i, TASK_OPEN, &answer);
    open_wait(crew, &answer);
}
