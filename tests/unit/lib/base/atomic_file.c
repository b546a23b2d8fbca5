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
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? " " : "",
                     name);
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

static void put(const char *path, const char *text, mode_t mode)
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
    is_int(atomic_file_begin(&file, "new", 0666, &err), 0, "a new file is begun");
    is_str(names(), "new.*", "... beside its place");
    fputs("text", file.stream);
    is_int(atomic_file_commit(&file, &err), 0, "... and ended");
    is_str(tree_text("new"), "text", "... with what was written");
    ok(is_name_synced, "... and its name is on the disk");
    is_name_synced = false;
    is_int(mode_of("new"), 0640, "... and the permissions that umask leaves");
    is_str(names(), "new", "... and nothing beside it");
    is_str(file.temporary, "", "... nor a name of it");
    unlink("new");

    is_int(atomic_file_begin(&file, "new", 0600, &err), 0, "by its descriptor");
    write_all(file.fd, "bytes", 5);
    file.mode = 0604;
    file.is_unsynced = true;
    is_int(atomic_file_commit(&file, &err), 0, "... it is written too");
    is_str(tree_text("new"), "bytes", "... whole");
    ok(!is_name_synced, "... and waits for no disk");
    is_int(mode_of("new"), 0604, "... with permissions as its writer wants them");
    unlink("new");
    umask(022);

    is_int(atomic_file_begin(&file, "new", 0666, &err), 0, "what is begun");
    errno = ENOSPC;
    is_int(atomic_file_discard(&file, &err), -1, "... and given up");
    is_int(errno, ENOSPC, "... keeps errno");
    is_str(err.text, "new: No space left on device", "... which is told");
    is_str(names(), "", "... and nothing of it is left");
}

static void test_old(void)
{
    struct atomic_file file, other;
    struct error err;

    put("old", "before", 0644);
    is_int(atomic_file_begin(&file, "old", 0666, &err), 0, "a file in another's place");
    fputs("after", file.stream);
    fflush(file.stream);
    is_str(tree_text("old"), "before", "... the old one is there while it is written");
    is_int(mode_of(file.temporary), 0600, "... nobody else sees the new one");
    is_int(atomic_file_begin(&other, "old", 0600, &err), 0, "another writer");
    fputs("other", other.stream);
    is_int(atomic_file_commit(&file, &err), 0, "... does not hinder the first");
    is_str(tree_text("old"), "after", "... which is there whole");
    is_int(mode_of("old"), 0644, "... with the permissions of the one before");
    is_int(atomic_file_commit(&other, &err), 0, "... nor is it hindered");
    is_str(tree_text("old"), "other", "... and comes last");

    is_int(atomic_file_begin(&file, "old", 0666, &err), 0, "one that takes nobody's name");
    file.is_new = true;
    is_int(atomic_file_commit(&file, &err), -1, "... fails where one stands");
    is_int(errno, EEXIST, "... with EEXIST");
    is_str(err.text, "old: File exists", "... which is told");
    is_str(tree_text("old"), "other", "... and leaves it");
    unlink("old");
    is_int(atomic_file_begin(&file, "old", 0666, &err), 0, "where none stands");
    file.is_new = true;
    is_int(atomic_file_commit(&file, &err), 0, "... it takes it");
    is_str(names(), "old", "... with nothing beside it");
    unlink("old");
}

