/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/gpu/worker.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/ranges.h"
#include "lib/base/sysfs.h"
#include "lib/constants/battery_constants.h"
#include "validate/battery/gpu/nic.h"
#include "validate/battery/gpu/products.h"

enum { COUNTERS = 16, ADDITIONS = 16 /* of a thread, to each */ };
enum { LAUNCHES_MOST = 200, SEED = 4711, PATTERNS = 6 };

static struct {
    struct device_library library;
    struct device device, peers[GPU_DEVICES_MOST];
    bool is_peer_open[GPU_DEVICES_MOST];
    bool is_loaded;   /* the libraries */
    bool has_atomics; /* the path to the peer that was opened last */
    struct worker_answer answer;
    struct error err;
} worker;

/* moved: bytes moved for each byte of a buffer */
static const struct {
    enum kernel kernel;
    int moved;
} accesses[ACCESSES] = {
    {KERNEL_MEMORY_COPY, 2},
    {KERNEL_MEMORY_READ, 1},
    {KERNEL_MEMORY_WRITE, 1},
    {KERNEL_MEMORY_TRIAD, 3},
};

static int call_failed(const char *what, int status)
{
    return device_error(&worker.library, worker.device.ordinal, what, status, &worker.err);
}

static int allocate(size_t size, device_address *address)
{
    return device_allocate(&worker.device, size, address, &worker.err);
}

static void release(const device_address *addresses, int count)
{
    for (int i = 0; i < count; i++)
        if (addresses[i])
            worker.library.call.release(addresses[i]);
}

static int run(enum kernel kernel, unsigned blocks, unsigned count, const struct kernel_work *work,
               float *ms)
{
    return device_run(&worker.device, kernel, blocks, count, work, ms, &worker.err);
}

unsigned worker_times(float ms)
{
    double times = ms > 0 ? GPU_TIMED_MS / ms : LAUNCHES_MOST;

    return times < 1 ? 1 : times > LAUNCHES_MOST ? LAUNCHES_MOST : (unsigned)times;
}

int worker_verify(struct device *device, enum kernel kernel, const struct kernel_work *work,
                  struct worker_answer *answer, struct error *err)
{
    struct kernel_errors errors;
    int status = device_verify(device, kernel, work, &errors, err);

    if (status != DEVICE_OK || errors.count == 0)
        return status;
    if (answer->wrong == 0) {
        answer->index = errors.first[0].index;
        answer->found = errors.first[0].found;
        answer->expected = errors.first[0].expected;
    }
    answer->wrong += errors.count;
    answer->outcome = WORKER_WRONG;
    return status;
}

static int verify(enum kernel kernel, const struct kernel_work *work)
{
    return worker_verify(&worker.device, kernel, work, &worker.answer, &worker.err);
}

/* ---------------------------------------------------------------- memory */

static int memory(const struct worker_request *request)
{
    size_t size = worker.device.memory_bytes / 256 / 1024 * 1024;
    device_address buffers[3] = {0};
    struct kernel_work work;
    enum kernel kernel = accesses[request->kind].kernel;
    float ms = 0;
    unsigned times;
    int status = 0;

    for (int i = 0; i < 3 && status == 0; i++)
        status = allocate(size, &buffers[i]);
    work = (struct kernel_work){.to = buffers[0], .count = size / 16, .seed = 1};
    for (int i = 0; i < 3 && status == 0; i++) { /* no NaN, whose sums are NaN */
        work.to = buffers[i];
        status = run(KERNEL_MEMORY_WRITE, device_blocks(&worker.device), 1, &work, NULL);
    }
    work = (struct kernel_work){
        .to = buffers[0], .from = buffers[1], .other = buffers[2], .count = size / 16, .seed = 1};
    if (status == 0)
        status = run(kernel, device_blocks(&worker.device), 1, &work, &ms);
    times = worker_times(ms);
    if (status == 0)
        status = run(kernel, device_blocks(&worker.device), times, &work, &ms);
    release(buffers, 3);
    worker.answer.value = (double)size * accesses[request->kind].moved * times / ms / 1e6;
    return status;
}

