/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/undo/undo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/node_name.h"
#include "lib/base/path.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/undo/journal.h"
#include "validate/slurm/undo/rollback.h"

static int journal_undo(const struct undo *undo, bool is_request_pending,
                        void (*report)(const char *text), struct error *err)
{
    char *written = journal_read(undo->journal), *text;
    int rv;

    if (!written)
        return error_set(err, "cannot read the journal: %m");
    if (asprintf(&text, "%s%s", written, undo->unwritten ? undo->unwritten : "") < 0)
        text = NULL;
    free(written);
    if (!text)
        return error_set(err, "no memory");
    rv = rollback_run(&(struct rollback){.operations = undo->operations,
                                         .text = text,
                                         .run = undo->run,
                                         .is_request_pending = is_request_pending,
                                         .report = report},
                      err);
    free(text);
    return rv;
}

/* Renames this process in ps by overwriting the arguments of main(). */
static void process_rename(const char *name)
{
    int arguments = open("/proc/self/cmdline", O_RDONLY);
    char bytes[4096];
    size_t size = 0;

    prctl(PR_SET_NAME, name);
    for (ssize_t got; (got = read(arguments, bytes, sizeof bytes)) > 0;)
        size += (size_t)got;
    close(arguments);
    memset(program_invocation_name, 0, size);
    snprintf(program_invocation_name, size, "%s", name);
}

/* Removes the journal, as nothing is left to undo. It may still have its hidden name. */
static void journal_remove(const struct undo *undo, const char *hidden)
{
    struct stat status;

    if (*hidden)
        unlink(hidden);
    if (*undo->path && fstat(undo->journal, &status) == 0 && status.st_nlink > 0)
        unlink(undo->path);
}

static void __attribute__((noreturn))
keeper_run(const struct undo *undo, const char *hidden, int pipe)
{
    int quiet = open("/dev/null", O_RDWR);
    char byte;

    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    if (chdir("/") != 0)
        _exit(1);
    for (int fd = 0; fd < 3; fd++)
        dup2(quiet, fd);
    for (int fd = 3; fd < 1024; fd++) /* includes the pipe's write end */
        if (fd != pipe && fd != undo->journal)
            close(fd);
    process_rename("muster-keeper");
    for (;;) {
        ssize_t got = read(pipe, &byte, 1);

        if (got == 1)
            _exit(0);
        if (got == 0 || errno != EINTR)
            break;
    }
    for (int i = 0; i < UNDO_KEEPER_TRIES; i++) {
        if (journal_undo(undo, i == 0, NULL, NULL) == 0) {
            journal_remove(undo, hidden);
            _exit(0);
        }
        sleep(5);
    }
    _exit(1);
}

/* Creates the journal, locked, under a hidden name that nobody reads yet. Returns the descriptor,
 * or -1 with errno and names "". */
static int journal_create(const char *directory, const char *run, char *hidden, char *path,
                          size_t size)
{
    int journal = -1;

    path_make_directory(directory);
    if ((mkdir(directory, 0700) == 0 || errno == EEXIST) &&
        snprintf(hidden, size, "%s/.%s", directory, run) < (int)size &&
        snprintf(path, size, "%s/%s", directory, run) < (int)size)
        journal = open(hidden, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    /* a network file system may find only later that its disk is full */
    if (journal >= 0 && (flock(journal, LOCK_EX | LOCK_NB) != 0 || write(journal, "\n", 1) != 1 ||
                         fdatasync(journal) != 0)) {
        int reason = errno;

        close(journal);
        unlink(hidden);
        journal = -1;
        errno = reason;
    }
    if (journal < 0)
        *hidden = *path = '\0';
    return journal;
}

static void journal_missing_set(const char *directory, struct error *err)
{
    error_set(err,
              "no journal in %s (%m): if this run and its keeper are both killed, nothing cleans "
              "up after them",
              directory);
}

int undo_begin(const struct cluster_operations *operations, const char *directory, const char *run,
               const char *cluster, struct undo *undo, struct error *err)
{
    char hidden[sizeof undo->path], host[256], line[JOURNAL_LINE_BYTES];
    int ends[2];

    *undo = (struct undo){operations, .journal = -1, .keeper_pipe = -1};
    snprintf(undo->run, sizeof undo->run, "%s", run);
    undo->journal = journal_create(directory, run, hidden, undo->path, sizeof undo->path);
    if (undo->journal < 0) {
        journal_missing_set(directory, err);
        undo->journal = memfd_create("muster-journal", MFD_CLOEXEC);
        if (undo->journal < 0 || write(undo->journal, "\n", 1) != 1) {
            error_set(err, "cannot keep a journal: %m");
            goto fail;
        }
    }
    host_name(host, sizeof host);
    if (journal_line(line, "cluster", cluster, host, err) != 0 ||
        journal_write(undo->journal, undo->path, line, err) != 0)
        goto fail;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        error_set(err, "cannot start the keeper: %m");
        goto fail;
    }
    fflush(NULL);
    undo->keeper = fork();
    if (undo->keeper == 0)
        keeper_run(undo, hidden, ends[0]);
    close(ends[0]);
    undo->keeper_pipe = ends[1];
    if (undo->keeper > 0) {
        /* Publish the journal only now, locked and with a keeper: an unlocked journal means a dead
         * run. */
        if (*hidden && link(hidden, undo->path) != 0) {
            journal_missing_set(directory, err);
            *undo->path = '\0';
        }
        if (*hidden)
            unlink(hidden);
        return 0;
    }
    close(ends[1]);
    error_set(err, "cannot start the keeper: %m");
fail:
    if (undo->journal >= 0)
        close(undo->journal);
    if (*hidden)
        unlink(hidden);
    *undo = (struct undo){.journal = -1, .keeper_pipe = -1};
    return -1;
}

