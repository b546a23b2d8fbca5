/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/health/residue.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "lib/base/deferred_error.h"
#include "lib/base/grow.h"
#include "lib/base/sysfs.h"
#include "lib/base/utf8.h"

enum {
    NOBODY = 65534,
    FIRST_UID = 1000,     /* without UID_MIN in login.defs */
    CGROUPS = 8192,       /* bytes of a process's cgroups */
    SEGMENTS = 1 << 20,   /* bytes of the list of System V segments */
    ANCESTORS_MOST = 256, /* a longer chain changed while it was read */
};

struct process {
    pid_t pid, parent;
    uid_t uid;
    char state, name[20];
};

struct survey {
    const char *root;
    uid_t first_uid;
    struct process *processes; /* in the order of their IDs */
    size_t count;
    uid_t *present; /* the users who are present */
    size_t present_count;
    long *jobs; /* the jobs whose slurmstepd runs */
    size_t job_count;
    char *slurmd; /* cgroups of slurmd; NULL: no slurmd runs */
};

static bool is_user(const struct survey *survey, uid_t uid)
{
    return uid >= survey->first_uid && uid != NOBODY;
}

static bool is_present(const struct survey *survey, uid_t uid)
{
    for (size_t i = 0; i < survey->present_count; i++)
        if (survey->present[i] == uid)
            return true;
    return false;
}

static uid_t first_uid(const char *root)
{
    char *text = sysfs_file(root, 1 << 16, "etc/login.defs");
    const char *found = text ? strstr(text, "\nUID_MIN") : NULL;
    unsigned long uid = found ? strtoul(found + strlen("\nUID_MIN"), NULL, 10) : 0;

    free(text);
    return uid > 0 ? (uid_t)uid : FIRST_UID;
}

/* ---------------------------------------------------------------- the processes */

/* Returns the text after the key in lines "Key:\tvalue"; "" if there is none. */
static const char *value_of(const char *status, const char *key)
{
    const char *found = strstr(status, key);

    return found ? found + strlen(key) : "";
}

/* Reads proc_pid_status(5). Returns false if the process has ended. */
static bool read_process(const char *root, pid_t pid, struct process *process)
{
    char *status = sysfs_file(root, 4096, "proc/%d/status", (int)pid);
    const char *name;

    if (!status)
        return false;
    name = value_of(status, "Name:\t");
    *process = (struct process){
        .pid = pid,
        .parent = (pid_t)strtol(value_of(status, "\nPPid:\t"), NULL, 10),
        .uid = (uid_t)strtoul(value_of(status, "\nUid:\t"), NULL, 10),
        .state = *value_of(status, "\nState:\t"),
    };
    snprintf(process->name, sizeof process->name, "%.*s", (int)strcspn(name, "\n"), name);
    utf8_clean(process->name);
    free(status);
    return true;
}

