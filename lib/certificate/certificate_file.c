/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/directory_sync.h"
#include "lib/base/read_all.h"
#include "lib/base/safe_directory.h"
#include "lib/base/text.h"
#include "lib/base/write_all.h"
#include "lib/certificate/certificate.h"
#include "lib/certificate/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/deferred_error.h"

static const char day_form[] = "%Y-%m-%d %H:%M:%S UTC";

/* A path in two parts: its directory and its last component. */
struct path_parts {
    char directory[PATH_MAX];
    const char *name; /* points into the path */
};

static int split(const char *path, struct path_parts *parts, struct error *err)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;

    parts->name = slash ? slash + 1 : path;
    if (!*parts->name || strcmp(parts->name, ".") == 0 || strcmp(parts->name, "..") == 0)
        return error_set(err, "%s: expected the path of a file", path);
    if (length >= sizeof parts->directory || strlen(parts->name) > NAME_MAX - 8)
        return error_set(err, "%.100s...: the path is too long", path);
    if (slash == path)
        length = 1; /* "/" */
    snprintf(parts->directory, sizeof parts->directory, "%.*s", slash ? (int)length : 1,
             slash ? path : ".");
    return 0;
}

/* Reads the open file, if its owner, its permissions and its size are right. VALID here means that
 * text contains the file. */
static enum certificate_state read_open(int fd, const char *path, uid_t owner, char *text,
                                        struct error *err)
{
    enum certificate_state state = CERTIFICATE_INVALID;
    struct stat status;
    ssize_t length;

    if (fstat(fd, &status) != 0) {
        error_set(err, "%s: %m", path);
        return CERTIFICATE_UNVERIFIED;
    }
    if (!S_ISREG(status.st_mode)) {
        error_set(err, "%s is not a regular file", path);
    } else if (status.st_uid != owner) {
        error_set(err, "%s belongs to uid %lu, expected uid %lu", path,
                  (unsigned long)status.st_uid, (unsigned long)owner);
    } else if (status.st_mode & (S_IWGRP | S_IWOTH)) {
        error_set(err, "%s is writable by others (mode %04o)", path,
                  (unsigned)status.st_mode & 07777);
    } else if (status.st_size > CERTIFICATE_MAX) {
        error_set(err, "%s has %lld bytes, expected at most %d", path, (long long)status.st_size,
                  CERTIFICATE_MAX);
    } else if ((length = read_all(fd, text, CERTIFICATE_MAX)) < 0) {
        error_set(err, "%s: %m", path);
        state = CERTIFICATE_UNVERIFIED;
    } else {
        text[length] = '\0';
        if (strlen(text) == (size_t)length)
            state = CERTIFICATE_VALID;
        else
            error_set(err, "%s is not a certificate: found a NUL byte", path);
    }
    return state;
}

/* Reads the file with the checks of certificate_check(). VALID here means that text contains it. */
static enum certificate_state read_safely(const char *path, uid_t owner, char *text,
                                          struct error *err)
{
    enum certificate_state state = CERTIFICATE_UNVERIFIED;
    char real[PATH_MAX];
    struct path_parts parts;
    int directory = -1, fd = -1, safe;

    if (split(path, &parts, err) != 0)
        return CERTIFICATE_UNVERIFIED;
    safe = safe_directory(parts.directory, owner, real, err);
    if (safe < 0)
        return errno == ENOENT || errno == ENOTDIR ? CERTIFICATE_MISSING : CERTIFICATE_UNVERIFIED;
    directory = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0)
        fd = openat(directory, parts.name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        error_set(err, errno == ELOOP ? "%s is a symbolic link" : "%s: %m", path);
        state = errno == ENOENT                    ? CERTIFICATE_MISSING
                : errno == ELOOP || errno == ENXIO ? CERTIFICATE_INVALID
                                                   : CERTIFICATE_UNVERIFIED;
        goto out;
    }
    if (!safe) {
        state = CERTIFICATE_INVALID; /* err is safe_directory()'s */
        goto out;
    }
    state = read_open(fd, path, owner, text, err);
