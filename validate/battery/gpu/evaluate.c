/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/gpu/evaluate.h"

#include <math.h>
#include <stdio.h>

#include "lib/constants/battery_constants.h"

static const char *const test_names[GPU_TESTS] = {
    [GPU_TEST_COMPUTE] = "gpu.compute",         [GPU_TEST_REPEATABLE] = "gpu.repeatable",
    [GPU_TEST_MEMORY] = "gpu.memory",           [GPU_TEST_PATHS] = "gpu.paths",
    [GPU_TEST_COLLECTIVES] = "gpu.collectives",
};

enum gpu_test gpu_test_of(enum worker_task task)
{
    switch (task) {
    case TASK_REPEAT:
        return GPU_TEST_REPEATABLE;
    case TASK_MEMORY:
    case TASK_PATTERN:
    case TASK_ATOMICS:
        return GPU_TEST_MEMORY;
    case TASK_HOST:
    case TASK_PEER:
    case TASK_NIC:
        return GPU_TEST_PATHS;
    case TASK_GROUP_ID:
    case TASK_GROUP_JOIN:
    case TASK_GROUP_RUN:
    case TASK_GROUP_LEAVE:
        return GPU_TEST_COLLECTIVES;
    case TASK_COUNT:
    case TASK_OPEN:
    case TASK_COMPUTE:
    case TASK_BLAS:
        break;
    }
    return GPU_TEST_COMPUTE;
}

#define RATE(task, kind, metric)                                                                   \
    {                                                                                              \
        task, kind, false, metric, "GFLOP/s", &GPU_RATE_LEAST_SHARE, FAULT_GPU_SLOW                \
    }
#define RATE_TOGETHER(task, kind, metric)                                                          \
    {                                                                                              \
        task, kind, true, metric, "GFLOP/s", &GPU_RATE_TOGETHER_LEAST_SHARE, FAULT_GPU_SLOW        \
    }
#define MEMORY(kind, metric)                                                                       \
    {                                                                                              \
        TASK_MEMORY, kind, false, metric, "GB/s", &GPU_MEMORY_LEAST_SHARE, FAULT_GPU_MEMORY_SLOW   \
    }
#define HOST_PATH(kind, metric)                                                                    \
    {                                                                                              \
        TASK_HOST, kind, false, metric, "GB/s", &GPU_HOST_PATH_LEAST_SHARE,                        \
            FAULT_GPU_HOST_PATH_SLOW                                                               \
    }
#define NOT_JUDGED(task, kind, is_together, metric)                                                \
    {                                                                                              \
        task, kind, is_together, metric, "GB/s", NULL, FAULT_NONE                                  \
    }

