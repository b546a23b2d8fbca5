/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "lib/base/bounded_child.h"
#include "lib/constants/checks_constants.h"
#include "lib/node/shared_memory.h"

/* host.space: where Slurm, its jobs and the system write. Any user can fill some of them, so that
 * nobody is drained for it; but a job that is sent to such a node fails at once. */
static const char *const directories[] = {"/",        "/run",       "/tmp",     "/var",
                                          "/var/log", "/var/spool", "/var/tmp", SHARED_MEMORY};
enum { DIRECTORIES = sizeof directories / sizeof *directories };

struct space {
    bool is_read; /* of a file system that no directory before it lies on */
    double free_percent, free_inodes_percent; /* 100 where the file system has no such limit */
    double free_gb;
    bool is_shared; /* between the ranks of a job, which may fill it rightly */
    char owner[SHARED_MEMORY_OWNER];
};

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 100;
}

static double least_of(const struct space *space)
{
    return space->free_percent < space->free_inodes_percent ? space->free_percent
                                                            : space->free_inodes_percent;
}

/* The child's work: spaces[DIRECTORIES]. */
static void read_spaces(void *context)
{
    struct space *spaces = context;
    dev_t devices[DIRECTORIES];

    for (size_t i = 0; i < DIRECTORIES; i++) {
        struct statvfs found;
        struct stat status;
        bool is_new = stat(directories[i], &status) == 0;

        devices[i] = 0;
        for (size_t j = 0; is_new && j < i; j++)
            is_new = devices[j] != status.st_dev;
        /* nobody writes to what is read-only, and the image of a node has no free block */
        if (!is_new || statvfs(directories[i], &found) < 0 || found.f_flag & ST_RDONLY)
            continue;
        devices[i] = status.st_dev;
        spaces[i].free_percent = percent((double)found.f_bavail,
                                         (double)(found.f_blocks - found.f_bfree + found.f_bavail));
        spaces[i].free_inodes_percent = percent((double)found.f_favail, (double)found.f_files);
        spaces[i].free_gb = (double)found.f_bavail * (double)found.f_frsize / 1e9;
        spaces[i].is_read = true;
        spaces[i].is_shared = strcmp(directories[i], SHARED_MEMORY) == 0;
        if (spaces[i].is_shared && least_of(&spaces[i]) < CHECK_SPACE_LOW_PERCENT)
            shared_memory_owner(directories[i], spaces[i].owner);
    }
}

static void report(const struct checks *checks, const char *directory, const struct space *space)
{
    double least = least_of(space);
    enum verdict full = !space->is_shared ? VERDICT_FAIL
                        : checks->watches ? VERDICT_WARN
                                          : VERDICT_UNKNOWN; /* the node cannot be tested */
    const char *joint = *space->owner ? "; " : "";
    struct record record = RECORD(.part = directory, .metric = "free", .value = least, .unit = "%",
                                  .verdict = least < CHECK_SPACE_FULL_PERCENT  ? full
                                             : least < CHECK_SPACE_LOW_PERCENT ? VERDICT_WARN
                                                                               : VERDICT_PASS);

    record.code = record.verdict == VERDICT_PASS ? FAULT_NONE : FAULT_DISK_FULL;
    if (least == space->free_percent)
        checks_report(checks, record, "%.3g%% of %s is free, %.1f GB%s%s", least, directory,
                      space->free_gb, joint, space->owner);
    else
        checks_report(checks, record, "%.3g%% of the inodes of %s are free%s%s", least, directory,
                      joint, space->owner);
}

void check_space(const struct checks *checks)
{
    struct error err = {{0}};
    struct bounded_end end;
    struct space spaces[DIRECTORIES] = {{0}};

    if (checks_skip_recorded(checks))
        return;
    if (bounded_run("muster-space", CHECK_SPACE_S, read_spaces, spaces, sizeof spaces, &end, &err) <
        0)
        checks_record(checks, "", VERDICT_UNKNOWN, "%s", err.text);
    else if (end.outcome != BOUNDED_RETURNED)
        checks_fault(checks, end.file, FAULT_MOUNT_HANGS, "%s did not respond within %g s",
                     *end.file ? end.file : "a file system of this node", CHECK_SPACE_S);
    else
        for (size_t i = 0; i < DIRECTORIES; i++)
            if (spaces[i].is_read)
                report(checks, directories[i], &spaces[i]);
}
