/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/accelerators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/node/device.h"
#include "lib/node/gpu/vendor.h"
#include "validate/accelerator/evaluate.h"
#include "validate/checks/facts.h"
#include "validate/health/residue.h"

/* ---------------------------------------------------------------- reading */

static bool is_wanted(enum gpu_vendor vendor, const struct inventory *inventory,
                      const struct conf *conf)
{
    if (!accelerator_library(vendor))
        return false;
    if (inventory->gpu_drivers[vendor][0])
        return true;
    for (size_t i = 0; i < inventory->gpu_count; i++)
        if (inventory->gpus[i].vendor == vendor && inventory->gpus[i].driver[0] &&
            !gpu_is_passed_through(&inventory->gpus[i]))
            return true;
    return accelerator_is_in(vendor, conf->gpu_library_path);
}

void accelerators_read(const char *root, const struct inventory *inventory, const struct conf *conf,
                       struct accelerators *accelerators)
{
    memset(accelerators, 0, sizeof *accelerators);
    for (int i = GPU_OTHER + 1; *root == '\0' && i < GPU_VENDORS; i++) {
        enum gpu_vendor vendor = (enum gpu_vendor)i;
        struct error err = {""};

        if (!is_wanted(vendor, inventory, conf))
            continue;
        accelerators->reports[vendor] =
            accelerator_read(vendor, conf->gpu_library_path, conf->gpu_deadline_s, &err);
        if (!accelerators->reports[vendor])
            snprintf(accelerators->errors[vendor], sizeof accelerators->errors[vendor], "%s",
                     err.text);
    }
}

void accelerators_clear(struct accelerators *accelerators)
{
    for (int vendor = 0; vendor < GPU_VENDORS; vendor++)
        free(accelerators->reports[vendor]);
    memset(accelerators, 0, sizeof *accelerators);
}

/* ---------------------------------------------------------------- gpu.health */

static void report_finding(struct record *record, void *context)
{
    checks_report(context, *record, "%s", record->message);
}

/* Whether the process belongs to no Slurm job: neither by its cgroup, which slurmstepd creates for
 * each step ("job_17" of version 1 and 2), nor, if Slurm uses no cgroups, by its ancestors. False
 * for the MPS server, which works for processes of jobs, and for a process that has ended. */
static bool is_foreign(pid_t pid, char name[64])
{
    char *cgroups;
    bool is_of_job;

    if (sysfs_line("", name, 64, "proc/%d/comm", (int)pid) < 0 ||
        strncmp(name, "nvidia-cuda-mps", strlen("nvidia-cuda-mps")) == 0)
        return false;
    cgroups = sysfs_file("", 16384, "proc/%d/cgroup", (int)pid);
    if (!cgroups)
        return false;
    is_of_job = strstr(cgroups, "/job_") != NULL;
    free(cgroups);
    return !is_of_job && residue_is_of_step("", pid) == 0;
}

static void report_read(const struct checks *checks, const struct accelerator_report *report)
{
    size_t missing = accelerator_count_missing(report), count = 0;
    char text[96] = "";

    for (size_t i = 0; i < report->count; i++)
        count += report->accelerators[i].state != ACCELERATOR_HIDDEN;

    if (missing > 0)
        snprintf(text, sizeof text, "; %zu value%s not available: older library, or no permission",
                 missing, text_plural(missing));
    checks_record(checks, "gpu", VERDICT_PASS,
                  "%zu %s device%s without faults according to %s%s%s%s", count,
                  gpu_vendor_name(report->vendor), text_plural(count), report->library,
                  report->library_version[0] ? " " : "", report->library_version, text);
}

