/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "lib/base/bounded_child.h"
#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"
#include "lib/node/space_owner.h"

/* host.space: the file systems that Slurm, its jobs and the system write to. Any user can fill
 * them, even those that only root writes to: by core dumps, containers, job scripts and log
 * messages. So a test of a node is unknown if they are full, and the node keeps its certificate. A
 * health check fails, since a job sent there would fail at once, but the node is not drained. */
static const char *const directories[] = {"/",        "/run",       "/tmp",     "/var",
                                          "/var/log", "/var/spool", "/var/tmp", SHARED_MEMORY};
enum { DIRECTORIES = sizeof directories / sizeof *directories };

struct space {
    bool is_read; /* only the first directory of each file system is read */
    double free_percent, free_inodes_percent; /* 100 if the file system has no such limit */
    double free_gb, size_gb;
    bool is_shared;               /* shared memory of ranks, which a job may rightly fill */
    char owners[3 * SPACE_OWNER]; /* if nearly full: who owns the files that fill its directories */
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

static void read_space(const char *directory, struct space *space)
{
    struct statvfs found;

    /* a read-only file system, as a node image without free blocks, is never written to */
    if (statvfs(directory, &found) < 0 || found.f_flag & ST_RDONLY)
        return;
    space->free_percent =
        percent((double)found.f_bavail, (double)(found.f_blocks - found.f_bfree + found.f_bavail));
    space->free_inodes_percent = percent((double)found.f_favail, (double)found.f_files);
    space->free_gb = (double)found.f_bavail * (double)found.f_frsize / 1e9;
    space->size_gb = (double)found.f_blocks * (double)found.f_frsize / 1e9;
    space->is_read = true;
    space->is_shared = strcmp(directory, SHARED_MEMORY) == 0;
}

/* Runs in the child: fills spaces[DIRECTORIES]. */
static void read_spaces(void *context)
{
    struct space *spaces = context;
    struct stat stats[DIRECTORIES] = {{0}};
    size_t of[DIRECTORIES]; /* the first directory of the same file system */
    char owner[SPACE_OWNER];

    for (size_t i = 0; i < DIRECTORIES; i++) {
        if (stat(directories[i], &stats[i]) != 0)
            stats[i] = (struct stat){0};
        for (of[i] = 0; of[i] < i && stats[of[i]].st_dev != stats[i].st_dev;)
            of[i]++;
        if (of[i] == i && stats[i].st_mode != 0)
            read_space(directories[i], &spaces[i]);
    }
    /* last, since a user's directory may hang */
    for (size_t i = 0; i < DIRECTORIES; i++) {
        struct space *space = &spaces[of[i]];

        if (!space->is_read || least_of(space) >= CHECK_SPACE_LOW_PERCENT ||
            !(stats[i].st_mode & S_IWOTH))
            continue;
        space_owner(directories[i], CHECK_SPACE_OWNER_SHARE * space->size_gb, owner);
        if (*owner)
            text_join(space->owners, sizeof space->owners, "; ", "%s", owner);
    }
}

static void report(const struct checks *checks, const char *directory, const struct space *space)
{
    double least = least_of(space);
    enum verdict full = !checks->is_in_service ? VERDICT_UNKNOWN
                        : space->is_shared     ? VERDICT_WARN
                                               : VERDICT_FAIL;
    const char *joint = *space->owners ? "; " : "";
    struct record record = RECORD(.part = directory, .metric = "free", .value = least, .unit = "%",
                                  .verdict = least < CHECK_SPACE_FULL_PERCENT  ? full
                                             : least < CHECK_SPACE_LOW_PERCENT ? VERDICT_WARN
                                                                               : VERDICT_PASS);

    record.code = record.verdict == VERDICT_PASS ? FAULT_NONE : FAULT_DISK_FULL;
    if (least == space->free_percent)
        checks_report(checks, record, "%.3g%% of %s is free, %.1f GB%s%s", least, directory,
                      space->free_gb, joint, space->owners);
    else
        checks_report(checks, record, "%.3g%% of the inodes of %s are free%s%s", least, directory,
                      joint, space->owners);
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
    for (size_t i = 0; i < DIRECTORIES; i++)
        if (spaces[i].is_read)
            report(checks, directories[i], &spaces[i]);
}
