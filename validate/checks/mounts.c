/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include <dirent.h>
#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "lib/base/bounded_child.h"
#include "lib/base/hash.h"
#include "lib/base/sysfs.h"
#include "lib/constants/checks_constants.h"

/* host.mounts: the file systems of Mounts. A child process checks each, since a process that
 * accesses a file system whose server is gone waits in the kernel. */

enum { MOUNTINFO = 4 << 20 /* bytes: thousands of mounts, as containers and automounters make */ };

struct mount {
    char path[256];
    bool must_be_writable;
    /* of the last mount at the path, which hides earlier ones */
    bool is_mounted, is_writable;
    char type[32];
    bool is_automounted; /* an automounter is to mount it: autofs is mounted there or above */
};

/* Parses "/scratch:rw". */
static void parse_mount(const char *text, struct mount *mount)
{
    size_t length = strlen(text);

    *mount =
        (struct mount){.must_be_writable = length > 3 && strcmp(text + length - 3, ":rw") == 0};
    snprintf(mount->path, sizeof mount->path, "%.*s",
             (int)(length - (mount->must_be_writable ? 3 : 0)), text);
    length = strlen(mount->path);
    while (length > 1 && mount->path[length - 1] == '/')
        mount->path[--length] = '\0';
}

/* Replaces octal escapes, as "\040" for a space, in place. */
static void unescape(char *text)
{
    char *to = text;

    for (; *text; text++)
        if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
            *to++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
            text += 3;
        } else
            *to++ = *text;
    *to = '\0';
}

static bool is_read_only(char *options)
{
    return options && hasmntopt(&(struct mntent){.mnt_opts = options}, MNTOPT_RO);
}

static bool is_at_or_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);

    return strncmp(path, directory, length) == 0 && (!path[length] || path[length] == '/');
}

/* Parses a line of mountinfo, proc_pid_mountinfo(5): "36 35 98:0 /root /mnt rw,noatime master:1 -
 * ext3 /dev/sda1 rw". */
static void parse_mountinfo(char *line, struct mount *mount)
{
    char *fields[6] = {NULL}, *rest = strstr(line, " - "), *type, *path;

    if (!rest)
        return;
    *rest = '\0';
    rest += strlen(" - ");
    type = strsep(&rest, " ");
    strsep(&rest, " ");
    for (size_t i = 0; i < 6 && line; i++)
        fields[i] = strsep(&line, " ");
    path = fields[4];
    if (!path || !fields[5])
        return;
    unescape(path);
    /* autofs is not the file system; it only mounts it on access */
    if (strcmp(type, "autofs") == 0) {
        mount->is_automounted |= is_at_or_below(mount->path, path);
    } else if (strcmp(path, mount->path) == 0) {
        mount->is_mounted = true;
        mount->is_writable = !is_read_only(fields[5]) && !is_read_only(rest);
        snprintf(mount->type, sizeof mount->type, "%s", type);
    }
}

/* Finds the mount. Returns false if mountinfo cannot be read. */
static bool find_mount(const char *root, struct mount *mount)
{
    char *text = sysfs_file(root, MOUNTINFO, "proc/self/mountinfo"), *rest = text, *line;

    mount->is_mounted = false;
    while ((line = strsep(&rest, "\n")))
        parse_mountinfo(line, mount);
    free(text);
    return text != NULL;
}

struct probe {
    char path[256];
    int error; /* an errno */
};

/* Whether access was refused. The file system responds then: a server may squash root, and a
 * directory need not be readable by all. */
static bool is_refusal(int error)
{
    return error == EACCES || error == EPERM;
}

/* Runs in the child: accesses the file system as a job does, so that an automounter mounts it. */
static void access_mount(void *context)
{
    struct probe *probe = context;
    DIR *directory = opendir(probe->path);
    struct statvfs found;

    if (!directory && !is_refusal(errno)) {
        probe->error = errno;
        return;
    }
    errno = 0;
    if (directory && !readdir(directory) && errno && !is_refusal(errno))
        probe->error = errno;
    else if (statvfs(probe->path, &found) < 0 && !is_refusal(errno))
        probe->error = errno;
}

/* Returns 0 if the file system responds or is not there, else -1 after a record. */
static int probe_mount(const struct checks *checks, const struct mount *mount)
{
    struct probe probe = {.error = 0};
    struct error err = {{0}};
    struct bounded_end end;
    char name[BOUNDED_NAME];
    pid_t stuck;

    snprintf(name, sizeof name, "muster-%08x", (unsigned)hash_text(HASH_BEGIN, mount->path));
    snprintf(probe.path, sizeof probe.path, "%s", mount->path);
    stuck = bounded_find_stuck(name, CHECK_MOUNT_S);
    if (stuck > 0) {
        checks_fault(checks, mount->path, FAULT_MOUNT_HANGS,
                     "%s does not respond; process %d of an earlier check still waits for it",
                     mount->path, (int)stuck);
        return -1;
    }
    if (bounded_run(name, CHECK_MOUNT_S, access_mount, &probe, sizeof probe, &end, &err) < 0) {
        checks_record(checks, mount->path, VERDICT_UNKNOWN, "%s", err.text);
        return -1;
    }
    if (end.outcome == BOUNDED_RETURNED && probe.error == 0)
        return 0;
    if (end.outcome == BOUNDED_RETURNED && (probe.error == ENOENT || probe.error == ENOTDIR))
        return 0; /* not mounted: the caller reports it */
    if (end.outcome == BOUNDED_RETURNED)
        checks_fault(checks, mount->path, FAULT_MOUNT_HANGS, "cannot read %s: %s", mount->path,
                     strerror(probe.error));
    else
        checks_fault(checks, mount->path, FAULT_MOUNT_HANGS, "%s did not respond within %g s",
                     mount->path, CHECK_MOUNT_S);
    return -1;
}

static void check_mount(const struct checks *checks, const char *text)
{
    struct mount mount;

    parse_mount(text, &mount);
    if (!checks->root[0] && probe_mount(checks, &mount) < 0)
        return;
    if (!find_mount(checks->root, &mount))
        checks_record(checks, mount.path, checks->root[0] ? VERDICT_SKIP : VERDICT_UNKNOWN,
                      "cannot read /proc/self/mountinfo");
    else if (!mount.is_mounted && mount.is_automounted)
        checks_fault(checks, mount.path, FAULT_MOUNT_HANGS,
                     "%s is not mounted: its automounter did not mount it", mount.path);
    else if (!mount.is_mounted)
        checks_fault(checks, mount.path, FAULT_MOUNT_MISSING,
                     "%s is not mounted; Mounts in the configuration lists it", mount.path);
    else if (mount.must_be_writable && !mount.is_writable)
        checks_fault(
            checks, mount.path, FAULT_MOUNT_MISSING,
            "%s (%s) is mounted read-only; Mounts in the configuration requires it writable",
            mount.path, mount.type);
    else
        checks_record(checks, mount.path, VERDICT_PASS, "%s, mounted%s", mount.type,
                      mount.is_writable ? "" : " read-only");
}

void check_mounts(const struct checks *checks)
{
    const struct hostlist *mounts = &checks->conf->mounts;

    if (mounts->count == 0) {
        checks_record(checks, "", VERDICT_SKIP, "Mounts is not set in the configuration");
        return;
    }
    for (size_t i = 0; i < mounts->count; i++)
        check_mount(checks, mounts->names[i]);
}
