/* SPDX-License-Identifier: Apache-2.0 */
/* Tests host.mounts and host.space in a mount namespace of the test, on file systems that are
 * good, read-only, full, do not allow access, or have a server that does not answer. */
#include "config.h"

#include "validate/checks/checks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "tests/unit/hung_mount.h"
#include "tests/unit/tap.h"

static char directory[64], records_text[4096];

static void add_record(const struct record *record, void *context)
{
    text_join(records_text, sizeof records_text, "", "%s %s %s\n", verdict_name(record->verdict),
              catalog_fault(record->code)->name, record->message);
}

static const char *checked_mounts(const char *mounts)
{
    struct conf conf;
    struct inventory *inventory = inventory_read("", NULL);
    struct fabric fabric = {0};
    struct checks checks = {"", "n1", &conf, inventory, &fabric, add_record, .context = NULL};

    conf_defaults(&conf);
    if (hostlist_expand(mounts, &conf.mounts, NULL) < 0)
        tap_diag("%s is not a node list", mounts);
    records_text[0] = '\0';
    check_mounts(&checks);
    conf_clear(&conf);
    inventory_free(inventory);
    return records_text;
}

static const char *checked_space(bool is_in_service)
{
    struct conf conf;
    struct fabric fabric = {0};
    struct checks checks = {
        "", "n1", &conf, NULL, &fabric, add_record, .is_in_service = is_in_service};

    conf_defaults(&conf);
    records_text[0] = '\0';
    check_space(&checks);
    conf_clear(&conf);
    return records_text;
}

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static void test_hanging_mount(void)
{
    int fd = hung_mount(path_of("gone"));
    double begin_s = clock_s();
    char expected[256], mounts[256];

    if (fd < 0) {
        tap_skip("no FUSE here");
        return;
    }
    snprintf(mounts, sizeof mounts, "%s,%s", path_of("gone"), path_of("a b"));
    snprintf(expected, sizeof expected,
             "unknown mount_hangs %s did not respond within 2 s\npass  tmpfs, mounted\n",
             path_of("gone"));
    is_str(checked_mounts(mounts), expected,
           "a mount whose server is gone is named, and the next one is checked");
    ok(clock_s() - begin_s < 10, "... within its deadline");
    umount2(path_of("gone"), MNT_DETACH);
    close(fd);
    fd = hung_mount("/var/tmp");
    has_str(checked_space(false), "unknown mount_hangs /var/tmp did not respond within 2 s\n",
            "a hanging directory that all users write to is named");
    umount2("/var/tmp", MNT_DETACH);
    close(fd);
}

/* Gives up root's right to read everything, like a user, or root on a server that squashes root. */
static int drop_read_capabilities(struct __user_cap_data_struct former_capabilities[2])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct fewer_capabilities[2];

    if (syscall(SYS_capget, &header, former_capabilities) < 0)
        return -1;
    memcpy(fewer_capabilities, former_capabilities, sizeof fewer_capabilities);
    fewer_capabilities[0].effective &= ~(1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH);
    return (int)syscall(SYS_capset, &header, fewer_capabilities);
}

static void test_unreadable_mounts(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct former_capabilities[2];

    if (chmod(path_of("a b"), 0100) < 0 || drop_read_capabilities(former_capabilities) < 0) {
        tap_skip("cannot give up rights: %s", strerror(errno));
        return;
    }
    is_str(checked_mounts(path_of("a b")), "pass  tmpfs, mounted\n",
           "a path that may not be listed passes");
    if (chmod(directory, 0) == 0)
        is_str(checked_mounts(path_of("a b")), "pass  tmpfs, mounted\n",
               "... and so does one that may not be reached");
    chmod(directory, 0700);
    syscall(SYS_capset, &header, former_capabilities);
    chmod(path_of("a b"), 0700);
}

/* Writes 64 kB, or as much as fits, to a file of this user. Returns whether it could. */
static bool fill_file(const char *file, uid_t uid)
{
    static const char content[65536];
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool is_filled = fd >= 0 && write(fd, content, sizeof content) > 0 && fchown(fd, uid, uid) == 0;

    if (!is_filled)
        tap_diag("%s: %s", file, strerror(errno));
    if (fd >= 0)
        close(fd);
    return is_filled;
}

/* Mounts a file system of 64 kB and fills it with a file of this user. Unless that is root,
 * others may write to it. Returns whether it could. */
static bool mount_full(const char *path, uid_t uid)
{
    char file[160];

    if (mount("none", path, "tmpfs", 0, uid ? "size=64k" : "size=64k,mode=755") < 0) {
        tap_skip("nothing is mounted at %s: %s", path, strerror(errno));
        return false;
    }
    snprintf(file, sizeof file, "%s/content", path);
    fill_file(file, uid);
    return true;
}

/* Images such as squashfs never have a free block. Here a full tmpfs stands for one. */
static void test_read_only_images(void)
{
    if (!mount_full("/var/tmp", 0))
        return;
    has_str(checked_space(true), "fail disk_full 0% of /var/tmp is free, 0.0 GB\n",
            "a full file system of root's alone fails a health check");
    has_str(checked_space(false), "unknown disk_full 0% of /var/tmp is free, 0.0 GB\n",
            "... but is unknown for a node under test");
    if (mount("none", "/var/tmp", NULL, MS_REMOUNT | MS_RDONLY, NULL) < 0)
        tap_diag("remount: %s", strerror(errno));
    ok(!strstr(checked_space(false), "/var/tmp"), "... a read-only file system is not reported");
    umount2("/var/tmp", MNT_DETACH);
}

/* The file system is full of files outside /tmp. A user with a small file in /tmp did not fill
 * it. */
