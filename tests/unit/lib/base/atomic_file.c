/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/regular_file.h"
#include "lib/base/text.h"
#include "lib/base/write_all.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* All tests run in a temporary directory, which is the working directory. */

/* Returns the sorted names in it, with one space between two; the random end of a temporary name as
 * "*". */
static const char *names(void)
{
    static char text[1024];
    struct dirent **found;
    int count = scandir(".", &found, NULL, alphasort);

    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        char *name = found[i]->d_name, *dot = strrchr(name, '.');

        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            if (dot && strspn(dot + 1, "0123456789abcdef") == 8)
                strcpy(dot + 1, "*");
            text_join(text, sizeof text, " ", "%s", name);
        }
        free(found[i]);
    }
    free(found);
    return text;
}

static int mode_of(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0 ? (int)(status.st_mode & 07777) : -1;
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *stream = fopen(path, "w");

    if (!stream || fputs(text, stream) < 0 || fclose(stream) != 0 || chmod(path, mode) != 0)
        tap_skip_all("%s cannot be written", path);
}

static bool is_name_synced;

/* Replaces fsync(). A name is on the disk when its directory is synced, not with the file. */
int fsync(int fd)
{
    struct stat status;

    is_name_synced |= fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) && mode_of("new") >= 0;
    return 0;
}

static void test_new(void)
{
    struct atomic_file file;
    struct error err;

    umask(027);
    is_int(atomic_file_begin(&file, "new", 0666, &err), 0, "a new file is created");
    is_str(names(), "new.*", "... under a temporary name in its directory");
    fputs("text", file.stream);
    is_int(atomic_file_commit(&file, &err), 0, "... and committed");
    is_str(tree_text("new"), "text", "... with the text that was written");
    ok(is_name_synced, "... and its name is on the disk");
    is_name_synced = false;
    is_int(mode_of("new"), 0640, "... and its permissions are those that umask leaves");
    is_str(names(), "new", "... and no temporary file is left");
    is_str(file.temporary, "", "... nor a temporary name");
    unlink("new");

    is_int(atomic_file_begin(&file, "new", 0600, &err), 0,
           "a file written by its descriptor is created");
    write_all(file.fd, "bytes", 5);
    file.mode = 0604;
    file.is_unsynced = true;
    is_int(atomic_file_commit(&file, &err), 0, "... and committed");
    is_str(tree_text("new"), "bytes", "... complete");
    ok(!is_name_synced, "... and does not wait for the disk");
    is_int(mode_of("new"), 0604, "... with the permissions that the caller set");
    unlink("new");
    umask(022);

    is_int(atomic_file_begin(&file, "new", 0666, &err), 0, "a file is created");
    errno = ENOSPC;
    is_int(atomic_file_discard(&file, &err), -1, "... and discarded");
    is_int(errno, ENOSPC, "... which keeps errno");
    is_str(err.text, "new: No space left on device",
           "... and the message names the file and the error");
    is_str(names(), "", "... and no file is left");
}

static void test_old(void)
{
    struct atomic_file file, other;
    struct error err;

    write_file("old", "before", 0644);
    is_int(atomic_file_begin(&file, "old", 0666, &err), 0,
           "a file that replaces another is created");
    fputs("after", file.stream);
    fflush(file.stream);
    is_str(tree_text("old"), "before", "... the old file stays while it is written");
    is_int(mode_of(file.temporary), 0600, "... only its owner can read the temporary file");
    is_int(atomic_file_begin(&other, "old", 0600, &err), 0, "a second writer creates one too");
    fputs("other", other.stream);
    is_int(atomic_file_commit(&file, &err), 0, "... and does not affect the commit of the first");
    is_str(tree_text("old"), "after", "... whose file is complete");
    is_int(mode_of("old"), 0644, "... with the permissions of the old file");
    is_int(atomic_file_commit(&other, &err), 0, "... the second one commits too");
    is_str(tree_text("old"), "other", "... and its text replaces the first one's");

    is_int(atomic_file_begin(&file, "old", 0666, &err), 0, "a file that must be new is created");
    file.is_new = true;
    is_int(atomic_file_commit(&file, &err), -1, "... its commit fails if the name exists");
    is_int(errno, EEXIST, "... with EEXIST");
    is_str(err.text, "old: File exists", "... and the message names the file and the error");
    is_str(tree_text("old"), "other", "... and the existing file is unchanged");
    unlink("old");
    is_int(atomic_file_begin(&file, "old", 0666, &err), 0,
           "a file that must be new is created without such a name");
    file.is_new = true;
    is_int(atomic_file_commit(&file, &err), 0, "... and is committed");
    is_str(names(), "old", "... and no temporary file is left");
    unlink("old");
}