const struct figure_spec figure_specs[FIGURES] = {
    [FIGURE_FP32] = RATE(TASK_COMPUTE, PRECISION_FP32, "rate_fp32"),
    [FIGURE_FP64] = RATE(TASK_COMPUTE, PRECISION_FP64, "rate_fp64"),
    [FIGURE_BLAS_FP64] = RATE(TASK_BLAS, BLAS_FP64, "rate_fp64_blas"),
    [FIGURE_TF32] = RATE(TASK_BLAS, BLAS_TF32, "rate_tf32"),
    [FIGURE_BF16] = RATE(TASK_BLAS, BLAS_BF16, "rate_bf16"),
    [FIGURE_FP16] = RATE(TASK_BLAS, BLAS_FP16, "rate_fp16"),
    [FIGURE_FP8] = RATE(TASK_BLAS, BLAS_FP8, "rate_fp8"),
    [FIGURE_INT8] = RATE(TASK_BLAS, BLAS_INT8, "rate_int8"),
    [FIGURE_COPY] = MEMORY(ACCESS_COPY, "memory_copy"),
    [FIGURE_READ] = MEMORY(ACCESS_READ, "memory_read"),
    [FIGURE_WRITE] = MEMORY(ACCESS_WRITE, "memory_write"),
    [FIGURE_TRIAD] = MEMORY(ACCESS_TRIAD, "memory_triad"),
    [FIGURE_TO_DEVICE] = HOST_PATH(COPY_TO_DEVICE, "to_device"),
    [FIGURE_TO_HOST] = HOST_PATH(COPY_TO_HOST, "to_host"),
    [FIGURE_TO_DEVICE_PAGEABLE] =
        NOT_JUDGED(TASK_HOST, COPY_TO_DEVICE_PAGEABLE, false, "to_device_pageable"),
    [FIGURE_TO_HOST_PAGEABLE] =
        NOT_JUDGED(TASK_HOST, COPY_TO_HOST_PAGEABLE, false, "to_host_pageable"),
    [FIGURE_FP32_TOGETHER] = RATE_TOGETHER(TASK_COMPUTE, PRECISION_FP32, "rate_fp32_together"),
    [FIGURE_FP64_TOGETHER] = RATE_TOGETHER(TASK_COMPUTE, PRECISION_FP64, "rate_fp64_together"),
    [FIGURE_BF16_TOGETHER] = RATE_TOGETHER(TASK_BLAS, BLAS_BF16, "rate_bf16_together"),
    [FIGURE_COPY_TOGETHER] = {TASK_MEMORY, ACCESS_COPY, true, "memory_copy_together", "GB/s",
                              &GPU_MEMORY_TOGETHER_LEAST_SHARE, FAULT_GPU_MEMORY_SLOW},
    /* devices share switches and sockets, and not all alike */
    [FIGURE_TO_DEVICE_TOGETHER] = NOT_JUDGED(TASK_HOST, COPY_TO_DEVICE, true, "to_device_together"),
    [FIGURE_TO_HOST_TOGETHER] = NOT_JUDGED(TASK_HOST, COPY_TO_HOST, true, "to_host_together"),
    /* not compared with peers, whose ports may differ: gpu_is_nic_low() */
    [FIGURE_NIC_LOOPBACK] = NOT_JUDGED(TASK_NIC, NIC_LOOPBACK, false, "nic_loopback"),
    [FIGURE_NIC_TO_DEVICE] = NOT_JUDGED(TASK_NIC, NIC_TO_DEVICE, false, "nic_to_device"),
    [FIGURE_NIC_FROM_DEVICE] = NOT_JUDGED(TASK_NIC, NIC_FROM_DEVICE, false, "nic_from_device"),
};

/* ---------------------------------------------------------------- records */

struct reporter {
    const struct gpu_node *nodes;
    size_t count, node;
    /* what a path of nodes like this should carry; NAN: not yet known */
    double peers[GPU_DEVICES_MOST][GPU_DEVICES_MOST];
    const char *name;
    const struct record_sink *sink;
    char part[32], model[96];
};

/* A record of the current device. */
#define OF(reporter, test_, metric_, ...)                                                          \
    RECORD(.test = test_, .metric = metric_, .node = (reporter)->name, .part = (reporter)->part,   \
           __VA_ARGS__)

/* Whether an error of the driver (cuda.h, hip_runtime_api.h) is the fault of the device: in its
 * memory (214, 226), in its links (220), in a kernel that it ran and that works on others (700,
 * 702, 714 to 719), or one that the driver has no name for (999). All others may have other causes:
 * memory that other processes hold (2), a device that one of them has exclusively (46), MPS of the
 * user or of others (805 to 811), container libraries that do not fit the device (209, 804), a
 * fabric manager that has not started yet (802), or our own use of the driver. */
static bool is_of_device(int error)
{
    return error == 214 || error == 220 || error == 226 || error == 700 || error == 702 ||
           (error >= 714 && error <= 719) || error == 999;
}

/* Returns the fault of a device that was given up. Error 803: versions do not fit. An error while
 * the vendor's library multiplies may be that of the library, or of our use of it. */
static enum fault_code code_of(enum worker_outcome outcome, enum worker_task task, int error)
{
    switch (outcome) {
    case WORKER_HUNG:
        return task == TASK_NIC ? FAULT_GPU_NIC_FAILED : FAULT_GPU_HUNG;
    case WORKER_DIED:
        return FAULT_GPU_LIBRARY_CRASHED;
    case WORKER_ERROR:
        return task == TASK_BLAS     ? FAULT_NOT_MEASURED
               : error == 803        ? FAULT_GPU_DRIVER_MISMATCH
               : is_of_device(error) ? FAULT_GPU_FAILED
                                     : FAULT_NOT_MEASURED;
    case WORKER_DONE:
    case WORKER_WRONG:
    case WORKER_NOT_TESTED:
    case WORKER_NO_DEVICE:
    case WORKER_SLOW:
        break;
    }
    return FAULT_NOT_MEASURED;
}