/* Tests the free memory, but for a sixteenth of all; less if there is not as much in one piece. */
static int pattern(const struct worker_request *request)
{
    static const int order[PATTERNS] = {0, 1, 4, 2, 3, 5};
    size_t size, total;
    device_address buffer = 0;
    struct kernel_work work;
    int status = worker.library.call.memory_info(&size, &total);

    if (status != DEVICE_OK)
        return call_failed("memory_info", status);
    size = size > total / 16 ? (size - total / 16) / 4096 * 4096 : 0;
    status = DEVICE_OUT_OF_MEMORY;
    for (; size >= total / 64 && status == DEVICE_OUT_OF_MEMORY; size /= 2) {
        status = worker.library.call.allocate(&buffer, size);
        if (status == DEVICE_OK)
            break;
    }
    if (status != DEVICE_OK)
        return call_failed("allocate", status);
    for (int i = 0; i < request->amount && i < PATTERNS && status == 0; i++) {
        work = (struct kernel_work){.to = buffer,
                                    .from = buffer,
                                    .count = size / 8,
                                    .seed = SEED,
                                    .pattern = (unsigned long long)order[i]};
        status = run(KERNEL_PATTERN_WRITE, device_blocks(&worker.device), 1, &work, NULL);
        if (status == 0)
            status = verify(KERNEL_PATTERN_VERIFY, &work);
    }
    release(&buffer, 1);
    worker.answer.value = (double)size / 1e6;
    return status;
}

/* ---------------------------------------------------------------- copies */

static size_t copy_size(void)
{
    size_t size = worker.device.memory_bytes / 512 / 512 * 512;

    return size > 256 << 20 ? 256 << 20 : size;
}

/* Makes memory of this process come from that NUMA node from now on, if the process may run
 * there. */
static void bind_to_numa(int numa_node)
{
    char line[1024];
    const char *rest = line;
    struct range cpus;
    cpu_set_t set, allowed;

    if (numa_node < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0 ||
        sysfs_line("", line, sizeof line, "sys/devices/system/node/node%d/cpulist", numa_node) < 0)
        return;
    CPU_ZERO(&set);
    while (range_next(&rest, &cpus) == 1)
        for (long cpu = cpus.first; cpu <= cpus.last && cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET((size_t)cpu, &allowed))
                CPU_SET((size_t)cpu, &set);
    if (CPU_COUNT(&set) > 0)
        sched_setaffinity(0, sizeof set, &set);
}

/* Copies to or from host memory or, if host is NULL, to another device, `times` times. *ms: the
 * time of the device. */
static int copy_times(int kind, device_address near, void *host, device_address far, size_t size,
                      unsigned times, float *ms)
{
    const struct device_functions *call = &worker.library.call;
    int status = device_begin(&worker.device, &worker.err);

    for (unsigned i = 0; i < times && status == 0; i++) {
        if (!host)
            status = call->copy(far, near, size, NULL);
        else if (kind == COPY_TO_DEVICE || kind == COPY_TO_DEVICE_PAGEABLE)
            status = call->to_device(near, host, size, NULL);
        else
            status = call->to_host(host, near, size, NULL);
        if (status != 0)
            return call_failed("a copy", status);
    }
    return status ? status : device_end(&worker.device, ms, &worker.err);
}

static int copy_timed(int kind, device_address near, void *host, device_address far, size_t size)
{
    float ms = 0;
    int status = copy_times(kind, near, host, far, size, 1, &ms);
    unsigned times = worker_times(ms);

    if (status == 0)
        status = copy_times(kind, near, host, far, size, times, &ms);
    worker.answer.value = (double)size * times / ms / 1e6;
    return status;
}

static int host(const struct worker_request *request)
{
    const struct device_functions *call = &worker.library.call;
    bool is_pinned = request->kind == COPY_TO_DEVICE || request->kind == COPY_TO_HOST;
    size_t size = copy_size();
    device_address buffer = 0;
    void *host_memory = NULL;
    int status;

    bind_to_numa(request->numa_node);
    status = allocate(size, &buffer);
    if (status != 0)
        return status;
    if (is_pinned) {
        status = call->allocate_pinned(&host_memory, size, 0);
        if (status != DEVICE_OK)
            call_failed("allocate_pinned", status);
    } else {
        host_memory = malloc(size);
        status = host_memory ? 0 : error_set(&worker.err, "cannot allocate host memory: %m");
    }
    if (status == 0) {
        memset(host_memory, 1, size);
        status = copy_timed(request->kind, buffer, host_memory, 0, size);
    }
    if (is_pinned && host_memory)
        call->release_pinned(host_memory);
    else
        free(host_memory);
    release(&buffer, 1);
    return status;
}

