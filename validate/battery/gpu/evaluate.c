/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/gpu/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

const struct figure_spec figure_specs[FIGURES] = {
    [FIGURE_FP32] = {TASK_COMPUTE, PRECISION_FP32, false, "rate_fp32", "GFLOP/s",
                     &GPU_RATE_LEAST_SHARE, FAULT_GPU_SLOW},
    [FIGURE_FP64] = {TASK_COMPUTE, PRECISION_FP64, false, "rate_fp64", "GFLOP/s",
                     &GPU_RATE_LEAST_SHARE, FAULT_GPU_SLOW},
    [FIGURE_BLAS_FP64] = {TASK_BLAS, BLAS_FP64, false, "rate_fp64_blas", "GFLOP/s",
                          &GPU_RATE_LEAST_SHARE, FAULT_GPU_SLOW},
    [FIGURE_TF32] = {TASK_BLAS, BLAS_TF32, false, "rate_tf32", "GFLOP/s", &GPU_RATE_LEAST_SHARE,
                     FAULT_GPU_SLOW},
    [FIGURE_BF16] = {TASK_BLAS, BLAS_BF16, false, "rate_bf16", "GFLOP/s", &GPU_RATE_LEAST_SHARE,
                     FAULT_GPU_SLOW},
    [FIGURE_FP16] = {TASK_BLAS, BLAS_FP16, false, "rate_fp16", "GFLOP/s", &GPU_RATE_LEAST_SHARE,
                     FAULT_GPU_SLOW},
    [FIGURE_FP8] = {TASK_BLAS, BLAS_FP8, false, "rate_fp8", "GFLOP/s", &GPU_RATE_LEAST_SHARE,
                    FAULT_GPU_SLOW},
    [FIGURE_INT8] = {TASK_BLAS, BLAS_INT8, false, "rate_int8", "GFLOP/s", &GPU_RATE_LEAST_SHARE,
                     FAULT_GPU_SLOW},
    [FIGURE_COPY] = {TASK_MEMORY, ACCESS_COPY, false, "memory_copy", "GB/s",
                     &GPU_MEMORY_LEAST_SHARE, FAULT_GPU_MEMORY_SLOW},
    [FIGURE_READ] = {TASK_MEMORY, ACCESS_READ, false, "memory_read", "GB/s",
                     &GPU_MEMORY_LEAST_SHARE, FAULT_GPU_MEMORY_SLOW},
    [FIGURE_WRITE] = {TASK_MEMORY, ACCESS_WRITE, false, "memory_write", "GB/s",
                      &GPU_MEMORY_LEAST_SHARE, FAULT_GPU_MEMORY_SLOW},
    [FIGURE_TRIAD] = {TASK_MEMORY, ACCESS_TRIAD, false, "memory_triad", "GB/s",
                      &GPU_MEMORY_LEAST_SHARE, FAULT_GPU_MEMORY_SLOW},
    [FIGURE_TO_DEVICE] = {TASK_HOST, COPY_TO_DEVICE, false, "to_device", "GB/s",
                          &GPU_HOST_PATH_LEAST_SHARE, FAULT_GPU_HOST_PATH_SLOW},
    [FIGURE_TO_HOST] = {TASK_HOST, COPY_TO_HOST, false, "to_host", "GB/s",
                        &GPU_HOST_PATH_LEAST_SHARE, FAULT_GPU_HOST_PATH_SLOW},
    [FIGURE_TO_DEVICE_PAGEABLE] = {TASK_HOST, COPY_TO_DEVICE_PAGEABLE, false, "to_device_pageable",
                                   "GB/s", NULL, FAULT_NONE},
    [FIGURE_TO_HOST_PAGEABLE] = {TASK_HOST, COPY_TO_HOST_PAGEABLE, false, "to_host_pageable",
                                 "GB/s", NULL, FAULT_NONE},
    [FIGURE_FP32_TOGETHER] = {TASK_COMPUTE, PRECISION_FP32, true, "rate_fp32_together", "GFLOP/s",
                              &GPU_RATE_TOGETHER_LEAST_SHARE, FAULT_GPU_SLOW},
    [FIGURE_FP64_TOGETHER] = {TASK_COMPUTE, PRECISION_FP64, true, "rate_fp64_together", "GFLOP/s",
                              &GPU_RATE_TOGETHER_LEAST_SHARE, FAULT_GPU_SLOW},
    [FIGURE_BF16_TOGETHER] = {TASK_BLAS, BLAS_BF16, true, "rate_bf16_together", "GFLOP/s",
                              &GPU_RATE_TOGETHER_LEAST_SHARE, FAULT_GPU_SLOW},
    [FIGURE_COPY_TOGETHER] = {TASK_MEMORY, ACCESS_COPY, true, "memory_copy_together", "GB/s",
                              &GPU_MEMORY_TOGETHER_LEAST_SHARE, FAULT_GPU_MEMORY_SLOW},
    /* devices share switches and sockets: not the same for all */
    [FIGURE_TO_DEVICE_TOGETHER] = {TASK_HOST, COPY_TO_DEVICE, true, "to_device_together", "GB/s",
                                   NULL, FAULT_NONE},
    [FIGURE_TO_HOST_TOGETHER] = {TASK_HOST, COPY_TO_HOST, true, "to_host_together", "GB/s", NULL,
                                 FAULT_NONE},
    /* not beside peers, whose ports may be others: gpu_is_nic_low() */
    [FIGURE_NIC_LOOPBACK] = {TASK_NIC, NIC_LOOPBACK, false, "nic_loopback", "GB/s", NULL,
                             FAULT_NONE},
    [FIGURE_NIC_TO_DEVICE] = {TASK_NIC, NIC_TO_DEVICE, false, "nic_to_device", "GB/s", NULL,
                              FAULT_NONE},
    [FIGURE_NIC_FROM_DEVICE] = {TASK_NIC, NIC_FROM_DEVICE, false, "nic_from_device", "GB/s", NULL,
                                FAULT_NONE},
};

