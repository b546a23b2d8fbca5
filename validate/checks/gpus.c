/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"
#include "validate/checks/gres.h"

/* GPUs are named gpu0, gpu1, ... in the order of their PCI addresses. */
static const char *part_name(size_t index, char part[24])
{
    snprintf(part, 24, "gpu%zu", index);
    return part;
}

static void report_count(const struct checks *checks, long found, long expected, const char *source)
{
    checks_report(checks,
                  RECORD(.part = "gpu", .metric = "count", .value = (double)found, .unit = "count",
                         .limit = (double)expected, .limit_source = "conf",
                         .verdict = found < expected   ? VERDICT_FAIL
                                    : found > expected ? VERDICT_WARN
                                                       : VERDICT_PASS,
                         .code = found < expected ? FAULT_GPU_MISSING : FAULT_GPU_SURPLUS),
                  "%ld GPU%s on the PCI bus, %s expects %ld%s", found, text_plural((size_t)found),
                  source, expected,
                  found < expected ? "; the kernel log shows which one is gone" : "");
}

/* expected: how many GPUs the node should have; -1: unknown. If jobs can use that many, one without
 * driver is not meant for them, as a graphics card or the graphics unit of a processor. */
static void check_drivers(const struct checks *checks, long expected)
{
    char part[24];
    long usable = 0;

    for (size_t i = 0; i < checks->inventory->gpu_count; i++)
        usable += gpu_is_usable(&checks->inventory->gpus[i]);

    for (size_t i = 0; i < checks->inventory->gpu_count; i++) {
        const struct gpu *gpu = &checks->inventory->gpus[i];

        if (!gpu->driver[0] && expected >= 0 && usable >= expected)
            checks_report(checks,
                          RECORD(.part = part_name(i, part), .code = FAULT_GPU_NO_DRIVER,
                                 .verdict = VERDICT_WARN),
                          "%s %s at %s has no driver, but the node has the %ld GPUs expected",
                          gpu_vendor_name(gpu->vendor), gpu->model, gpu->location.pci, expected);
        else if (!gpu->driver[0])
            checks_fault(checks, part_name(i, part), FAULT_GPU_NO_DRIVER,
                         "%s %s at %s has no driver; the kernel log says why",
                         gpu_vendor_name(gpu->vendor), gpu->model, gpu->location.pci);
        else if (gpu_is_passed_through(gpu))
            checks_fault(checks, part_name(i, part), FAULT_GPU_PASSED_THROUGH,
                         "%s %s at %s is reserved for virtual machines (%s)",
                         gpu_vendor_name(gpu->vendor), gpu->model, gpu->location.pci, gpu->driver);
        else if (gpu->is_excluded)
            checks_record(checks, part_name(i, part), VERDICT_SKIP,
                          "%s %s at %s is excluded by an option of its driver (NVreg_ExcludedGpus)",
                          gpu_vendor_name(gpu->vendor), gpu->model, gpu->location.pci);
    }
}

void check_gpu_enumerate(const struct checks *checks)
{
    long found = (long)checks->inventory->gpu_count, configured = checks->conf->gpus_per_node;
    bool has_partitions = false;
    long slurm_count = found > 0 && configured < 0 ? gres_gpu_count(checks, &has_partitions) : -1;
    long expected = configured >= 0 ? configured : has_partitions ? -1 : slurm_count;

    if (found == 0 && configured <= 0) {
        checks_record(checks, "", VERDICT_SKIP, "no supported GPU found");
        return;
    }
    if (configured >= 0)
        report_count(checks, found, configured, "GPUsPerNode in muster.conf");
    else if (slurm_count >= 0 && has_partitions)
        checks_record(checks, "gpu", VERDICT_SKIP,
                      "%ld GPU%s on the PCI bus; not compared: slurm.conf counts partitions "
                      "(MIG), gpu:%ld",
                      found, text_plural((size_t)found), slurm_count);
    else if (slurm_count >= 0)
        report_count(checks, found, slurm_count, "slurm.conf");
    else
        checks_record(
            checks, "gpu", VERDICT_PASS,
            "%ld GPU%s on the PCI bus; neither muster.conf nor slurm.conf sets an expected number",
            found, text_plural((size_t)found));
    check_drivers(checks, expected);
}

/* Whether the habanalabs state is transient: Gaudi 2 and newer are reset after each job. */
static bool is_transient(const char *state)
{
    static const char *const passing[] = {"in reset", "in reset after device release",
                                          "in device creation"};

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (strcasecmp(state, passing[i]) == 0)
            return true;
    return false;
}

/* Returns the number of problems reported. */
static int check_gpu(const struct checks *checks, const char *part, const struct gpu *gpu)
{
    int found = 0;

    if (is_transient(gpu->state)) {
        found++;
        checks_record(checks, part, VERDICT_UNKNOWN,
                      "%s at %s is in state '%s', not operational yet", gpu->model,
                      gpu->location.pci, gpu->state);
    } else if (gpu->state[0] && strcasecmp(gpu->state, "operational") != 0) {
        found++;
        checks_fault(checks, part, FAULT_GPU_NOT_OPERATIONAL,
                     "%s at %s is in state '%s', not operational", gpu->model, gpu->location.pci,
                     gpu->state);
    }
    if (gpu->reset_count > 0) {
        found++;
        checks_fault(checks, part, FAULT_GPU_WAS_RESET, "%s at %s was reset %ld time%s", gpu->model,
                     gpu->location.pci, gpu->reset_count, text_plural(gpu->reset_count));
    }
    if (gpu->ecc_uncorrected > 0) {
        found++;
        checks_report(checks,
                      RECORD(.part = part, .metric = "ecc_uncorrected",
                             .value = (double)gpu->ecc_uncorrected, .unit = "count",
                             .verdict = VERDICT_FAIL, .code = FAULT_GPU_MEMORY_ERRORS),
                      "%s at %s has %ld uncorrected memory errors", gpu->model, gpu->location.pci,
                      gpu->ecc_uncorrected);
    }
    /* An idle GPU lowers the speed of its link to save power, so only the width is checked. */
    if (gpu->location.link_width > 0 &&
        gpu->location.link_width < location_width_limit(&gpu->location)) {
        found++;
        checks_fault(checks, part, FAULT_PCIE_DEGRADED,
                     "%s at %s uses %d of %d PCIe lanes; reseat it", gpu->model, gpu->location.pci,
                     gpu->location.link_width, location_width_limit(&gpu->location));
    }
    return found;
}

void check_gpu_health(const struct checks *checks)
{
    size_t faulty = 0;
    char part[24];

    if (checks->inventory->gpu_count == 0 && !checks->accelerators) {
        checks_record(checks, "", VERDICT_SKIP, "no supported GPU found");
        return;
    }
    for (size_t i = 0; i < checks->inventory->gpu_count; i++)
        faulty += check_gpu(checks, part_name(i, part), &checks->inventory->gpus[i]) > 0;
    if (faulty == 0 && checks->inventory->gpu_count > 0)
        checks_record(checks, "gpu", VERDICT_PASS, "%zu GPU%s without faults in the driver's files",
                      checks->inventory->gpu_count, text_plural(checks->inventory->gpu_count));
    check_accelerators(checks);
}