static void report_given_up(const struct reporter *reporter, const struct gpu_device *device)
{
    bool is_skipped = device->outcome == WORKER_NOT_TESTED;
    char peer[32] = "";

    if (device->outcome == WORKER_DONE)
        return;
    if ((device->task == TASK_PEER || device->task == TASK_ATOMICS) && device->peer >= 0)
        snprintf(peer, sizeof peer, " with gpu%d",
                 reporter->nodes[reporter->node].devices[device->peer].part);
    record_report(
        reporter->sink,
        OF(reporter, test_names[gpu_test_of(device->task)], "device",
           .verdict = is_skipped ? VERDICT_SKIP : VERDICT_NONE,
           .code = is_skipped ? FAULT_NONE : code_of(device->outcome, device->task, device->error)),
        "%s%s%s: %s", reporter->model, peer, is_skipped ? " not tested" : "", device->text);
}

/* A record of the figure. */
static struct record figure_record(const struct reporter *reporter, const struct gpu_device *device,
                                   int figure)
{
    const struct figure_spec *spec = &figure_specs[figure];

    return OF(reporter, test_names[gpu_test_of(spec->task)], spec->metric,
              .value = device->best[figure], .unit = spec->unit, .low = device->lowest[figure],
              .high = device->best[figure], .samples = (unsigned)device->samples[figure]);
}

static void report_figure(const struct reporter *reporter, const struct gpu_device *device,
                          enum figure figure, double reference)
{
    const struct figure_spec *spec = &figure_specs[figure];
    struct record record = figure_record(reporter, device, (int)figure);

    if (record.value <= 0)
        return;
    if (isfinite(reference) && spec->least) {
        record.limit = *spec->least * reference;
        record.limit_source = "peers";
    }
    if (!gpu_is_low(device, figure, reference)) {
        record_report_pass(reporter->sink, record);
        return;
    }
    record.code = spec->code;
    record_report(reporter->sink, record, "%s reaches %.4g, its peers %.4g %s%s%s", reporter->model,
                  record.value, reference, spec->unit, *device->condition ? "; " : "",
                  device->condition);
}

/* Returns code if less than half of the devices of the model have such errors (own), else
 * FAULT_NOT_MEASURED. Products of the vendor's library are known to the bit if its matrix units add
 * as documented. If half of the devices have other ones they do not, and no device is at fault. */
static enum fault_code code_of_wrong(const struct reporter *reporter,
                                     const struct gpu_device *device, const struct gpu_wrong *own,
                                     enum fault_code code)
{
    size_t offset = (size_t)((const char *)own - (const char *)device);
    int wrong = 0, all = 0;

    for (size_t i = 0; i < reporter->count; i++)
        for (int k = 0; k < reporter->nodes[i].count; k++) {
            const struct gpu_device *other = &reporter->nodes[i].devices[k];

            if (gpu_is_same_model(other, device) && other->outcome == WORKER_DONE) {
                wrong += ((const struct gpu_wrong *)((const char *)other + offset))->count > 0;
                all++;
            }
        }
    return 2 * wrong < all ? code : FAULT_NOT_MEASURED;
}

static const char *why_not(enum fault_code code)
{
    return code == FAULT_NOT_MEASURED
               ? "; not judged: half of the devices of this model have such errors"
               : "";
}

/* The same for atomics on paths between devices: whether less than half of the paths have
 * errors. */
static bool is_path_alone_wrong(const struct reporter *reporter)
{
    int wrong = 0, all = 0;

    for (size_t i = 0; i < reporter->count; i++)
        for (int k = 0; k < reporter->nodes[i].count; k++) {
            const struct gpu_device *device = &reporter->nodes[i].devices[k];

            for (int p = 0; p < device->path_count; p++) {
                wrong += device->paths[p].wrong_atomics > 0;
                all += device->paths[p].has_atomics;
            }
        }
    return 2 * wrong < all;
}

static void report_blas(const struct reporter *reporter, const struct gpu_device *device)
{
    const struct gpu_wrong *wrong = &device->wrong_blas;
    enum fault_code code;

    if (wrong->count == 0)
        return;
    code = code_of_wrong(reporter, device, wrong, FAULT_GPU_RESULT_WRONG);
    record_report(reporter->sink,
                  OF(reporter, "gpu.compute", "wrong", .value = (double)wrong->count,
                     .unit = "count", .code = code),
                  "%llu wrong elements in products of the vendor's library on %s, first in %s, "
                  "element %llu: found %lld, expected %lld%s; repeat with muster-gpu --devices=%d "
                  "--tests=compute",
                  wrong->count, reporter->model, blas_formats[device->wrong_blas_precision].name,
                  wrong->index, (long long)wrong->found, (long long)wrong->expected, why_not(code),
                  device->ordinal);
}