static int open_peer(int peer)
{
    int status = 0;

    if (peer < 0 || peer >= GPU_DEVICES_MOST)
        return error_set(&worker.err, "no device has the number %d", peer);
    if (!worker.is_peer_open[peer])
        status = device_open(&worker.library, peer, &worker.peers[peer], &worker.err);
    if (status == 0)
        status = device_use(&worker.device, &worker.err);
    if (status != 0)
        return status;
    worker.is_peer_open[peer] = true;
    return device_enable_peer(&worker.device, &worker.peers[peer], &worker.answer.is_direct,
                              &worker.has_atomics, &worker.err);
}

static void leave_peer(int peer)
{
    if (worker.answer.is_direct)
        device_disable_peer(&worker.device, &worker.peers[peer]);
}

/* Allocates memory of the device (peer -1), or of the peer. The device is current afterwards. */
static int allocate_at(int peer, size_t size, device_address *address)
{
    int status;

    if (peer < 0)
        return allocate(size, address);
    status = device_use(&worker.peers[peer], &worker.err);
    if (status == 0)
        status = allocate(size, address);
    device_use(&worker.device, &worker.err);
    return status;
}

/* Copies to the peer and back, and verifies what came back. */
static int peer(const struct worker_request *request)
{
    size_t size = copy_size();
    device_address here[2] = {0}, there = 0;
    struct kernel_work work;
    int status = open_peer(request->peer);

    for (int i = 0; i < 2 && status == 0; i++)
        status = allocate(size, &here[i]);
    if (status == 0)
        status = allocate_at(request->peer, size, &there);
    work = (struct kernel_work){.to = here[0],
                                .from = here[1],
                                .count = size / 8,
                                .seed = SEED + (unsigned)request->peer,
                                .pattern = 4};
    if (status == 0)
        status = run(KERNEL_PATTERN_WRITE, device_blocks(&worker.device), 1, &work, NULL);
    if (status == 0)
        status = copy_timed(0, here[0], NULL, there, size);
    if (status == 0)
        status = copy_times(0, there, NULL, here[1], size, 1, NULL);
    if (status == 0)
        status = verify(KERNEL_PATTERN_VERIFY, &work);
    release(here, 2);
    release(&there, 1);
    leave_peer(request->peer);
    return status;
}

static void verify_counters(const unsigned long long counters[COUNTERS],
                            const struct kernel_work *work, unsigned long long threads)
{
    for (unsigned i = 0; i < COUNTERS; i++) {
        unsigned long long expected = threads * work->count * work->seed * (i + 1);

        if (counters[i] == expected)
            continue;
        if (worker.answer.wrong++ == 0) {
            worker.answer.index = i;
            worker.answer.found = counters[i];
            worker.answer.expected = expected;
        }
        worker.answer.outcome = WORKER_WRONG;
    }
}

/* Runs atomic additions in the memory of the peer, or of the device (-1), and verifies them. */
static int add(int peer)
{
    unsigned blocks = device_blocks(&worker.device);
    unsigned long long counters[COUNTERS] = {0}, threads = 64ULL * blocks;
    struct kernel_work work = {.count = ADDITIONS, .pattern = COUNTERS, .seed = SEED};
    int status = allocate_at(peer, sizeof counters, &work.to);

    if (status == 0)
        status = device_copy(&worker.device, work.to, counters, sizeof counters, true, &worker.err);
    if (status == 0)
        status = run(KERNEL_ATOMIC_ADD, blocks, 1, &work, NULL);
    if (status == 0)
        status =
            device_copy(&worker.device, work.to, counters, sizeof counters, false, &worker.err);
    if (status == 0)
        verify_counters(counters, &work, threads);
    release(&work.to, 1);
    worker.answer.value = (double)threads * ADDITIONS * COUNTERS;
    return status;
}