int undo_end(struct undo *undo, void (*report)(const char *text), struct error *err)
{
    int rv;

    if (undo->journal < 0)
        return 0;
    rv = journal_undo(undo, false, report, err);
    if (rv == 0) {
        if (*undo->path)
            unlink(undo->path);
        if (write(undo->keeper_pipe, "g", 1) == 1)
            while (waitpid(undo->keeper, NULL, 0) < 0 && errno == EINTR)
                ;
    }
    free(undo->unwritten);
    close(undo->keeper_pipe); /* without the byte, the keeper undoes the rest */
    close(undo->journal);
    *undo = (struct undo){.journal = -1, .keeper_pipe = -1};
    return rv;
}

/* Returns whether the journal belongs to another host and its run may be alive. first: its first
 * line. */
static bool is_of_other_host(int journal, const char *text, struct journal_entry *first)
{
    struct stat status;
    char host[256];

    host_name(host, sizeof host);
    return journal_next(&text, first) && *first->rest && strcmp(first->rest, host) != 0 &&
           fstat(journal, &status) == 0 && time(NULL) - status.st_mtime < UNDO_OTHER_HOST_S;
}

/* Undoes the journal of a dead run. Returns 1; 0 if the journal is kept; -1 with err. */
static int journal_clean_up(const struct cluster_operations *operations, int journal,
                            const char *path, const char *run, const char *cluster,
                            void (*report)(const char *text), struct hostlist *changed,
                            struct error *err)
{
    char *text = journal_read(journal);
    struct rollback rollback = {operations, .text = text, .run = run, .report = report,
                                .changed = changed};
    struct journal_entry first;
    struct error why = {""};
    int rv = 0;

    if (!text) {
        rv = error_set(err, "cannot read %s: %m", path);
    } else if (journal_check(text, cluster, &why) != 0) {
        rollback_report(&rollback,
                        "journal %s of a killed run left unchanged: %.200s; next: undo its entries "
                        "by hand, then remove it",
                        path, why.text);
    } else if (is_of_other_host(journal, text, &first)) {
        rollback_report(&rollback,
                        "%s left unchanged: its run on %.100s may be alive; next: muster certify "
                        "there, or on any host after %d days",
                        path, first.rest, UNDO_OTHER_HOST_S / 86400);
    } else {
        rollback_report(&rollback, "cleaning up after run %.200s, which was killed", run);
        rv = rollback_run(&rollback, err) == 0 ? 1 : -1;
    }
    if (rv == 1)
        unlink(path);
    free(text);
    return rv;
}

int undo_clean_up(const struct cluster_operations *operations, const char *directory,
                  const char *cluster, void (*report)(const char *text), struct hostlist *changed,
                  struct error *err)
{
    DIR *runs = opendir(directory);
    const struct dirent *entry;
    int count = 0, rv = 0;

    if (!runs)
        return errno == ENOENT ? 0 : error_set(err, "cannot read %s: %m", directory);
    while ((entry = readdir(runs))) {
        char path[4096];
        int journal, done = 0;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        journal = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (journal < 0)
            continue;
        if (flock(journal, LOCK_EX | LOCK_NB) == 0)
            done = journal_clean_up(operations, journal, path, entry->d_name, cluster, report,
                                    changed, err);
        count += done == 1;
        rv = done < 0 ? -1 : rv;
        close(journal);
    }
    closedir(runs);
    return rv == 0 ? count : -1;
}