/* ---------------------------------------------------------------- records */

struct reporter {
    const struct gpu_node *nodes;
    size_t count, node;
    double *peers; /* of nodes like this what a path should carry, [most][most]; NAN: not yet */
    size_t most;   /* devices of a node */
    const char *name;
    gpu_report_fn *report;
    void *context;
    char part[32], model[96], message[320];
};

/* code: FAULT_NONE: pass. Of a fault the verdict is the catalogue's. */
static void report_line(struct reporter *reporter, const char *test, const char *metric,
                        double value, const char *unit, enum fault_code code, struct record *rest)
{
    rest->test = test;
    rest->metric = metric;
    rest->node = reporter->name;
    rest->part = reporter->part;
    rest->value = value;
    rest->unit = unit;
    rest->code = code;
    if (rest->verdict == VERDICT_NONE)
        rest->verdict = code == FAULT_NONE ? VERDICT_PASS : catalog_fault(code)->severity;
    rest->message = reporter->message;
    reporter->report(rest, reporter->context);
    reporter->message[0] = '\0';
}

/* Whether an error of the driver (cuda.h, hip_runtime_api.h) is the device's own: of its memory
 * (214, 226), of its links (220), of a kernel that it ran, which are right on others (700, 702, 714
 * to 719), or one that it has no name for (999). All others may come from elsewhere: memory that
 * others hold (2), a device that they have for themselves (46), MPS of the user or of others (805
 * to 811), libraries of a container that do not fit the device (209, 804), a fabric manager that is
 * not there yet (802), or our own use of the driver. */
static bool is_of_device(int error)
{
    return error == 214 || error == 220 || error == 226 || error == 700 || error == 702 ||
           (error >= 714 && error <= 719) || error == 999;
}

/* What a device that was given up says of the node. 803: versions that do not fit. What comes while
 * the vendor's library multiplies may be its own, or our use of it. */
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