/* Runs does() in a child process. Returns whether it returned true there. */
static bool in_child(bool (*does)(void))
{
    int status;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0)
        _exit(does() ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static bool is_taken_over(void)
{
    struct atomic_file file;
    struct stat status;
    struct error err;

    return seteuid(65534) == 0 && atomic_file_begin(&file, "old", 0666, &err) == 0 &&
           file.has_new_owner && fputs("another's", file.stream) >= 0 &&
           atomic_file_commit(&file, &err) == 0 && stat("old", &status) == 0 &&
           status.st_uid == 65534 && strcmp(names(), "old") == 0;
}

static void test_owner(void)
{
    struct atomic_file file;
    struct stat status;
    struct error err;

    put("old", "before", 0640);
    if (chown("old", 1234, 1235) != 0) {
        unlink("old"); /* only root can give a file to another user */
        return;
    }
    is_int(atomic_file_begin(&file, "old", 0666, &err), 0, "a file in another user's file's place");
    ok(!file.has_new_owner, "... is to be that user's");
    fputs("after", file.stream);
    is_int(atomic_file_commit(&file, &err), 0, "... is written");
    ok(stat("old", &status) == 0 && status.st_uid == 1234 && status.st_gid == 1235,
       "... and is that user's and group's");
    is_int(mode_of("old"), 0640, "... with its permissions");
    chmod(".", 0777);
    ok(in_child(is_taken_over), "who cannot give it that owner replaces it by his own");
    is_str(tree_text("old"), "another's", "... with what was written");
    is_int(mode_of("old"), 0600, "... and nothing for a group that is another");
    unlink("old");
    put("old", "before", 0644);
    is_int(chown("old", 1234, 1235), 0, "one that all may read");
    ok(in_child(is_taken_over), "... is replaced too");
    is_int(mode_of("old"), 0644, "... and may be read by all");
    chmod(".", 0755);
    unlink("old");
}

static void test_others(void)
{
    static const char *const kinds[] = {"fifo", "directory", "/dev/null", "to-fifo"};
    char path[PATH_MAX + 1], expected[64];
    struct atomic_file file;
    struct error err;

    mkfifo("fifo", 0600);
    mkdir("directory", 0755);
    if (symlink("fifo", "to-fifo") != 0)
        tap_skip_all("no links here");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        snprintf(expected, sizeof expected, "%s: is not a regular file", kinds[i]);
        is_int(atomic_file_begin(&file, kinds[i], 0666, &err), -1, "%s is not replaced", kinds[i]);
        is_int(errno, EINVAL, "... EINVAL");
        is_str(err.text, expected, "... which is told");
        ok(is_special(kinds[i]), "... it is special");
    }
    is_str(names(), "directory fifo to-fifo", "... nothing is beside them");
    unlink("fifo");
    unlink("to-fifo");
    rmdir("directory");

    put("target", "kept", 0604);
    if (symlink("target", "link") != 0)
        tap_skip_all("no links here");
    ok(!is_special("link"), "a link to a file is nothing special");
    is_int(atomic_file_begin(&file, "link", 0666, &err), 0, "a link");
    fputs("text", file.stream);
    is_int(atomic_file_commit(&file, &err), 0, "... is replaced");
    is_str(tree_text("target"), "kept", "... not what it links to");
    is_str(tree_text("link"), "text", "... by the file");
    is_int(mode_of("link"), 0604, "... which is seen by those who saw what it linked to");
    unlink("link");
    unlink("target");
    ok(!is_special("target"), "what is not there is nothing special");

    memset(path, 'x', PATH_MAX - 1);
    path[PATH_MAX - 1] = '\0';
    is_int(atomic_file_begin(&file, path, 0666, &err), -1, "a path that is too long");
    is_int(errno, ENAMETOOLONG, "... ENAMETOOLONG");
    has_str(err.text, "xxx...: the path is too long", "... which is told");
    is_int(atomic_file_begin(&file, "missing/file", 0666, &err), -1, "a directory that is missing");
    is_str(err.text, "missing/file: No such file or directory", "... is told");

    put("old", "before", 0644);
    is_int(atomic_file_begin(&file, "old", 0666, &err), 0, "a directory in its place since");
    unlink("old");
    mkdir("old", 0755);
    is_int(atomic_file_commit(&file, &err), -1, "... is not replaced");
    is_str(err.text, "old: Is a directory", "... which is told");
    is_str(names(), "old", "... and nothing is left beside it");
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

static bool fails_at_the_end(void)
{
    return fails_when_full(4097, "old: File too large");
}

static bool fails_long_ago(void)
{
    return fails_when_full(1 << 20, NULL);
}

static void test_full(void)
{
    mkdir("closed", 0755);
    chmod(".", 0755);
    chmod("closed", 0555);
    ok(in_child(is_denied), "a directory that is closed");
    rmdir("closed");

    put("old", "before", 0644);
    ok(in_child(fails_at_the_end), "a disk that is full at the end");
    is_str(tree_text("old"), "before", "... leaves the old one");
    ok(in_child(fails_long_ago), "a disk that was full while it was written");
    is_str(tree_text("old"), "before", "... too");
    is_str(names(), "old", "... and nothing beside it");
    unlink("old");
}

static void test_killed(void)
{
    struct atomic_file file;
    struct error err;
    pid_t child;

    put("old", "before", 0644);
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
    is_str(tree_text("old"), "before", "who is killed midway leaves the old one");
    is_str(names(), "old old.*", "... and the half one beside it");
    is_int(atomic_file_begin(&file, "old", 0666, &err), 0, "... which is not in the way");
    fputs("after", file.stream);
    is_int(atomic_file_commit(&file, &err), 0, "... of the next");
    is_str(tree_text("old"), "after", "... one");
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
    test_others();
    test_full();
    test_killed();
    if (chdir("/") == 0)
        tree_remove(root);
    return tap_done();
}
