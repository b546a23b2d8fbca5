/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/checks/checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"

/* host.limits: the limits of the process that a transport library needs. */

static const char *memlock_text(rlim_t limit, char *text, size_t size)
{
    if (limit == RLIM_INFINITY)
        snprintf(text, size, "unlimited");
    else
        snprintf(text, size, "%.4g MB", (double)limit / 1e6);
    return text;
}

/* Finds the limit of locked memory. A step of root may have the limit of the host that started it;
 * its parent, slurmstepd, has that of the node. */
static int memlock_find(rlim_t *found)
{
    struct rlimit own, parent;

    if (getrlimit(RLIMIT_MEMLOCK, &own) < 0)
        return -1;
    *found = own.rlim_cur;
    if (geteuid() == 0 && getenv("SLURM_STEP_ID") &&
        prlimit(getppid(), RLIMIT_MEMLOCK, NULL, &parent) == 0 && parent.rlim_cur > *found)
        *found = parent.rlim_cur;
    return 0;
}

static void check_memlock(const struct checks *checks)
{
    int is_rdma = checks->fabric->class > FABRIC_ETHERNET;
    rlim_t wanted =
        checks->conf->memlock_mb < 0 ? RLIM_INFINITY : (rlim_t)checks->conf->memlock_mb * 1000000;
    char found[32], expected[32];
    struct record record;
    rlim_t limit;

    if (memlock_find(&limit) < 0) {
        checks_record(checks, "", VERDICT_UNKNOWN, "RLIMIT_MEMLOCK: %m");
        return;
    }
    memlock_text(limit, found, sizeof found);
    record = RECORD(.verdict = VERDICT_PASS);
    if (limit != RLIM_INFINITY) {
        record = RECORD(.metric = "memlock", .value = (double)limit / 1e6, .unit = "MB",
                        .code = FAULT_MEMLOCK_LOW,
                        .verdict = limit >= wanted || !is_rdma ? VERDICT_PASS : VERDICT_FAIL);
        if (wanted != RLIM_INFINITY) {
            record.limit = (double)wanted / 1e6;
            record.limit_source = "conf";
        }
    }
    if (record.verdict == VERDICT_PASS)
        checks_report(checks, record, "%s of locked memory%s", found,
                      limit >= wanted ? "" : "; enough without RDMA");
    else
        checks_report(checks, record,
                      "found %s of locked memory, RDMA needs %s; set LimitMEMLOCK of slurmd's unit "
                      "and PropagateResourceLimitsExcept=MEMLOCK",
                      found, memlock_text(wanted, expected, sizeof expected));
}

static void check_files(const struct checks *checks)
{
    struct rlimit limit;
    bool is_low;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    is_low = limit.rlim_max < CHECK_FILES_LEAST;
    checks_report(checks,
                  RECORD(.metric = "open_files", .value = (double)limit.rlim_max, .unit = "count",
                         .code = FAULT_OPEN_FILES_LOW,
                         .verdict = is_low ? VERDICT_WARN : VERDICT_PASS),
                  "%llu open files%s", (unsigned long long)limit.rlim_max,
                  is_low ? " at most; large jobs over sockets need 4096" : "");
}

static void check_shared_memory(const struct checks *checks)
{
    struct record record =
        RECORD(.metric = "shared_memory", .unit = "MB", .code = FAULT_SHARED_MEMORY_LOW);
    double wanted = checks->conf->shm_mb;
    struct statvfs status;

    if (statvfs("/dev/shm", &status) < 0) {
        checks_fault(checks, "", FAULT_SHARED_MEMORY_LOW,
                     "/dev/shm: %m; ranks on one node communicate through it");
        return;
    }
    record.value = (double)status.f_blocks * (double)status.f_frsize / 1e6;
    if (wanted > 0) {
        record.limit = wanted;
        record.limit_source = "conf";
    }
    record.verdict = VERDICT_FAIL;
    if (record.value * 1e6 <= CHECK_SHM_LEAST_MIB * 1048576.0) {
        checks_report(checks, record,
                      "/dev/shm has %.0f MB; ranks on one node communicate through it, and NCCL "
                      "needs more",
                      record.value);
    } else if (record.value < wanted) {
        checks_report(checks, record,
                      "/dev/shm has %.0f MB, ShmMB requires %.0f; remount it larger", record.value,
                      wanted);
    } else {
        record.verdict = VERDICT_PASS;
        checks_report(checks, record, "%.0f MB of shared memory in /dev/shm", record.value);
    }
}

static void check_rdma_devices(const struct checks *checks)
{
    struct stat status;

    if (checks->inventory->rdma_count == 0)
        return;
    if (stat("/dev/infiniband", &status) < 0)
        checks_fault(checks, "", FAULT_RDMA_DEVICE_MISSING,
                     "/dev/infiniband: %m, but the node has %zu RDMA port%s; load ib_uverbs",
                     checks->inventory->rdma_count, text_plural(checks->inventory->rdma_count));
    else
        checks_record(checks, "", VERDICT_PASS, "/dev/infiniband exists");
}

void check_limits(const struct checks *checks)
{
    if (checks_skip_recorded(checks))
        return;
    check_memlock(checks);
    check_files(checks);
    check_shared_memory(checks);
    check_rdma_devices(checks);
}