static void report_given_up(struct reporter *reporter, const struct gpu_device *device)
{
    struct record record = RECORD_INIT;
    char peer[32] = "";

    if (device->outcome == WORKER_DONE)
        return;
    if ((device->task == TASK_PEER || device->task == TASK_ATOMICS) && device->peer >= 0)
        snprintf(peer, sizeof peer, " with gpu%d",
                 reporter->nodes[reporter->node].devices[device->peer].part);
    if (device->outcome == WORKER_NOT_TESTED)
        record.verdict = VERDICT_SKIP;
    snprintf(reporter->message, sizeof reporter->message, "%s%s%s: %s", reporter->model, peer,
             device->outcome == WORKER_NOT_TESTED ? " not tested" : "", device->text);
    report_line(reporter, test_names[gpu_test_of(device->task)], "device", NAN, NULL,
                device->outcome == WORKER_NOT_TESTED
                    ? FAULT_NONE
                    : code_of(device->outcome, device->task, device->error),
                &record);
}

static void report_figure(struct reporter *reporter, const struct gpu_device *device,
                          enum figure figure, double reference)
{
    const struct figure_spec *spec = &figure_specs[figure];
    struct record record;
    bool is_low = gpu_is_low(device, figure, reference);

    if (device->best[figure] <= 0)
        return;
    record = RECORD(.low = device->lowest[figure], .high = device->best[figure],
                    .samples = (unsigned)device->samples[figure]);
    if (isfinite(reference) && spec->least) {
        record.limit = *spec->least * reference;
        record.limit_source = "peers";
    }
    if (is_low)
        snprintf(reporter->message, sizeof reporter->message,
                 "%s reaches %.4g, its peers %.4g %s%s%s", reporter->model,
                 (double)device->best[figure], reference, spec->unit,
                 *device->condition ? "; " : "", device->condition);
    report_line(reporter, test_names[gpu_test_of(spec->task)], spec->metric, device->best[figure],
                spec->unit, is_low ? spec->code : FAULT_NONE, &record);
}

/* Whether less than half of the devices of its model have such errors. Products of the vendor's
 * library are known to the bit if its matrix units add as they are said to; where half of the
 * devices have others, that is not so, and no device's fault. */
static bool is_alone_wrong(const struct reporter *reporter, const struct gpu_device *device,
                           size_t offset)
{
    int wrong = 0, all = 0;

    for (size_t i = 0; i < reporter->count; i++)
        for (int k = 0; k < reporter->nodes[i].count; k++) {
            const struct gpu_device *other = &reporter->nodes[i].devices[k];

            if (gpu_is_same_model(other, device) && other->outcome == WORKER_DONE) {
                wrong += ((const struct gpu_wrong *)((const char *)other + offset))->count > 0;
                all++;
            }
        }
    return 2 * wrong < all;
}

/* The same of paths between devices. */
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

static void report_blas(struct reporter *reporter, const struct gpu_device *device)
{
    const struct gpu_wrong *wrong = &device->wrong_blas;
    struct record record = RECORD_INIT;
    bool is_alone;

    if (wrong->count == 0)
        return;
    is_alone = is_alone_wrong(reporter, device, offsetof(struct gpu_device, wrong_blas));
    snprintf(reporter->message, sizeof reporter->message,
             "%llu wrong elements in products of the vendor's library on %s, first in %s, element "
             "%llu: found %lld, expected %lld%s; repeat with muster-gpu --devices=%d "
             "--tests=compute",
             wrong->count, reporter->model, blas_formats[device->wrong_blas_precision].name,
             wrong->index, (long long)wrong->found, (long long)wrong->expected,
             is_alone ? "" : "; not judged: half of the devices of this model have some",
             device->ordinal);
    report_line(reporter, "gpu.compute", "wrong", (double)wrong->count, "count",
                is_alone ? FAULT_GPU_RESULT_WRONG : FAULT_NOT_MEASURED, &record);
}

