/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/certificate/certificate.h"
#include "lib/certificate/seal.h"
#include "tests/unit/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"

/* A munged for this test, with its own key. */
struct daemon {
    char directory[64], socket[96];
    pid_t pid;
};

static const char munged[] = "/usr/sbin/munged";

static void write_key(const char *path)
{
    char key[1024];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

    if (fd < 0 || getrandom(key, sizeof key, 0) != sizeof key ||
        write(fd, key, sizeof key) != sizeof key)
        exit(99);
    close(fd);
}

static void launch(struct daemon *daemon)
{
    char key[96], pid[96], log[96], seed[96];

    snprintf(key, sizeof key, "--key-file=%s/key", daemon->directory);
    snprintf(pid, sizeof pid, "--pid-file=%s/pid", daemon->directory);
    snprintf(log, sizeof log, "--log-file=%s/log", daemon->directory);
    snprintf(seed, sizeof seed, "--seed-file=%s/seed", daemon->directory);
    daemon->pid = fork();
    if (daemon->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        fclose(stdout);
        fclose(stderr);
        execl(munged, munged, "--foreground", "--force", "--socket", daemon->socket, key, pid, log,
              seed, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 6000 && access(daemon->socket, F_OK) != 0; i++)
        usleep(10000);
}

static void start(struct daemon *daemon)
{
    char key[96];

    strcpy(daemon->directory, "/tmp/muster-munge-XXXXXX");
    if (!mkdtemp(daemon->directory))
        exit(99);
    chmod(daemon->directory, 0755);
    snprintf(daemon->socket, sizeof daemon->socket, "%s/socket", daemon->directory);
    snprintf(key, sizeof key, "%s/key", daemon->directory);
    write_key(key);
    launch(daemon);
}

static void kill_daemon(struct daemon *daemon)
{
    kill(daemon->pid, SIGKILL);
    waitpid(daemon->pid, NULL, 0);
}

static void stop(struct daemon *daemon)
{
    DIR *directory = opendir(daemon->directory);
    struct dirent *entry;

    kill_daemon(daemon);
    while (directory && (entry = readdir(directory)))
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(daemon->directory);
}

static const char text[] = "muster certificate 1\nnode: n1\n";
enum { LENGTH = sizeof text - 1 };

/* Returns a seal of another user, made in a child that becomes that user; NULL if that fails. */
static char *seal_of_user(uid_t uid)
{
    static char seal[4096];
    char *made;
    int fds[2];
    ssize_t length;
    pid_t child;

    if (pipe(fds) != 0)
        exit(99);
    child = fork();
    if (child == 0) {
        if (setresuid(uid, uid, uid) != 0 || seal_make(text, LENGTH, &made, NULL) != 0 ||
            write(fds[1], made, strlen(made) + 1) < 0)
            _exit(1);
        _exit(0);
    }
    close(fds[1]);
    length = read(fds[0], seal, sizeof seal - 1);
    close(fds[0]);
    waitpid(child, NULL, 0);
    return length > 0 ? seal : NULL;
}

/* Makes a seal with the munge program, which has more options than seal_make(). */
static char *seal_with_options(const struct daemon *daemon, const char *options)
{
    static char seal[4096];
    char command[512];
    FILE *pipe;

    snprintf(command, sizeof command, "printf '%%s' '%s' | munge --socket=%s %s", text,
             daemon->socket, options);
    pipe = popen(command, "r");
    if (!pipe || !fgets(seal, sizeof seal, pipe))
        exit(99);
    pclose(pipe);
    seal[strcspn(seal, "\n")] = '\0';
    return seal;
}

static void proves_origin(const struct daemon *daemon)
{
    struct error err = {""};
    char *seal = NULL, *other;
    char altered[LENGTH + 1];

    is_int(seal_make(text, LENGTH, &seal, &err), 0, "a text is sealed (%s)", err.text);
    if (!seal)
        exit(99);
    ok(strncmp(seal, "MUNGE:", 6) == 0 && seal[strlen(seal) - 1] == ':', "... with MUNGE");
    is_int(seal_verify(seal, text, LENGTH, &err), 1, "a seal of root is genuine (%s)", err.text);
    is_int(seal_verify(seal, text, LENGTH, &err), 1, "... also if it is replayed (%s)", err.text);
    is_int(seal_verify_by(12345, seal, text, LENGTH, &err), 0,
           "... but it is not a seal of uid 12345");
    has_str(err.text, "made by uid 0, expected uid 12345", "... and the error says why");
    is_int(seal_verify(seal, text, LENGTH - 1, &err), 0, "a shorter text does not match the seal");
    has_str(err.text, "changed after it was sealed", "... and the error says why");
    is_int(seal_verify(seal, text, 0, &err), 0, "nor does an empty text");
    memcpy(altered, text, sizeof altered);
    altered[LENGTH - 2] = '2';
    is_int(seal_verify(seal, altered, LENGTH, &err), 0, "nor does a text with one byte changed");

    other = seal_of_user(12345);
    if (ok(other != NULL, "another user can make a seal")) {
        is_int(seal_verify(other, text, LENGTH, &err), 0, "... which is no seal of root");
        has_str(err.text, "made by uid 12345, expected uid 0", "... and the error says why");
        is_int(seal_verify_by(12345, other, text, LENGTH, &err), 1,
               "... but a genuine seal of that user");
    }

    other = seal_with_options(daemon, "--ttl=1");
    sleep(3);
    is_int(seal_verify(other, text, LENGTH, &err), 1, "an expired seal proves its origin (%s)",
           err.text);
    other[20] = other[20] == 'A' ? 'B' : 'A'; /* base64, else malformed */
    is_int(seal_verify(other, text, LENGTH, &err), SEAL_UNDECODABLE, "... unless it is altered");
    other = seal_with_options(daemon, "--restrict-uid=12345");
    is_int(seal_verify(other, text, LENGTH, &err), 0, "a seal for another reader is refused");
    is_int(seal_verify("", text, LENGTH, &err), 0, "an empty string is not a seal (%s)", err.text);
    is_int(seal_verify("MUNGE::", text, LENGTH, &err), 0, "nor is an empty credential (%s)",
           err.text);
    is_int(seal_verify("hello", text, LENGTH, &err), 0, "nor is a word (%s)", err.text);
    has_str(err.text, "not genuine", "... and the error says why");
    seal[strlen(seal) / 2] = '\0';
    is_int(seal_verify(seal, text, LENGTH, &err), 0, "nor is half a seal (%s)", err.text);
    free(seal);
}

static void seals_long_texts(void)
{
    enum { LONG = 60000 };
    char *long_text = malloc(LONG), *seal = NULL;
    struct error err = {""};

    memset(long_text, 'x', LONG);
    is_int(seal_make(long_text, LONG, &seal, &err), 0, "60000 bytes are sealed (%s)", err.text);
    is_int(seal_verify(seal, long_text, LONG, &err), 1, "... and verified (%s)", err.text);
    free(seal);
    is_int(seal_make(long_text, (2 << 20), &seal, &err), -1, "2 MiB are refused");
    free(long_text);
}

static void foreign_key_is_undecodable(const struct daemon *daemon)
{
    struct daemon foreign;
    struct error err = {""};
    char *seal = NULL;

    start(&foreign);
    seal_use_socket(foreign.socket);
    is_int(seal_make(text, LENGTH, &seal, &err), 0, "a munged with another key seals (%s)",
           err.text);
    seal_use_socket(daemon->socket);
    is_int(seal_verify(seal, text, LENGTH, &err), SEAL_UNDECODABLE,
           "... a seal that this munged cannot decode (%s)", err.text);
    free(seal);
    stop(&foreign);
}

/* In any state of munged, seal_verify() and seal_make() fail within a few seconds and say why. They
 * leave no child behind. libmunge alone would wait longer for a stopped munged. */
static void seal_calls_fail(const char *seal, const char *state, const char *why)
{
    const double at_most_s = 5;
    struct error err = {""};
    char *made = NULL;
    double begin = clock_s(), elapsed_s;

    is_int(seal_verify(seal, text, LENGTH, &err), -1, "%s: a seal cannot be verified (%s)", state,
           err.text);
    elapsed_s = clock_s() - begin;
    ok(elapsed_s < at_most_s, "... within %.1f s: %.3f", at_most_s, elapsed_s);
    has_str(err.text, why, "... since: %s", why);
    begin = clock_s();
    is_int(seal_make(text, LENGTH, &made, &err), -1, "... and a text cannot be sealed (%s)",
           err.text);
    elapsed_s = clock_s() - begin;
    ok(elapsed_s < at_most_s, "... within %.1f s: %.3f", at_most_s, elapsed_s);
    has_str(err.text, why, "... since: %s", why);
}

/* An error of this process shows nothing about MUNGE. */
static void reports_whether_munge_works(const struct daemon *daemon)
{
    struct error err = {""};
    struct rlimit limit, none;
    bool is_asked = false;
    char aside[104];
    pid_t child;

    is_int(seal_try(&is_asked, &err), 0, "MUNGE works (%s)", err.text);
    ok(is_asked, "... and was queried");
    getrlimit(RLIMIT_NOFILE, &limit);
    none = (struct rlimit){3, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    is_int(seal_try(&is_asked, &err), -1, "a process without free descriptors cannot check MUNGE");
    setrlimit(RLIMIT_NOFILE, &limit);
    ok(!is_asked, "... and has not queried it (%s)", err.text);
    kill(daemon->pid, SIGSTOP);
    is_int(seal_try(&is_asked, &err), -1, "a stopped munged does not work");
    ok(is_asked, "... and was queried (%s)", err.text);
    kill(daemon->pid, SIGCONT);
    is_int(seal_try(&is_asked, &err), 0, "... and works once it continues");
    snprintf(aside, sizeof aside, "%s.aside", daemon->socket);
    rename(daemon->socket, aside);
    child = fork();
    if (child == 0) {
        usleep(1500000);
        _exit(rename(aside, daemon->socket) != 0);
    }
    is_int(seal_try(&is_asked, &err), 0, "a munged that is restarted meanwhile works (%s)",
           err.text);
    waitpid(child, NULL, 0);
}

static void never_hangs(struct daemon *daemon)
{
    struct error err = {""};
    char *seal = NULL;
    double begin;

    is_int(seal_make(text, LENGTH, &seal, &err), 0, "a text is sealed (%s)", err.text);
    begin = clock_s();
    for (int i = 0; i < 20; i++)
        seal_verify(seal, text, LENGTH, &err);
    tap_diag("a seal is verified in %.2f ms", 1e3 * (clock_s() - begin) / 20);
    kill(daemon->pid, SIGSTOP);
    seal_calls_fail(seal, "munged stopped", "/socket is open");
    kill(daemon->pid, SIGCONT);
    is_int(seal_verify(seal, text, LENGTH, &err), 1,
           "a seal can be verified once munged continues (%s)", err.text);
    is_int(waitpid(-1, NULL, WNOHANG), 0, "no child but munged is left");
    signal(SIGCHLD, SIG_IGN);
    is_int(seal_verify(seal, text, LENGTH, &err), 1, "a seal is verified with SIGCHLD ignored (%s)",
           err.text);
    signal(SIGCHLD, SIG_DFL);
    kill_daemon(daemon);
    seal_calls_fail(seal, "munged dead", "/socket: Connection refused");
    unlink(daemon->socket);
    seal_calls_fail(seal, "no socket", "No such file");
    is_int(mkdir(daemon->socket, 0700), 0, "a directory takes the socket's path");
    seal_calls_fail(seal, "no socket", "Invalid file type");
    rmdir(daemon->socket);
    launch(daemon);
    is_int(seal_verify(seal, text, LENGTH, &err), 1,
           "a new munged with the same key verifies the seal (%s)", err.text);
    free(seal);
}

int main(void)
{
    struct daemon daemon;
    char long_path[200];

    if (geteuid() != 0)
        tap_skip_all("only root can make root's seals");
    if (access(munged, X_OK) != 0)
        tap_skip_all("there is no %s", munged);
    start(&daemon);
    is_int(seal_use_socket(daemon.socket), 0, "the test uses its own munged");
    proves_origin(&daemon);
    seals_long_texts();
    foreign_key_is_undecodable(&daemon);
    reports_whether_munge_works(&daemon);
    never_hangs(&daemon);
    stop(&daemon);
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    is_int(seal_use_socket(long_path), -1, "a path too long for a socket is refused");
    return tap_done();
}