static void report_atomics(const struct reporter *reporter, const struct gpu_device *device)
{
    const struct gpu_wrong *wrong = &device->wrong_atomics;
    struct record record =
        OF(reporter, "gpu.memory", "atomics", .value = device->additions, .unit = "count");

    if (wrong->count > 0) {
        record.code = code_of_wrong(reporter, device, wrong, FAULT_GPU_MEMORY_WRONG);
        record_report(reporter->sink, record,
                      "%.0f atomic additions in the memory of %s gave %llu wrong counters, the "
                      "first one 0x%llx instead of 0x%llx%s; repeat with muster-gpu --devices=%d "
                      "--tests=memory",
                      record.value, reporter->model, wrong->count, wrong->found, wrong->expected,
                      why_not(record.code), device->ordinal);
    } else if (device->additions > 0) {
        record_report_pass(reporter->sink, record);
    }
}

static void report_products(const struct reporter *reporter, const struct gpu_device *device)
{
    const struct gpu_wrong *wrong = &device->wrong_products;

    if (wrong->count > 0)
        record_report(reporter->sink,
                      OF(reporter, "gpu.repeatable", "wrong", .value = (double)wrong->count,
                         .unit = "count", .code = FAULT_GPU_RESULT_WRONG),
                      "%llu wrong elements in %.0f products on %s, the first one %llu: found %lld, "
                      "expected %lld; repeat with muster-gpu --devices=%d --tests=repeatable",
                      wrong->count, (double)device->products, reporter->model, wrong->index,
                      (long long)wrong->found, (long long)wrong->expected, device->ordinal);
    else if (device->products > 0)
        record_report_pass(reporter->sink, OF(reporter, "gpu.repeatable", "products",
                                              .value = device->products, .unit = "count"));
}

static void report_memory(const struct reporter *reporter, const struct gpu_device *device)
{
    const struct gpu_wrong *wrong = &device->wrong_memory;

    if (wrong->count > 0)
        record_report(reporter->sink,
                      OF(reporter, "gpu.memory", "wrong", .value = (double)wrong->count,
                         .unit = "count", .code = FAULT_GPU_MEMORY_WRONG),
                      "%llu wrong words in %.0f MB of %s, the first one at byte 0x%llx: bits "
                      "0x%llx differ; repeat with muster-gpu --devices=%d --tests=memory",
                      wrong->count, (double)device->tested_mb, reporter->model, 8 * wrong->index,
                      wrong->found ^ wrong->expected, device->ordinal);
    else if (device->tested_mb > 0)
        record_report_pass(reporter->sink, OF(reporter, "gpu.memory", "tested",
                                              .value = device->tested_mb, .unit = "MB"));
    if (device->is_memory_short)
        record_report(reporter->sink,
                      OF(reporter, "gpu.memory", "device", .code = FAULT_NOT_MEASURED),
                      "%s: only partly tested: %s", reporter->model, device->text);
}

/* Whether what the device does alone is wrong; then what it does with others is wrong as well. */
static bool is_wrong_itself(const struct gpu_device *device)
{
    return device->wrong_products.count > 0 || device->wrong_blas.count > 0 ||
           device->wrong_memory.count > 0 || device->wrong_atomics.count > 0;
}

static void report_nic_contents(const struct reporter *reporter, const struct gpu_device *device)
{
    const struct gpu_wrong *wrong = &device->wrong_nic;
    enum fault_code code;

    if (*device->nic_failure)
        record_report(reporter->sink,
                      OF(reporter, "gpu.paths", "nic", .code = FAULT_GPU_NIC_FAILED),
                      "writes between %s and the memory of %s failed: %s", device->nic,
                      reporter->model, device->nic_failure);
    if (wrong->count == 0 || is_wrong_itself(device))
        return;
    code = code_of_wrong(reporter, device, wrong, FAULT_GPU_NIC_DAMAGED);
    record_report(reporter->sink, OF(reporter, "gpu.paths", "nic", .code = code),
                  "data between %s and the memory of %s was damaged, first at byte %llu: found "
                  "0x%02llx, expected 0x%02llx%s",
                  device->nic, reporter->model, wrong->index, wrong->found, wrong->expected,
                  why_not(code));
}