static void report_atomics(struct reporter *reporter, const struct gpu_device *device)
{
    const struct gpu_wrong *wrong = &device->wrong_atomics;
    struct record record = RECORD_INIT;
    bool is_alone;

    if (wrong->count == 0) {
        if (device->additions > 0)
            report_line(reporter, "gpu.memory", "atomics", device->additions, "count", FAULT_NONE,
                        &record);
        return;
    }
    is_alone = is_alone_wrong(reporter, device, offsetof(struct gpu_device, wrong_atomics));
    snprintf(reporter->message, sizeof reporter->message,
             "%.0f atomic additions in the memory of %s gave %llu wrong counters, the first one "
             "0x%llx instead of 0x%llx%s; repeat with muster-gpu --devices=%d --tests=memory",
             (double)device->additions, reporter->model, wrong->count, wrong->found,
             wrong->expected,
             is_alone ? "" : "; not judged: half of the devices of this model have some",
             device->ordinal);
    report_line(reporter, "gpu.memory", "atomics", device->additions, "count",
                is_alone ? FAULT_GPU_MEMORY_WRONG : FAULT_NOT_MEASURED, &record);
}

static void report_contents(struct reporter *reporter, const struct gpu_device *device)
{
    const struct gpu_wrong *wrong = &device->wrong_products;
    struct record record = RECORD_INIT;

    if (wrong->count > 0) {
        snprintf(reporter->message, sizeof reporter->message,
                 "%llu wrong elements in %.0f products on %s, the first one %llu: found %lld, "
                 "expected %lld; repeat with muster-gpu --devices=%d --tests=repeatable",
                 wrong->count, (double)device->products, reporter->model, wrong->index,
                 (long long)wrong->found, (long long)wrong->expected, device->ordinal);
        report_line(reporter, "gpu.repeatable", "wrong", (double)wrong->count, "count",
                    FAULT_GPU_RESULT_WRONG, &record);
    } else if (device->products > 0) {
        report_line(reporter, "gpu.repeatable", "products", device->products, "count", FAULT_NONE,
                    &record);
    }
    wrong = &device->wrong_memory;
    record = (struct record)RECORD_INIT;
    if (wrong->count > 0) {
        snprintf(
            reporter->message, sizeof reporter->message,
            "%llu wrong words in %.0f MB of %s, the first one at byte 0x%llx: bits 0x%llx differ; "
            "repeat with muster-gpu --devices=%d --tests=memory",
            wrong->count, (double)device->tested_mb, reporter->model, 8 * wrong->index,
            wrong->found ^ wrong->expected, device->ordinal);
        report_line(reporter, "gpu.memory", "wrong", (double)wrong->count, "count",
                    FAULT_GPU_MEMORY_WRONG, &record);
    } else if (device->tested_mb > 0) {
        report_line(reporter, "gpu.memory", "tested", device->tested_mb, "MB", FAULT_NONE, &record);
    }
    if (device->is_memory_short) {
        record = (struct record)RECORD_INIT;
        snprintf(reporter->message, sizeof reporter->message, "%s: only partly tested: %s",
                 reporter->model, device->text);
        report_line(reporter, "gpu.memory", "device", NAN, NULL, FAULT_NOT_MEASURED, &record);
    }
}

/* Whether its own work is wrong, which what it does with others then is as well. */
static bool is_wrong_itself(const struct gpu_device *device)
{
    return device->wrong_products.count > 0 || device->wrong_blas.count > 0 ||
           device->wrong_memory.count > 0 || device->wrong_atomics.count > 0;
}

static void report_nic_contents(struct reporter *reporter, const struct gpu_device *device)
{
    const struct gpu_wrong *wrong = &device->wrong_nic;
    struct record record = RECORD_INIT;
    bool is_alone;

    if (*device->nic_failure) {
        snprintf(reporter->message, sizeof reporter->message,
                 "writes between %s and the memory of %s failed: %s", device->nic, reporter->model,
                 device->nic_failure);
        report_line(reporter, "gpu.paths", "nic", NAN, NULL, FAULT_GPU_NIC_FAILED, &record);
    }
    if (wrong->count == 0 || is_wrong_itself(device))
        return;
    record = (struct record)RECORD_INIT;
    is_alone = is_alone_wrong(reporter, device, offsetof(struct gpu_device, wrong_nic));
    snprintf(
        reporter->message, sizeof reporter->message,
        "data between %s and the memory of %s was damaged, first at byte %llu: found 0x%02llx, "
        "expected 0x%02llx%s",
        device->nic, reporter->model, wrong->index, wrong->found, wrong->expected,
        is_alone ? "" : "; not judged: half of the devices of this model have such data");
    report_line(reporter, "gpu.paths", "nic", NAN, NULL,
                is_alone ? FAULT_GPU_NIC_DAMAGED : FAULT_NOT_MEASURED, &record);
}