static void report_vendor(const struct checks *checks, enum gpu_vendor vendor)
{
    const struct accelerator_report *report = checks->accelerators->reports[vendor];
    struct accelerator_view view = {
        .inventory = checks->inventory, .is_foreign = is_foreign, .up_s = clock_up_s()};
    const struct record_sink sink = {report_finding, (void *)checks};
    bool can_open[INVENTORY_GPUS];

    if (checks->accelerators->errors[vendor][0])
        checks_record(checks, "gpu", VERDICT_UNKNOWN, "%s was not queried: %s",
                      accelerator_library(vendor), checks->accelerators->errors[vendor]);
    if (!report)
        return;
    for (size_t i = 0; i < checks->inventory->gpu_count; i++)
        can_open[i] = device_access("", checks->inventory->gpus[i].device_file) == 0;
    view.can_open = can_open;
    if (report->outcome == OUTCOME_NO_LIBRARY || report->outcome == OUTCOME_NO_DRIVER)
        checks_record(checks, "", VERDICT_SKIP, "%s was not queried: %.160s", report->library,
                      report->reason);
    else if (accelerator_evaluate(report, &view, &sink) == 0)
        report_read(checks, report);
}

void check_accelerators(const struct checks *checks)
{
    bool is_reported[GPU_VENDORS] = {false};

    for (int vendor = GPU_OTHER + 1; checks->accelerators && vendor < GPU_VENDORS; vendor++)
        report_vendor(checks, (enum gpu_vendor)vendor);
    for (size_t i = 0; i < checks->inventory->gpu_count && *checks->root; i++) {
        enum gpu_vendor vendor = checks->inventory->gpus[i].vendor;

        if (is_reported[vendor] || !accelerator_library(vendor))
            continue;
        is_reported[vendor] = true;
        checks_record(checks, "", VERDICT_SKIP, "%s not queried: recorded node",
                      accelerator_library(vendor));
    }
}

/* ---------------------------------------------------------------- host.config */

static void record_accelerator(const struct checks *checks, const char *part,
                               const struct accelerator *device)
{
    static const struct {
        enum accelerator_value_id id;
        const char *metric, *unit;
        long long divisor;
    } reported[] = {
        {ACCELERATOR_CLOCK_MAX, "gpu.clock", "MHz", 1},
        {ACCELERATOR_MEMORY_CLOCK_MAX, "gpu.memory_clock", "MHz", 1},
        {ACCELERATOR_POWER_LIMIT, "gpu.power_limit", "W", 1000},
        {ACCELERATOR_PCIE_GENERATION_MAX, "gpu.pcie_generation", "count", 1},
        {ACCELERATOR_LINKS_ACTIVE, "gpu.links", "count", 1},
        {ACCELERATOR_MEMORY_TOTAL, "gpu.memory", "MB", 1000000},
        {ACCELERATOR_ECC_ENABLED, "gpu.ecc", "count", 1},
        {ACCELERATOR_MIG, "gpu.mig", "count", 1},
        {ACCELERATOR_PERSISTENCE, "gpu.persistence", "count", 1},
        {ACCELERATOR_COMPUTE_MODE, "gpu.compute_mode", "count", 1},
    };

    for (size_t i = 0; i < sizeof reported / sizeof *reported; i++)
        if (device->values[reported[i].id].answer == ANSWER_PRESENT)
            fact_number(checks, reported[i].metric, part,
                        device->values[reported[i].id].number / reported[i].divisor,
                        reported[i].unit);
}

/* Whether an earlier device is of the same GPU: each GPU has one fact. */
static bool is_reported(const long *indexes, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (indexes[i] >= 0 && indexes[i] == indexes[index])
            return true;
    return false;
}

void facts_accelerators(const struct checks *checks)
{
    long indexes[ACCELERATOR_MAX];
    char part[24];

    for (int vendor = GPU_OTHER + 1; checks->accelerators && vendor < GPU_VENDORS; vendor++) {
        const struct accelerator_report *report = checks->accelerators->reports[vendor];

        if (!report)
            continue;
        fact_text(checks, "gpu.library", gpu_vendor_info((enum gpu_vendor)vendor)->driver,
                  report->library_version);
        accelerator_indexes(report, checks->inventory, NULL, indexes);
        for (size_t i = 0; i < report->count; i++) {
            if (is_reported(indexes, i))
                continue;
            snprintf(part, sizeof part, "gpu%ld", indexes[i] >= 0 ? indexes[i] : (long)i);
            record_accelerator(checks, part, &report->accelerators[i]);
            fact_text(checks, "gpu.partition", part, report->accelerators[i].partition);
        }
    }
}