static int compare_processes(const void *a, const void *b)
{
    const struct process *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

static int read_processes(struct survey *survey)
{
    pid_t *pids;
    ssize_t count = sysfs_processes(survey->root, &pids);
    struct process process;

    for (ssize_t i = 0; i < count; i++) {
        if (!read_process(survey->root, pids[i], &process))
            continue;
        if (GROW(survey->processes, survey->count))
            survey->processes[survey->count++] = process;
        else
            deferred_error_note();
    }
    free(pids);
    return count < 0 ? -1 : 0;
}

static char *cgroups_of(const struct survey *survey, const struct process *process)
{
    return sysfs_file(survey->root, CGROUPS, "proc/%d/cgroup", (int)process->pid);
}

static const struct process *find_process(const struct survey *survey, pid_t pid)
{
    return survey->count > 0 ? bsearch(&(struct process){.pid = pid}, survey->processes,
                                       survey->count, sizeof *survey->processes, compare_processes)
                             : NULL;
}

/* Whether the process is the daemon of root: any process can give itself the name. */
static bool is_daemon(const struct process *process, const char *name)
{
    return process->uid == 0 && strcmp(process->name, name) == 0;
}

static bool is_step(const struct process *process)
{
    return is_daemon(process, "slurmstepd");
}

/* Whether the process is sshd, or sshd-session since OpenSSH 9.8. */
static bool is_login(const struct process *process)
{
    return process->uid == 0 && strncmp(process->name, "sshd", 4) == 0;
}

int residue_is_of_step(const char *root, pid_t pid)
{
    struct process process = {.parent = pid};

    for (int i = 0; process.parent > 0 && i < ANCESTORS_MOST; i++) {
        if (!read_process(root, process.parent, &process))
            return -1;
        if (is_step(&process))
            return 1;
    }
    return process.parent > 0 ? -1 : 0;
}

/* Whether the process descends from a Slurm step or a login. */
static bool has_session(const struct survey *survey, const struct process *process)
{
    for (int i = 0; process && i < ANCESTORS_MOST; i++) {
        if (is_step(process) || is_login(process))
            return true;
        process = find_process(survey, process->parent);
    }
    return false;
}

/* Returns the job ID of ".../job_4711/step_0", or -1. */
static long job_of(const char *cgroups)
{
    const char *found = strstr(cgroups, "/job_");

    return found && isdigit((unsigned char)found[5]) ? strtol(found + 5, NULL, 10) : -1;
}

static bool is_running(const struct survey *survey, long job)
{
    for (size_t i = 0; i < survey->job_count; i++)
        if (survey->jobs[i] == job)
            return true;
    return false;
}

/* Adds the job of a process "slurmstepd: [4711.0]". */
static void add_running_job(struct survey *survey, const struct process *process)
{
    char *line = sysfs_file(survey->root, 256, "proc/%d/cmdline", (int)process->pid);
    const char *bracket = line ? strchr(line, '[') : NULL;

    if (bracket && GROW(survey->jobs, survey->job_count))
        survey->jobs[survey->job_count++] = strtol(bracket + 1, NULL, 10);
    else if (bracket)
        deferred_error_note();
    free(line);
}

static void add_present_user(struct survey *survey, uid_t uid)
{
    if (GROW(survey->present, survey->present_count))
        survey->present[survey->present_count++] = uid;
    else
        deferred_error_note();
}

static void find_present(struct survey *survey)
{
    for (size_t i = 0; i < survey->count; i++) {
        const struct process *process = &survey->processes[i];

        if (is_step(process))
            add_running_job(survey, process);
        else if (is_daemon(process, "slurmd") && !survey->slurmd)
            survey->slurmd = cgroups_of(survey, process);
    }
    for (size_t i = 0; i < survey->count; i++) {
        const struct process *process = &survey->processes[i];
        char *cgroups;

        if (!is_user(survey, process->uid) || is_present(survey, process->uid))
            continue;
        cgroups = cgroups_of(survey, process);
        if (has_session(survey, process) ||
            (cgroups && (strstr(cgroups, "/user.slice/") || is_running(survey, job_of(cgroups)))))
            add_present_user(survey, process->uid);
        free(cgroups);
    }
}

static void find_processes(const struct survey *survey, struct residue *residue)
{
    for (size_t i = 0; i < survey->count; i++) {
        const struct process *process = &survey->processes[i];
        char *cgroups;

        if (!is_user(survey, process->uid) || is_present(survey, process->uid))
            continue;
        cgroups = cgroups_of(survey, process);
        if (cgroups &&
            (job_of(cgroups) >= 0 || (survey->slurmd && strcmp(cgroups, survey->slurmd) == 0))) {
            if (residue->processes < RESIDUE_NAMES)
                snprintf(residue->names[residue->processes], sizeof residue->names[0],
                         "%s (pid %d, uid %u)", process->name, (int)process->pid,
                         (unsigned)process->uid);
            residue->processes++;
            residue->stuck += process->state == 'D';
        }
        free(cgroups);
    }
}

/* ---------------------------------------------------------------- shared memory */

static void find_files(const struct survey *survey, struct residue *residue)
{
    char path[SYSFS_PATH];
    DIR *directory =
        sysfs_path(survey->root, path, sizeof path, "dev/shm") == 0 ? opendir(path) : NULL;
    struct dirent *entry;
    struct stat status;

    while (directory && (entry = readdir(directory)))
        if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && is_user(survey, status.st_uid) &&
            !is_present(survey, status.st_uid)) {
            residue->files++;
            residue->bytes += 512.0 * (double)status.st_blocks;
        }
    if (directory)
        closedir(directory);
}

/* Reads proc_sysvipc(5): key shmid perms size cpid lpid nattch uid ... */
static void find_segments(const struct survey *survey, struct residue *residue)
{
    char *text = sysfs_file(survey->root, SEGMENTS, "proc/sysvipc/shm"), *rest = text, *line;

    while ((line = strsep(&rest, "\n"))) {
        unsigned long long size;
        unsigned long attached;
        unsigned uid;

        if (sscanf(line, "%*d %*d %*o %llu %*d %*d %lu %u", &size, &attached, &uid) == 3 &&
            attached == 0 && is_user(survey, uid) && !is_present(survey, uid)) {
            residue->segments++;
            residue->bytes += (double)size;
        }
    }
    free(text);
}

int residue_read(const char *root, struct residue *residue)
{
    struct survey survey = {.root = root, .first_uid = first_uid(root)};
    int rv;

    deferred_error_take();
    rv = read_processes(&survey);
    *residue = (struct residue){0};
    if (rv == 0) {
        find_present(&survey);
        find_processes(&survey, residue);
        find_files(&survey, residue);
        find_segments(&survey, residue);
    }
    free(survey.processes);
    free(survey.present);
    free(survey.jobs);
    free(survey.slurmd);
    /* without all jobs, processes of a running job would count as residue */
    return deferred_error_take() != 0 ? -1 : rv;
}