/* What a NIC does with the device's memory beside what it does with the host's. */
static void report_nic(struct reporter *reporter, const struct gpu_device *device)
{
    double loopback = device->best[FIGURE_NIC_LOOPBACK];

    for (int figure = FIGURE_NIC_LOOPBACK; figure <= FIGURE_NIC_FROM_DEVICE; figure++) {
        const struct figure_spec *spec = &figure_specs[figure];
        struct record record = RECORD(.low = device->lowest[figure], .high = device->best[figure],
                                      .samples = (unsigned)device->samples[figure]);
        bool is_low = gpu_is_nic_low(device, (enum figure)figure);

        if (device->best[figure] <= 0)
            continue;
        if (figure != FIGURE_NIC_LOOPBACK && device->is_nic_near) {
            record.limit = GPU_NIC_LEAST_SHARE * loopback;
            record.limit_source = "expected";
        }
        if (is_low)
            snprintf(reporter->message, sizeof reporter->message,
                     "%s moves %.4g GB/s %s memory of %s, %.4g GB/s in host memory", device->nic,
                     (double)device->best[figure], figure == FIGURE_NIC_TO_DEVICE ? "to" : "from",
                     reporter->model, loopback);
        report_line(reporter, "gpu.paths", spec->metric, device->best[figure], spec->unit,
                    is_low ? FAULT_GPU_NIC_SLOW : FAULT_NONE, &record);
    }
    report_nic_contents(reporter, device);
}