/* Reports what a NIC does with the device's memory, compared with host memory. */
static void report_nic(const struct reporter *reporter, const struct gpu_device *device)
{
    double loopback = device->best[FIGURE_NIC_LOOPBACK];

    for (int figure = FIGURE_NIC_LOOPBACK; figure <= FIGURE_NIC_FROM_DEVICE; figure++) {
        struct record record = figure_record(reporter, device, figure);

        if (record.value <= 0)
            continue;
        if (figure != FIGURE_NIC_LOOPBACK && device->is_nic_near) {
            record.limit = GPU_NIC_LEAST_SHARE * loopback;
            record.limit_source = "expected";
        }
        if (!gpu_is_nic_low(device, (enum figure)figure)) {
            record_report_pass(reporter->sink, record);
            continue;
        }
        record.code = FAULT_GPU_NIC_SLOW;
        record_report(reporter->sink, record,
                      "%s moves %.4g GB/s %s memory of %s, %.4g GB/s in host memory", device->nic,
                      record.value, figure == FIGURE_NIC_TO_DEVICE ? "to" : "from", reporter->model,
                      loopback);
    }
    report_nic_contents(reporter, device);
}

/* Reports wrong atomic additions of the device in the memory of another one. */
static void report_atomics_to(const struct reporter *reporter, const struct gpu_device *device,
                              const struct gpu_path *path)
{
    bool is_alone;

    if (path->wrong_atomics == 0 || is_wrong_itself(device) ||
        is_wrong_itself(&reporter->nodes[reporter->node].devices[path->to]))
        return;
    is_alone = is_path_alone_wrong(reporter);
    record_report(reporter->sink,
                  OF(reporter, "gpu.paths", "atomics", .value = path->wrong_atomics,
                     .unit = "count",
                     .code = is_alone ? FAULT_GPU_PEER_DAMAGED : FAULT_NOT_MEASURED),
                  "atomic additions of the one in the memory of the other gave %u wrong counters%s",
                  path->wrong_atomics, is_alone ? "" : "; not judged: half of the paths have some");
}

/* Whether some devices of the node reach others directly: then all should. */
static bool has_direct_paths(const struct gpu_node *node)
{
    for (int i = 0; i < node->count; i++)
        for (int k = 0; k < node->devices[i].path_count; k++)
            if (node->devices[i].paths[k].is_direct)
                return true;
    return false;
}

static double peer_reference(struct reporter *reporter, int from, int to)
{
    double *known = &reporter->peers[from][to];

    if (isnan(*known))
        *known =
            gpu_peer_reference_of_nodes(reporter->nodes, reporter->count, reporter->node, from, to);
    return isfinite(*known)
               ? *known
               : gpu_peer_reference(reporter->nodes, reporter->count, reporter->node, from, to);
}

static void report_peers(struct reporter *reporter, int from)
{
    const struct gpu_node *node = &reporter->nodes[reporter->node];
    const struct gpu_device *device = &node->devices[from];
    bool has_direct = has_direct_paths(node);

    for (int i = 0; i < device->path_count; i++) {
        const struct gpu_path *path = &device->paths[i];
        double reference = path->GBps > 0 ? peer_reference(reporter, from, path->to) : NAN;
        struct record record;

        if (path->GBps <= 0)
            continue;
        snprintf(reporter->part, sizeof reporter->part, "gpu%d gpu%d", device->part,
                 node->devices[path->to].part);
        record = OF(reporter, "gpu.paths", "to_peer", .value = path->GBps, .unit = "GB/s");
        if (isfinite(reference)) {
            record.limit = GPU_PEER_LEAST_SHARE * reference;
            record.limit_source = "peers";
        }
        if (path->wrong_words > 0 && !is_wrong_itself(device) &&
            !is_wrong_itself(&node->devices[path->to])) {
            record.code = FAULT_GPU_PEER_DAMAGED;
            record_report(reporter->sink, record, "%u words were damaged in the round trip",
                          path->wrong_words);
        } else if (has_direct && !path->is_direct) {
            record.code = FAULT_GPU_NO_PEER_ACCESS;
            record_report(reporter->sink, record,
                          "the driver reports no peer access between the two; other pairs of the "
                          "node have it");
        } else if (record.value < record.limit) {
            record.code = FAULT_GPU_PEER_SLOW;
            record_report(reporter->sink, record, "reaches %.4g GB/s, its peers %.4g GB/s",
                          record.value, reference);
        } else {
            record_report_pass(reporter->sink, record);
        }
        report_atomics_to(reporter, device, path);
    }
}