out:
    if (fd >= 0)
        close(fd);
    if (directory >= 0)
        close(directory);
    return state;
}

/* Compares a genuine certificate with the node. */
static enum certificate_state compare(const struct certificate *certificate,
                                      const struct certificate_facts *facts, struct error *err)
{
    char time[32], difference[400];

    if (facts->node && *facts->node && strcmp(facts->node, certificate->node) != 0) {
        error_set(err, "the certificate belongs to node %s, this is %s", certificate->node,
                  facts->node);
        return CERTIFICATE_INVALID;
    }
    if (facts->cluster && *facts->cluster && strcmp(facts->cluster, certificate->cluster) != 0) {
        error_set(err, "the certificate belongs to cluster %s, this is %s", certificate->cluster,
                  facts->cluster);
        return CERTIFICATE_INVALID;
    }
    if (facts->now + CERTIFICATE_CLOCK_SLACK_S < certificate->issued) {
        text_time(time, sizeof time, day_form, certificate->issued);
        error_set(err, "the certificate was issued on %s, in the future; check this node's clock",
                  time);
        return CERTIFICATE_UNVERIFIED;
    }
    if (facts->now >= certificate->expires) {
        text_time(time, sizeof time, day_form, certificate->expires);
        error_set(err, "the certificate expired on %s", time);
        return CERTIFICATE_EXPIRED;
    }
    if (facts->fingerprint && *facts->fingerprint &&
        fingerprint_compare(certificate->fingerprint ? certificate->fingerprint : "",
                            facts->fingerprint, difference, sizeof difference) != 0) {
        error_set(err, "the node has changed since it was certified: %s", difference);
        return CERTIFICATE_CHANGED;
    }
    text_time(time, sizeof time, day_form, certificate->expires);
    error_set(err, "level %s, expires on %s", certificate->level, time);
    return CERTIFICATE_VALID;
}

static const char title[] = "muster certificate "; /* of each format; its number follows */

/* Returns whether the text is of a later format. */
static bool is_newer(const char *text)
{
    return strncmp(text, title, strlen(title)) == 0 && strtol(text + strlen(title), NULL, 10) > 1;
}

static enum certificate_state check_text(const char *path, const char *text,
                                         const struct certificate_facts *facts,
                                         seal_verify_fn *verify, struct certificate *certificate,
                                         struct error *err)
{
    enum certificate_state state;
    char *seal = NULL;
    size_t length;

    if (is_newer(text)) {
        error_set(err, "%s is the certificate of a newer muster", path);
        return CERTIFICATE_UNVERIFIED;
    }
    deferred_error_take();
    if (certificate_parse(text, certificate, &seal, &length, err) != 0) {
        if (deferred_error_take() != 0) {
            error_prefix(err, "%s cannot be read", path);
            return CERTIFICATE_UNVERIFIED;
        }
        error_prefix(err, "%s is not a certificate", path);
        return CERTIFICATE_INVALID;
    }
    if (!seal) {
        error_set(err, "%s has no seal", path);
        return CERTIFICATE_INVALID;
    }
    switch (verify(seal, text, length, err)) {
    case SEAL_GENUINE:
        state = compare(certificate, facts, err);
        break;
    case SEAL_FALSE:
        state = CERTIFICATE_INVALID;
        break;
    case SEAL_UNDECODABLE:
        state = CERTIFICATE_UNVERIFIABLE;
        break;
    default:
        error_prefix(err, "cannot verify the seal");
        state = CERTIFICATE_UNVERIFIED;
    }
    free(seal);
    return state;
}