/* Atomic additions of the device in the memory of another one. */
static void report_atomics_to(struct reporter *reporter, const struct gpu_device *device,
                              const struct gpu_path *path)
{
    struct record record = RECORD_INIT;
    bool is_alone;

    if (path->wrong_atomics == 0 || is_wrong_itself(device) ||
        is_wrong_itself(&reporter->nodes[reporter->node].devices[path->to]))
        return;
    is_alone = is_path_alone_wrong(reporter);
    snprintf(reporter->message, sizeof reporter->message,
             "atomic additions of the one in the memory of the other gave %u wrong counters%s",
             path->wrong_atomics, is_alone ? "" : "; not judged: half of the paths have some");
    report_line(reporter, "gpu.paths", "atomics", path->wrong_atomics, "count",
                is_alone ? FAULT_GPU_PEER_DAMAGED : FAULT_NOT_MEASURED, &record);
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

static double peer_reference(const struct reporter *reporter, int from, int to)
{
    double *known = &reporter->peers[(size_t)from * reporter->most + (size_t)to];

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
        struct record record = RECORD_INIT;
        double reference, value = path->GBps;
        enum fault_code code = FAULT_NONE;
        int to = path->to;

        if (value <= 0)
            continue;
        reference = peer_reference(reporter, from, to);
        snprintf(reporter->part, sizeof reporter->part, "gpu%d gpu%d", device->part,
                 node->devices[to].part);
        if (isfinite(reference))
            record = RECORD(.limit = GPU_PEER_LEAST_SHARE * reference, .limit_source = "peers");
        if (path->wrong_words > 0 && !is_wrong_itself(device) &&
            !is_wrong_itself(&node->devices[to])) {
            code = FAULT_GPU_PEER_DAMAGED;
            snprintf(reporter->message, sizeof reporter->message,
                     "%u words were damaged in the round trip", path->wrong_words);
        } else if (has_direct && !path->is_direct) {
            code = FAULT_GPU_NO_PEER_ACCESS;
            snprintf(reporter->message, sizeof reporter->message,
                     "the driver reports no peer access between the two; other pairs of the node "
                     "have it");
        } else if (value < GPU_PEER_LEAST_SHARE * reference) {
            code = FAULT_GPU_PEER_SLOW;
            snprintf(reporter->message, sizeof reporter->message,
                     "reaches %.4g GB/s, its peers %.4g GB/s", value, reference);
        }
        report_line(reporter, "gpu.paths", "to_peer", value, "GB/s", code, &record);
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

/* What was not tested on the node, by the first device that has a reason at that offset. */
static void report_left_out(struct reporter *reporter, size_t offset, const char *test,
                            const char *metric, const char *what)
{
    const struct gpu_node *node = &reporter->nodes[reporter->node];
    struct record record = RECORD(.verdict = VERDICT_SKIP);
    const char *reason = "";

    for (int i = 0; i < node->count && !*reason; i++)
        reason = (const char *)&node->devices[i] + offset;
    if (!*reason)
        return;
    snprintf(reporter->message, sizeof reporter->message, "%s not tested: %s", what, reason);
    report_line(reporter, test, metric, NAN, NULL, FAULT_NONE, &record);
}

static void report_node(struct reporter *reporter)
{
    const struct gpu_node *node = &reporter->nodes[reporter->node];
    struct record record = RECORD_INIT;

    reporter->part[0] = '\0';
    if (node->outcome != WORKER_DONE) {
        if (node->outcome == WORKER_NO_DEVICE ||
            (node->outcome == WORKER_NOT_TESTED && !has_tested(reporter->nodes, reporter->count)))
            record.verdict = VERDICT_SKIP;
        snprintf(reporter->message, sizeof reporter->message, "not tested: %s", node->text);
        report_line(reporter, "gpu.compute", "device", NAN, NULL,
                    record.verdict == VERDICT_SKIP ? FAULT_NONE
                                                   : code_of(node->outcome, TASK_OPEN, node->error),
                    &record);
    }
    if (node->count > 0 && node->device_count > node->count) {
        record = RECORD(.verdict = VERDICT_WARN);
        snprintf(reporter->message, sizeof reporter->message, "only %d of its %d devices tested",
                 node->count, node->device_count);
        report_line(reporter, "gpu.compute", "device", NAN, NULL, FAULT_NOT_MEASURED, &record);
    }
    report_left_out(reporter, offsetof(struct gpu_device, no_blas), "gpu.compute", "library",
                    "products of the vendor's library");
    report_left_out(reporter, offsetof(struct gpu_device, no_nic), "gpu.paths", "nic",
                    "paths between NICs and GPUs");
}

/* Returns 0, or -1 without memory. */
static int peers_make(struct reporter *reporter)
{
    for (size_t i = 0; i < reporter->count; i++)
        if ((size_t)reporter->nodes[i].count > reporter->most)
            reporter->most = (size_t)reporter->nodes[i].count;
    reporter->peers = malloc((reporter->most * reporter->most + 1) * sizeof *reporter->peers);
    return reporter->peers ? 0 : -1;
}

/* What is known of paths holds for nodes like the one before. */
static void peers_keep(struct reporter *reporter)
{
    const struct gpu_node *node = &reporter->nodes[reporter->node];

    if (reporter->node > 0 && gpu_is_same_node(node - 1, node))
        return;
    for (size_t i = 0; i < reporter->most * reporter->most; i++)
        reporter->peers[i] = NAN;
}

/* A part that several devices have does not tell which of them it is. */
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
                  gpu_report_fn *report, void *context)
{
    struct reporter reporter = {
        .nodes = nodes, .count = count, .report = report, .context = context};
    const struct gpu_device *last = NULL;
    double references[FIGURES];
    int rv = peers_make(&reporter);

    for (size_t i = 0; rv == 0 && i < count; i++) {
        reporter.node = i;
        reporter.name = names[i];
        peers_keep(&reporter);
        report_node(&reporter);
        for (int k = 0; k < nodes[i].count; k++) {
            const struct gpu_device *device = &nodes[i].devices[k];

            if (!last || !gpu_is_same_model(last, device)) /* with it the references change */
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
            report_contents(&reporter, device);
            report_atomics(&reporter, device);
            report_peers(&reporter, k);
        }
    }
    free(reporter.peers);
}