static int atomics(const struct worker_request *request)
{
    int status;

    if (request->peer < 0)
        return add(request->peer);
    status = open_peer(request->peer);
    if (status == 0 && worker.has_atomics)
        status = add(request->peer);
    leave_peer(request->peer);
    return status;
}

/* ---------------------------------------------------------------- the process */

/* Loads the libraries, once. Returns 0, or an error as open_device() does. */
static int load(const char *path)
{
    enum device_outcome outcome;

    if (worker.is_loaded)
        return 0;
    outcome = device_load(path, &worker.library, &worker.err);
    worker.is_loaded = outcome == DEVICE_USABLE;
    worker.answer.device_count = worker.library.count;
    if (worker.is_loaded)
        return 0;
    worker.answer.outcome = outcome == DEVICE_FAILED      ? WORKER_ERROR
                            : outcome == DEVICE_NO_DRIVER ? WORKER_NO_DEVICE
                                                          : WORKER_NOT_TESTED;
    return outcome == DEVICE_FAILED ? worker.library.error : -1;
}

/* Opens the device. Sets the outcome if that fails. */
static int open_device(const char *path, const struct worker_request *request)
{
    int status = load(path);

    worker.answer.device_count = worker.library.count;
    if (status != 0)
        return status;
    status = device_open(&worker.library, request->device, &worker.device, &worker.err);
    snprintf(worker.answer.model, sizeof worker.answer.model, "%.63s", worker.device.name);
    snprintf(worker.answer.pci, sizeof worker.answer.pci, "%s", worker.device.pci);
    worker.answer.multiprocessors = worker.device.multiprocessors;
    if (status == 0)
        status = device_load_kernels(&worker.device, &worker.err);
    if (status != 0)
        worker.answer.outcome = status < 0 ? WORKER_NOT_TESTED /* compiler failed */ : WORKER_ERROR;
    return status;
}

static int do_task(const char *path, const struct worker_request *request)
{
    switch (request->task) {
    case TASK_COUNT:
        return load(path);
    case TASK_OPEN:
        return open_device(path, request);
    case TASK_COMPUTE:
        return product_compute(&worker.device, (enum precision)request->kind, &worker.answer,
                               &worker.err);
    case TASK_BLAS:
        return product_blas(path, &worker.device, (enum blas_precision)request->kind,
                            &worker.answer, &worker.err);
    case TASK_REPEAT:
        return product_repeat(&worker.device, request->amount, &worker.answer, &worker.err);
    case TASK_MEMORY:
        return memory(request);
    case TASK_PATTERN:
        return pattern(request);
    case TASK_HOST:
        return host(request);
    case TASK_PEER:
        return peer(request);
    case TASK_ATOMICS:
        return atomics(request);
    case TASK_NIC:
        bind_to_numa(request->numa_node);
        return nic_measure(&worker.device, request, &worker.answer, &worker.err);
    case TASK_GROUP_ID:
    case TASK_GROUP_JOIN:
    case TASK_GROUP_RUN:
    case TASK_GROUP_LEAVE:
        return group_worker_do(path, &worker.device, request, &worker.answer, &worker.err);
    }
    return error_set(&worker.err, "no such task");
}

int worker_main(const char *path, const char *visible)
{
    struct worker_request request;

    if (*visible && setenv("CUDA_VISIBLE_DEVICES", visible, 1) != 0)
        return 3; /* it would test the first instance in place of its own */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1});
    if (getppid() == 1)
        return 3;
    while (recv(WORKER_FD, &request, sizeof request, 0) == (ssize_t)sizeof request) {
        int status;

        worker.answer = (struct worker_answer){.outcome = WORKER_DONE};
        worker.err.text[0] = '\0';
        status = do_task(path, &request);
        if (status != 0 && request.task != TASK_COUNT && request.task != TASK_OPEN)
            worker.answer.outcome =
                status == DEVICE_OUT_OF_MEMORY || status < 0 ? WORKER_NOT_TESTED : WORKER_ERROR;
        worker.answer.error = status;
        snprintf(worker.answer.text, sizeof worker.answer.text, "%.255s", worker.err.text);
        if (send(WORKER_FD, &worker.answer, sizeof worker.answer, MSG_NOSIGNAL) < 0)
            return 3;
    }
    return 0;
}