enum certificate_state certificate_check(const char *path, uid_t owner,
                                         const struct certificate_facts *facts,
                                         seal_verify_fn *verify, struct certificate *certificate,
                                         char *message, size_t message_size)
{
    struct certificate parsed = {0};
    struct error err = {""};
    char *text = malloc(CERTIFICATE_MAX + 1);
    enum certificate_state state = CERTIFICATE_UNVERIFIED;

    if (!text) {
        error_set(&err, "out of memory");
    } else {
        state = read_safely(path, owner, text, &err);
        if (state == CERTIFICATE_MISSING)
            error_set(&err, "there is no certificate at %s", path);
        if (state == CERTIFICATE_VALID)
            state = check_text(path, text, facts, verify, &parsed, &err);
    }
    free(text);
    snprintf(message, message_size, "%s", err.text);
    if (certificate)
        *certificate = parsed;
    else
        certificate_clear(&parsed);
    return state;
}

int certificate_ignore_seal(const char *seal, const char *text, size_t text_length,
                            struct error *err)
{
    (void)seal;
    (void)text;
    (void)text_length;
    (void)err;
    return SEAL_GENUINE;
}

/* Reads what root's certificate at path says; one of a newer format is UNVERIFIED, and empty. */
static enum certificate_state read_contents(const char *path, struct certificate *certificate)
{
    char why[128];

    return certificate_check(path, 0, &(struct certificate_facts){0}, certificate_ignore_seal,
                             certificate, why, sizeof why);
}

time_t certificate_issued(const char *path, const char *boot_id)
{
    struct certificate certificate;
    time_t issued;

    (void)read_contents(path, &certificate);
    issued = boot_id && strcmp(boot_id, certificate.boot_id) != 0 ? 0 : certificate.issued;
    certificate_clear(&certificate);
    return issued;
}

/* Opens the directory of the path, and makes it if only its last component is missing. Returns a
 * descriptor, or -1 with err. */