static void test_filled_elsewhere(void)
{
    if (!mount_full(path_of("gone"), 0))
        return;
    if (truncate(path_of("gone/content"), 61440) < 0 || mkdir(path_of("gone/tmp"), 0700) < 0 ||
        chmod(path_of("gone/tmp"), 01777) < 0 || !fill_file(path_of("gone/tmp/little"), 4711) ||
        mount(path_of("gone/tmp"), "/tmp", NULL, MS_BIND, NULL) < 0)
        tap_diag("%s: %s", path_of("gone"), strerror(errno));
    has_str(checked_space(true), "fail disk_full 0% of /tmp is free, 0.0 GB\n",
            "a user with less than a tenth of it is not named");
    umount2("/tmp", MNT_DETACH);
    umount2(path_of("gone"), MNT_DETACH);
}

static void check_filled_by_user(const char *path, enum verdict watched)
{
    char full[128], expected[256];

    if (!mount_full(path, 4711))
        return;
    snprintf(full, sizeof full,
             "disk_full 0%% of %s is free, 0.0 GB; uid 4711 has 6.55e-05 GB in %s\n", path, path);
    snprintf(expected, sizeof expected, "unknown %s", full);
    has_str(checked_space(false), expected,
            "a node with a full %s is unknown; the user with most of it is named", path);
    snprintf(expected, sizeof expected, "%s %s", verdict_name(watched), full);
    has_str(checked_space(true), expected, "... a health check reports %s", verdict_name(watched));
    umount2(path, MNT_DETACH);
}

/* A user's mount below /tmp whose server stopped. */
static void test_hanging_mount_below(void)
{
    int fd;

    if (!mount_full("/tmp", 4711))
        return;
    if (mkdir("/tmp/gone", 0700) < 0)
        tap_diag("/tmp/gone: %s", strerror(errno));
    fd = hung_mount("/tmp/gone");
    if (fd >= 0) {
        has_str(checked_space(true), "unknown mount_hangs /tmp",
                "a mount that hangs below a full directory is named");
        has_str(records_text, "fail disk_full 0% of /tmp is free",
                "... and does not hide that it is full");
        umount2("/tmp/gone", MNT_DETACH);
        close(fd);
    }
    umount2("/tmp", MNT_DETACH);
}

static void reports_a_file_system_once(void)
{
    if (!mount_full("/tmp", 4711))
        return;
    if (mount("/tmp", "/var/tmp", NULL, MS_BIND, NULL) < 0)
        tap_diag("/var/tmp: %s", strerror(errno));
    has_str(checked_space(false),
            " of /tmp is free, 0.0 GB; uid 4711 has 6.55e-05 GB in /tmp; uid 4711 has 6.55e-05 GB "
            "in /var/tmp\n",
            "a user's files are named in each directory of one file system");
    ok(!strstr(records_text, " of /var/tmp"), "... which is reported once");
    umount2("/var/tmp", MNT_DETACH);
    umount2("/tmp", MNT_DETACH);
}

int main(void)
{
    char mounts[256], expected[256];

    snprintf(directory, sizeof directory, "/tmp/muster-mounts-XXXXXX");
    if (unshare(CLONE_NEWNS) < 0 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        tap_skip_all("no namespace of mounts: %s", strerror(errno));
    if (!mkdtemp(directory) || mkdir(path_of("a b"), 0700) < 0 ||
        mkdir(path_of("locked"), 0700) < 0 || mkdir(path_of("gone"), 0700) < 0 ||
        mount("none", path_of("a b"), "tmpfs", 0, "size=1m") < 0 ||
        mount("none", path_of("locked"), "tmpfs", MS_RDONLY, "size=1m") < 0)
        tap_skip_all("nothing can be mounted: %s", strerror(errno));

    is_str(checked_mounts(""), "skip  Mounts is not set in the configuration\n",
           "no mount is configured");
    is_str(checked_mounts(path_of("a b")), "pass  tmpfs, mounted\n", "a path with a blank");
    snprintf(mounts, sizeof mounts, "%s/:rw", path_of("a b"));
    is_str(checked_mounts(mounts), "pass  tmpfs, mounted\n",
           "... that is writable, with a slash at the end");
    is_str(checked_mounts(path_of("locked")), "pass  tmpfs, mounted read-only\n",
           "a read-only mount");
    snprintf(mounts, sizeof mounts, "%s:rw", path_of("locked"));
    snprintf(expected, sizeof expected,
             "fail mount_missing %s (tmpfs) is mounted read-only; Mounts in the configuration "
             "requires it writable\n",
             path_of("locked"));
    is_str(checked_mounts(mounts), expected, "... fails if it must be writable");
    snprintf(expected, sizeof expected,
             "fail mount_missing %s is not mounted; Mounts in the configuration lists it\n",
             path_of("gone"));
    is_str(checked_mounts(path_of("gone")), expected, "a directory that is no mount fails");
    snprintf(expected, sizeof expected,
             "fail mount_missing %s is not mounted; Mounts in the configuration lists it\n",
             path_of("none"));
    is_str(checked_mounts(path_of("none")), expected, "... and so does a missing path");
    test_hanging_mount();
    test_unreadable_mounts();
    test_read_only_images();
    check_filled_by_user("/dev/shm", VERDICT_WARN); /* a job may fill it */
    check_filled_by_user("/tmp", VERDICT_FAIL);
    test_filled_elsewhere();
    test_hanging_mount_below();
    reports_a_file_system_once();

    umount2(path_of("a b"), MNT_DETACH);
    umount2(path_of("locked"), MNT_DETACH);
    rmdir(path_of("a b"));
    rmdir(path_of("locked"));
    rmdir(path_of("gone"));
    rmdir(directory);
    return tap_done();
}
