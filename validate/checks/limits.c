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

/* host.limits: what a transport library asks of the process. */

/* limit < 0: the configuration states none. */
static void report_limit(const struct checks *checks, const char *test, enum fault_code code,
                         const char *metric, double value, const char *unit, double limit,
                         enum verdict verdict, const char *message)
{
    struct record record = RECORD(.metric = metric, .value = value, .unit = unit);

    if (limit >= 0) {
        record.limit = limit;
        record.limit_source = "conf";
    }
    record.verdict = verdict;
    record.code = code;
    record.message = message;
    checks_report(checks, test, &record);
}

static const char *memlock_text(rlim_t limit, char *text, size_t size)
{
    if (limit == RLIM_INFINITY)
        snprintf(text, size, "unlimited");
    else
        snprintf(text, size, "%.4g MB", (double)limit / 1e6);
    return text;
}

/* Of a step of root's the limit may be that of the host that started it. Its parent, slurmstepd,
 * has the node's own. */
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

static void check_memlock(const struct checks *checks, const char *test)
{
    int is_rdma = checks->fabric->class > FABRIC_ETHERNET;
    rlim_t wanted =
        checks->conf->memlock_mb < 0 ? RLIM_INFINITY : (rlim_t)checks->conf->memlock_mb * 1000000;
    char found[32], expected[32], message[256];
    rlim_t limit;

    if (memlock_find(&limit) < 0) {
        checks_record(checks, test, "", VERDICT_UNKNOWN, "RLIMIT_MEMLOCK: %m");
        return;
    }
    memlock_text(limit, found, sizeof found);
    if (limit >= wanted || !is_rdma)
        snprintf(message, sizeof message, "%s of locked memory%s", found,
                 limit >= wanted ? "" : "; enough without RDMA");
    else
        snprintf(message, sizeof message,
                 "found %s of locked memory, RDMA needs %s; set LimitMEMLOCK of slurmd's unit and "
                 "PropagateResourceLimitsExcept=MEMLOCK",
                 found, memlock_text(wanted, expected, sizeof expected));
    if (limit == RLIM_INFINITY)
        checks_record(checks, test, "", VERDICT_PASS, "%s", message);
    else
        report_limit(checks, test, FAULT_MEMLOCK_LOW, "memlock", (double)limit / 1e6, "MB",
                     wanted == RLIM_INFINITY ? -1 : (double)wanted / 1e6,
                     limit >= wanted || !is_rdma ? VERDICT_PASS : VERDICT_FAIL, message);
}

static void check_files(const struct checks *checks, const char *test)
{
    struct rlimit limit;
    char message[128];

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    snprintf(message, sizeof message, "%llu open files%s", (unsigned long long)limit.rlim_max,
             limit.rlim_max < CHECK_FILES_LEAST ? " at most; large jobs over sockets need 4096"
                                                : "");
    report_limit(checks, test, FAULT_OPEN_FILES_LOW, "open_files", (double)limit.rlim_max, "count",
                 -1, limit.rlim_max < CHECK_FILES_LEAST ? VERDICT_WARN : VERDICT_PASS, message);
}

static void check_shared_memory(const struct checks *checks, const char *test)
{
    double megabytes, wanted = checks->conf->shm_mb > 0 ? checks->conf->shm_mb : -1;
    struct statvfs status;
    char message[192];

    if (statvfs("/dev/shm", &status) < 0) {
        checks_fault(checks, test, "", FAULT_SHARED_MEMORY_LOW,
                     "/dev/shm: %m; ranks on one node communicate through it");
        return;
    }
    megabytes = (double)status.f_blocks * (double)status.f_frsize / 1e6;
    if (megabytes * 1e6 <= CHECK_SHM_LEAST_MIB * 1048576.0) {
        snprintf(
            message, sizeof message,
            "/dev/shm has %.0f MB; ranks on one node communicate through it, and NCCL needs more",
            megabytes);
        report_limit(checks, test, FAULT_SHARED_MEMORY_LOW, "shared_memory", megabytes, "MB",
                     wanted, VERDICT_FAIL, message);
    } else if (megabytes < wanted) {
        snprintf(message, sizeof message,
                 "/dev/shm has %.0f MB, ShmMB requires %.0f; remount it larger", megabytes, wanted);
        report_limit(checks, test, FAULT_SHARED_MEMORY_LOW, "shared_memory", megabytes, "MB",
                     wanted, VERDICT_FAIL, message);
    } else {
        snprintf(message, sizeof message, "%.0f MB of shared memory in /dev/shm", megabytes);
        report_limit(checks, test, FAULT_SHARED_MEMORY_LOW, "shared_memory", megabytes, "MB",
                     wanted, VERDICT_PASS, message);
    }
}

static void check_rdma_devices(const struct checks *checks, const char *test)
{
    struct stat status;

    if (checks->inventory->rdma_count == 0)
        return;
    if (stat("/dev/infiniband", &status) < 0)
        checks_fault(checks, test, "", FAULT_RDMA_DEVICE_MISSING,
                     "/dev/infiniband: %m, but the node has %zu RDMA port%s; load ib_uverbs",
                     checks->inventory->rdma_count, text_plural(checks->inventory->rdma_count));
    else
        checks_record(checks, test, "", VERDICT_PASS, "/dev/infiniband exists");
}

void check_limits(const struct checks *checks, const char *test)
{
    if (checks->root[0]) {
        checks_record(checks, test, "", VERDICT_SKIP, "not available on a recorded node");
        return;
    }
    check_memlock(checks, test);
    check_files(checks, test);
    check_shared_memory(checks, test);
    check_rdma_devices(checks, test);
}