static int open_directory(const struct path_parts *parts, struct error *err)
{
    char real[PATH_MAX];
    struct path_parts above;
    bool is_new = mkdir(parts->directory, 0755) == 0;
    int directory;

    if (!is_new && errno != EEXIST)
        return error_set(err, "%s: %m", parts->directory);
    directory = open(parts->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return error_set(err, "%s: %m", parts->directory);
    if (is_new) {
        /* users may read their node's certificate, whatever the umask */
        if (fchmod(directory, 0755) != 0)
            error_set(err, "%s: %m", parts->directory);
        if (split(parts->directory, &above, NULL) == 0)
            directory_sync(above.directory, NULL);
    }
    if (safe_directory(parts->directory, geteuid(), real, err) != 1) {
        close(directory);
        return -1;
    }
    return directory;
}

/* Opens a new, empty file of this name that no other certificate_install() writes. The lock is on
 * the file, which only root can open; it is released if its process is killed. */
static int open_new(int directory, const char *name, struct error *err)
{
    struct stat by_fd, by_name;
    int fd;

    for (;;) {
        fd = openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
        if (fd < 0)
            return error_set(err, "%s: %m", name);
        if (flock(fd, LOCK_EX) != 0 || fstat(fd, &by_fd) != 0)
            break;
        /* if not, the process that had the lock has renamed or removed the file */
        if (fstatat(directory, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
            by_name.st_ino == by_fd.st_ino && by_name.st_dev == by_fd.st_dev) {
            if (!S_ISREG(by_fd.st_mode) || by_fd.st_uid != geteuid() || ftruncate(fd, 0) != 0)
                break;
            return fd;
        }
        close(fd);
    }
    error_set(err, "%s: cannot lock and empty it: %m", name);
    close(fd);
    return -1;
}

static void new_name(const struct path_parts *parts, char name[NAME_MAX + 1])
{
    snprintf(name, NAME_MAX + 1, ".%.240s.new", parts->name);
}

/* Returns the whole file, malloc'd, or NULL with err if certificate_parse() refuses it. */
static char *append_seal(const char *text, const char *seal, struct error *err)
{
    struct certificate certificate;
    size_t sealed_length;
    char *whole, *parsed_seal;

    if (asprintf(&whole, "%sseal: %s\n", text, seal) < 0) {
        error_set(err, "out of memory");
        return NULL;
    }
    if (certificate_parse(whole, &certificate, &parsed_seal, &sealed_length, err) != 0) {
        free(whole);
        return NULL;
    }
    free(parsed_seal);
    certificate_clear(&certificate);
    if (sealed_length == strlen(text))
        return whole;
    /* the seal would become a part of the last line */
    error_set(err, "the text does not end in a newline");
    free(whole);
    return NULL;
}

int certificate_install(const char *path, const char *text, const char *seal, struct error *err)
{
    char name[NAME_MAX + 1];
    struct path_parts parts;
    char *whole = NULL;
    int directory = -1, fd = -1, result = -1;

    if (split(path, &parts, err) != 0)
        return -1;
    new_name(&parts, name);
    whole = append_seal(text, seal, err);
    if (!whole)
        return -1;
    directory = open_directory(&parts, err);
    if (directory < 0)
        goto out;
    fd = open_new(directory, name, err);
    if (fd < 0)
        goto out;
    if (write_all(fd, whole, strlen(whole)) != 0 || fchmod(fd, 0644) != 0 || fsync(fd) != 0 ||
        renameat(directory, name, directory, parts.name) != 0) {
        error_set(err, "%s: %m", path);
        unlinkat(directory, name, 0);
        goto out;
    }
    result = fsync(directory) == 0 ? 0 : error_set(err, "%s: %m", parts.directory);
out:
    if (fd >= 0)
        close(fd);
    if (directory >= 0)
        close(directory);
    free(whole);
    return result;
}

/* Checks the file before its removal: a mistyped path must not remove another file or a device.
 * Returns 0 for a certificate, whole or cut off, 1 if there is no file, or -1 with err. */
static int check_removable(int directory, const char *name, const char *path, struct error *err)
{
    char found[sizeof title - 1];
    struct stat about;
    ssize_t length;
    int fd;

    if (fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 1 : error_set(err, "%s: %m", path);
    if (!S_ISREG(about.st_mode))
        return error_set(err, "%s is not a regular file and was not removed", path);
    fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, "%s: %m", path);
    length = read(fd, found, sizeof found);
    close(fd);
    if (length < 0)
        return error_set(err, "%s: %m", path);
    if (memcmp(found, title, (size_t)length) != 0)
        return error_set(err,
                         "%s is not a certificate and was not removed: it does not begin with "
                         "\"%s1\"",
                         path, title);
    return 0;
}

/* Returns whether the certificate at path was issued after `until`, or at an unknown time. */
static bool may_be_newer(const char *path, time_t until)
{
    struct certificate certificate;
    enum certificate_state state = read_contents(path, &certificate);
    time_t issued = certificate.issued;

    certificate_clear(&certificate);
    return issued > until || (issued == 0 && state == CERTIFICATE_UNVERIFIED);
}

int certificate_remove(const char *path, time_t until, struct error *err)
{
    char name[NAME_MAX + 1];
    struct path_parts parts;
    int directory, lock, result;

    if (split(path, &parts, err) != 0)
        return -1;
    directory = open(parts.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return errno == ENOENT ? 1 : error_set(err, "%s: %m", parts.directory);
    new_name(&parts, name);
    lock = open_new(directory, name, NULL); /* may fail: a full disk must not prevent the removal */
    result = check_removable(directory, parts.name, path, err);
    if (result == 0 && until != 0 && may_be_newer(path, until))
        result = 2;
    if (result == 0 && unlinkat(directory, parts.name, 0) != 0)
        result = errno == ENOENT ? 1 : error_set(err, "%s: %m", path);
    unlinkat(directory, name, 0);
    if (result == 0 && fsync(directory) != 0)
        result = error_set(err, "%s: %m", parts.directory);
    if (lock >= 0)
        close(lock);
    close(directory);
    return result;
}