/* Runs function() in a child process. Returns whether it returned true there. */
static bool is_true_in_child(bool (*function)(void))
{
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0)
        _exit(function() ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static bool is_replaced_by_own(void)
{
    struct atomic_file file;
    struct stat status;

    return seteuid(65534) == 0 && atomic_file_begin(&file, "old", 0666, NULL) == 0 &&
           file.has_new_owner && fputs("another's", file.stream) >= 0 &&
           atomic_file_commit(&file, NULL) == 0 && stat("old", &status) == 0 &&
           status.st_uid == 65534 && strcmp(names(), "old") == 0;
}

static void test_owner(void)
{
    struct atomic_file file;
    struct stat status;

    write_file("old", "before", 0640);
    if (chown("old", 1234, 1235) != 0) {
        unlink("old"); /* only root can give a file to another user */
        return;
    }
    is_int(atomic_file_begin(&file, "old", 0666, NULL), 0,
           "a file that replaces another user's file is created");
    ok(!file.has_new_owner, "... and keeps the owner");
    fputs("after", file.stream);
    is_int(atomic_file_commit(&file, NULL), 0, "... and is committed");
    ok(stat("old", &status) == 0 && status.st_uid == 1234 && status.st_gid == 1235,
       "... and has the old owner and group");
    is_int(mode_of("old"), 0640, "... and the old permissions");
    chmod(".", 0777);
    ok(is_true_in_child(is_replaced_by_own),
       "a process that cannot set the old owner replaces the file by its own");
    is_str(tree_text("old"), "another's", "... with the text that was written");
    is_int(mode_of("old"), 0600, "... and without permissions for its other group");
    unlink("old");
    write_file("old", "before", 0644);
    is_int(chown("old", 1234, 1235), 0, "a file of another user that all may read");
    ok(is_true_in_child(is_replaced_by_own), "... is replaced too");
    is_int(mode_of("old"), 0644, "... and all may read the new one");
    chmod(".", 0755);
    unlink("old");
}

static void test_special_files(void)
{
    static const char *const kinds[] = {"fifo", "directory", "/dev/null", "to-fifo"};
    char path[PATH_MAX + 1], expected[64];
    struct atomic_file file;
    struct error err;

    mkfifo("fifo", 0600);
    mkdir("directory", 0755);
    if (symlink("fifo", "to-fifo") != 0)
        tap_skip_all("symbolic links cannot be made");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        snprintf(expected, sizeof expected, "%s: is not a regular file", kinds[i]);
        is_int(atomic_file_begin(&file, kinds[i], 0666, &err), -1, "%s is not replaced", kinds[i]);
        is_int(errno, EINVAL, "... errno is EINVAL");
        is_str(err.text, expected, "... and the message names the file and the error");
        ok(is_special(kinds[i]), "... is_special() is true");
    }
    is_str(names(), "directory fifo to-fifo", "... no temporary file is left");
    unlink("fifo");
    unlink("to-fifo");
    rmdir("directory");

    write_file("target", "kept", 0604);
    if (symlink("target", "link") != 0)
        tap_skip_all("symbolic links cannot be made");
    ok(!is_special("link"), "is_special() is false for a link to a regular file");
    is_int(atomic_file_begin(&file, "link", 0666, &err), 0,
           "a file that replaces a link is created");
    fputs("text", file.stream);
    is_int(atomic_file_commit(&file, &err), 0, "... and committed");
    is_str(tree_text("target"), "kept", "... the link's target is unchanged");
    is_str(tree_text("link"), "text", "... and the link is replaced by the file");
    is_int(mode_of("link"), 0604, "... which has the permissions of the link's target");
    unlink("link");
    unlink("target");
    ok(!is_special("target"), "is_special() is false for a missing file");

    memset(path, 'x', PATH_MAX - 1);
    path[PATH_MAX - 1] = '\0';
    is_int(atomic_file_begin(&file, path, 0666, &err), -1, "a path that is too long is refused");
    is_int(errno, ENAMETOOLONG, "... errno is ENAMETOOLONG");
    has_str(err.text, "xxx...: the path is too long",
            "... and the message names the file and the error");
    is_int(atomic_file_begin(&file, "missing/file", 0666, &err), -1,
           "a file in a missing directory is refused");
    is_str(err.text, "missing/file: No such file or directory",
           "... and the message names the path and the error");

    write_file("old", "before", 0644);
    is_int(atomic_file_begin(&file, "old", 0666, &err), 0,
           "a file is created, then a directory takes its name");
    unlink("old");
    mkdir("old", 0755);
    is_int(atomic_file_commit(&file, &err), -1, "... which the commit does not replace");
    is_str(err.text, "old: Is a directory", "... and the message names the file and the error");
    is_str(names(), "old", "... and no temporary file is left");
    rmdir("old");
}