/* Whether devices of some node were tested: then those of the others should have been. */
static bool has_tested(const struct gpu_node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i].outcome == WORKER_DONE && nodes[i].count > 0)
            return true;
    return false;
}

/* Reports what was not tested on the node. offset: of the reason in a device; the first device that
 * has one counts. */
static void report_left_out(const struct reporter *reporter, size_t offset, const char *test,
                            const char *metric, const char *what)
{
    const struct gpu_node *node = &reporter->nodes[reporter->node];
    const char *reason = "";

    for (int i = 0; i < node->count && !*reason; i++)
        reason = (const char *)&node->devices[i] + offset;
    if (*reason)
        record_report(reporter->sink, OF(reporter, test, metric, .verdict = VERDICT_SKIP),
                      "%s not tested: %s", what, reason);
}

static void report_node(struct reporter *reporter)
{
    const struct gpu_node *node = &reporter->nodes[reporter->node];
    bool is_skipped =
        node->outcome == WORKER_NO_DEVICE ||
        (node->outcome == WORKER_NOT_TESTED && !has_tested(reporter->nodes, reporter->count));

    reporter->part[0] = '\0';
    if (node->outcome != WORKER_DONE)
        record_report(
            reporter->sink,
            OF(reporter, "gpu.compute", "device",
               .verdict = is_skipped ? VERDICT_SKIP : VERDICT_NONE,
               .code = is_skipped ? FAULT_NONE : code_of(node->outcome, TASK_OPEN, node->error)),
            "not tested: %s", node->text);
    if (node->count > 0 && node->device_count > node->count)
        record_report(reporter->sink,
                      OF(reporter, "gpu.compute", "device", .verdict = VERDICT_WARN,
                         .code = FAULT_NOT_MEASURED),
                      "only %d of its %d devices tested", node->count, node->device_count);
    report_left_out(reporter, offsetof(struct gpu_device, no_blas), "gpu.compute", "library",
                    "products of the vendor's library");
    report_left_out(reporter, offsetof(struct gpu_device, no_nic), "gpu.paths", "nic",
                    "paths between NICs and GPUs");
}

/* Forgets what is known of paths, unless the node is like the one before. */
static void reset_peers(struct reporter *reporter)
{
    const struct gpu_node *node = &reporter->nodes[reporter->node];

    if (reporter->node > 0 && gpu_is_same_node(node - 1, node))
        return;
    for (int i = 0; i < node->count; i++)
        for (int k = 0; k < node->count; k++)
            reporter->peers[i][k] = NAN;
}

/* Writes the model, with the number of the device if several devices have its part. */
static void write_model(struct reporter *reporter, const struct gpu_device *device)
{
    const struct gpu_node *node = &reporter->nodes[reporter->node];
    int same = 0;

    for (int i = 0; i < node->count; i++)
        same += node->devices[i].part == device->part;
    if (same > 1)
        snprintf(reporter->model, sizeof reporter->model, "%s (device %d)", device->model,
                 device->ordinal);
    else
        snprintf(reporter->model, sizeof reporter->model, "%s", device->model);
}

void gpu_evaluate(const struct gpu_node *nodes, size_t count, const char *const *names,
                  const struct record_sink *sink)
{
    struct reporter reporter = {.nodes = nodes, .count = count, .sink = sink};
    const struct gpu_device *last = NULL;
    double references[FIGURES];

    for (size_t i = 0; i < count; i++) {
        reporter.node = i;
        reporter.name = names[i];
        reset_peers(&reporter);
        report_node(&reporter);
        for (int k = 0; k < nodes[i].count; k++) {
            const struct gpu_device *device = &nodes[i].devices[k];

            if (!last || !gpu_is_same_model(last, device)) /* references change with the model */
                gpu_references(nodes, count, device, references);
            last = device;
            snprintf(reporter.part, sizeof reporter.part, "gpu%d", device->part);
            write_model(&reporter, device);
            report_given_up(&reporter, device);
            for (int figure = 0; figure < FIGURES; figure++)
                if (figure_specs[figure].task != TASK_NIC)
                    report_figure(&reporter, device, (enum figure)figure, references[figure]);
            report_nic(&reporter, device);
            report_blas(&reporter, device);
            report_products(&reporter, device);
            report_memory(&reporter, device);
            report_atomics(&reporter, device);
            report_peers(&reporter, k);
        }
    }
}