static bool is_denied(void)
{
    struct atomic_file file;
    struct error err;

    if (geteuid() == 0 && seteuid(65534) != 0)
        return false;
    return atomic_file_begin(&file, "closed/file", 0666, &err) == -1 && errno == EACCES &&
           strcmp(err.text, "closed/file: Permission denied") == 0 && file.temporary[0] == '\0';
}

/* Writes `length` bytes to a disk that is full after 4 KiB. expected NULL: the disk has room again
 * before the commit. Returns whether the commit fails, with the text expected. */
static bool fails_when_full(size_t length, const char *expected)
{
    struct atomic_file file;
    struct error err;

    signal(SIGXFSZ, SIG_IGN);
    if (atomic_file_begin(&file, "old", 0666, &err) != 0 ||
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, RLIM_INFINITY}) != 0)
        return false;
    for (size_t i = 0; i < length; i++)
        putc('x', file.stream);
    if (!expected) /* there is room again, but data is lost */
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
    return atomic_file_commit(&file, &err) == -1 && (!expected || strcmp(err.text, expected) == 0);
}

static bool fails_at_flush(void)
{
    return fails_when_full(4097, "old: File too large");
}

static bool fails_by_lost_data(void)
{
    return fails_when_full(1 << 20, NULL);
}

static void test_full(void)
{
    mkdir("closed", 0755);
    chmod(".", 0755);
    chmod("closed", 0555);
    ok(is_true_in_child(is_denied), "a file in a directory without write permission is refused");
    rmdir("closed");

    write_file("old", "before", 0644);
    ok(is_true_in_child(fails_at_flush), "the commit fails if its flush finds the disk full");
    is_str(tree_text("old"), "before", "... and the old file is unchanged");
    ok(is_true_in_child(fails_by_lost_data), "the commit fails if data was lost before it");
    is_str(tree_text("old"), "before", "... and the old file is unchanged");
    is_str(names(), "old", "... and no temporary file is left");
    unlink("old");
}

static void test_killed(void)
{
    struct atomic_file file;
    struct error err;
    pid_t child;

    write_file("old", "before", 0644);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        if (atomic_file_begin(&file, "old", 0666, &err) != 0)
            _exit(1);
        fputs("half of", file.stream);
        fflush(file.stream);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    is_str(tree_text("old"), "before", "the old file is unchanged if the writer is killed");
    is_str(names(), "old old.*", "... and a temporary file is left");
    is_int(atomic_file_begin(&file, "old", 0666, &err), 0,
           "... the next file is created all the same");
    fputs("after", file.stream);
    is_int(atomic_file_commit(&file, &err), 0, "... and committed");
    is_str(tree_text("old"), "after", "... with its text");
}

int main(void)
{
    char *root = tree_unpack("");

    if (chdir(root) != 0)
        tap_skip_all("%s cannot be entered", root);
    umask(022);
    test_new();
    test_old();
    test_owner();
    test_special_files();
    test_full();
    test_killed();
    if (chdir("/") == 0)
        tree_remove(root);
    return tap_done();
}
