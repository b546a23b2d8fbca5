/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/undo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

#include "lib/base/clock.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/process.h"
#include "validate/slurm/retest.h"

enum {
    JOURNAL_MAX_BYTES = 16 << 20,
    GONE_S = 30,      /* how long a job may take to be cancelled, a reservation to be free */
    COMPLETING_S = 8, /* and then to be gone: on a node that is lost it never is */
    EPILOG_S = 2,     /* and what its nodes have before those that went silent are set down */
    LATE_S = 3,       /* a request of a salloc that was killed may still be on its way */
    KEEPER_TRIES = 10,
};

/* Makes directory and the last one above it. */
static int directory_make(const char *directory)
{
    char parent[4096];
    char *slash;

    if (snprintf(parent, sizeof parent, "%s", directory) >= (int)sizeof parent)
        return -1;
    slash = strrchr(parent, '/');
    if (slash && slash != parent) {
        *slash = '\0';
        mkdir(parent, 0755);
    }
    return mkdir(directory, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

static int journal_add(struct undo *undo, const char *verb, const char *name, const char *rest,
                       struct error *err)
{
    char line[1024];
    int length;

    if (strpbrk(name, " \n"))
        return error_set(err, "cannot note '%s' in the journal", name);
    length = snprintf(line, sizeof line, "%s %s%s%s", verb, name, *rest ? " " : "", rest);
    if (length >= (int)sizeof line - 1)
        length = (int)sizeof line - 2;
    for (int i = 0; i < length; i++)
        if (line[i] == '\n')
            line[i] = ' ';
    line[length++] = '\n';
    if (write(undo->journal, line, (size_t)length) != length || fdatasync(undo->journal) != 0)
        return error_set(err, "cannot write the journal %s: %m", undo->path);
    return 0;
}

int undo_note_job(struct undo *undo, const char *job_name, struct error *err)
{
    return journal_add(undo, "job", job_name, "", err);
}

int undo_note_reservation(struct undo *undo, const char *name, struct error *err)
{
    return journal_add(undo, "reservation", name, "", err);
}

int undo_note_resume(struct undo *undo, const char *node, const char *reason, struct error *err)
{
    return journal_add(undo, "resume", node, reason, err);
}

int undo_note_down(struct undo *undo, const char *node, const char *reason, struct error *err)
{
    return journal_add(undo, "down", node, reason, err);
}

int undo_note_settled(struct undo *undo, const char *node, struct error *err)
{
    return journal_add(undo, "settled", node, "", err);
}

/* One line of the journal: its verb, the name, the rest. */
struct entry {
    char verb[16], name[256], rest[1024];
};

/* Takes the next line of the text that is one; false at the end. */
static bool entry_next(const char **text, struct entry *entry)
{
    while (**text) {
        size_t length = strcspn(*text, "\n");
        char whole[1400];

        snprintf(whole, sizeof whole, "%.*s", (int)length, *text);
        *text += length + ((*text)[length] == '\n');
        entry->rest[0] = '\0';
        if (sscanf(whole, "%15s %255s %1023[^\n]", entry->verb, entry->name, entry->rest) >= 2)
            return true;
    }
    return false;
}

static void silent_down(const char *text)
{
    struct entry entry;

    while (entry_next(&text, &entry))
        if (strcmp(entry.verb, "down") == 0)
            cluster_down(entry.name, entry.rest, NULL);
}

/* Cancels jobs of that name until none is there. With is_late, waits for one that is still to
 * come. A node that does not answer keeps a job completing: those that the journal names are set
 * down then, for another that is not waited for beyond COMPLETING_S. */
static int jobs_undo(const char *name, const char *journal, bool is_late, struct error *err)
{
    double begin = clock_s(), cancelled = 0;
    bool is_seen = false, is_down = false;

    for (;;) {
        double asked = clock_s();
        struct cluster_job *jobs;
        int count = cluster_jobs(name, &jobs, err), left = 0, alive = 0;

        for (int i = 0; i < count; i++) {
            if (strcmp(jobs[i].name, name) != 0)
                continue;
            is_seen = true;
            left++;
            if (!jobs[i].is_completing) {
                alive++;
                cluster_job_cancel(jobs[i].id, err);
            }
        }
        free(jobs);
        if (count == 0 || (count > 0 && left == 0)) {
            if (is_seen || !is_late || clock_s() - begin > LATE_S)
                return 0;
        } else if (clock_s() - begin > GONE_S) {
            return count < 0 ? -1 : error_set(err, "job %s is still there", name);
        }
        if (left > 0 && alive == 0) {
            cancelled = cancelled > 0 ? cancelled : clock_s();
            if (!is_down && clock_s() - cancelled > EPILOG_S) {
                silent_down(journal);
                is_down = true;
            }
            if (clock_s() - cancelled > COMPLETING_S)
                return 0;
        }
        /* a controller with very many jobs takes its time for them: it is given as much to rest */
        usleep((useconds_t)(1e6 * fmax(0.1, fmin(1, clock_s() - asked))));
    }
}

static int reservation_undo(const char *name, struct error *err)
{
    double begin = clock_s();

    while (cluster_unreserve(name, err) != 0) {
        if (clock_s() - begin > GONE_S)
            return -1;
        usleep(200000);
    }
    return 0;
}

/* Whether a later line settles the node. */
static bool is_settled(const char *text, const char *node)
{
    char wanted[300];

    snprintf(wanted, sizeof wanted, "\nsettled %s\n", node);
    return strstr(text, wanted) != NULL;
}

/* Drains again what was to be tested and did not come so far. */
static int nodes_undo(const char *text, struct error *err)
{
    struct cluster cluster = {0};
    const char *line = text;
    bool is_loaded = false;
    struct entry entry;
    int rv = 0;

    while (entry_next(&line, &entry)) {
        const struct cluster_node *found;

        if (strcmp(entry.verb, "resume") != 0 || is_settled(text, entry.name))
            continue;
        if (!is_loaded && cluster_load(&cluster, err) != 0)
            return -1;
        is_loaded = true;
        found = cluster_node(&cluster, entry.name);
        if (found && !found->is_drained && cluster_drain(entry.name, entry.rest, err) != 0)
            rv = -1;
        else if (found && retest_read(found, NULL, NULL) && retest_unmark(found, err) != 0)
            rv = -1;
    }
    cluster_clear(&cluster);
    return rv;
}

static char *journal_read(int journal)
{
    off_t size = lseek(journal, 0, SEEK_END);
    char *text;

    if (size < 0 || size > JOURNAL_MAX_BYTES || !(text = malloc((size_t)size + 1)))
        return NULL;
    if (pread(journal, text, (size_t)size, 0) != size) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

/* Does it for each name that the journal has with the verb. */
static int each_undo(const char *text, const char *verb, bool is_late, struct error *err)
{
    const char *line = text;
    struct entry entry;
    int rv = 0;

    while (entry_next(&line, &entry))
        if (strcmp(entry.verb, verb) == 0 &&
            (strcmp(verb, "job") == 0 ? jobs_undo(entry.name, text, is_late, err)
                                      : reservation_undo(entry.name, err)) != 0)
            rv = -1;
    return rv;
}

/* Jobs first: their nodes must not become free for others before they are drained again, and a
 * reservation in use cannot be deleted. */
static int journal_undo(int journal, bool is_late, struct error *err)
{
    char *text = journal_read(journal);
    int rv = 0;

    if (!text)
        return error_set(err, "cannot read the journal: %m");
    if (each_undo(text, "job", is_late, err) != 0)
        rv = -1;
    if (nodes_undo(text, err) != 0)
        rv = -1;
    if (each_undo(text, "reservation", is_late, err) != 0)
        rv = -1;
    free(text);
    return rv;
}

/* Writes over the arguments of this process, where ps reads them. */
static void name_set(int argc, char **argv, const char *name)
{
    char *end = argv[0];

    prctl(PR_SET_NAME, name);
    for (int i = 0; i < argc && argv[i] == end; i++)
        end += strlen(argv[i]) + 1;
    if (end > argv[0]) {
        size_t size = (size_t)(end - argv[0]);

        memset(argv[0], 0, size);
        snprintf(argv[0], size, "%s", name);
    }
}

static void __attribute__((noreturn))
keeper_run(const struct undo *undo, int pipe, int argc, char **argv)
{
    int quiet = open("/dev/null", O_RDWR);
    char goodbye;

    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    if (chdir("/") != 0)
        _exit(1);
    for (int fd = 0; fd < 3; fd++)
        dup2(quiet, fd);
    for (int fd = 3; fd < 1024; fd++) /* the pipe's other end among them */
        if (fd != pipe && fd != undo->journal)
            close(fd);
    name_set(argc, argv, "muster-keeper");
    for (;;) {
        ssize_t got = read(pipe, &goodbye, 1);

        if (got == 1)
            _exit(0);
        if (got == 0 || errno != EINTR)
            break;
    }
    for (int i = 0; i < KEEPER_TRIES; i++) {
        if (journal_undo(undo->journal, i == 0, NULL) == 0) {
            if (*undo->path)
                unlink(undo->path);
            _exit(0);
        }
        sleep(5);
    }
    _exit(1);
}

/* The journal in its place, locked before anybody else sees it there: one that is not locked is
 * of a run that is gone. Returns the descriptor, or -1 with errno and path "". */
static int journal_create(const char *directory, const char *run, char *path, size_t size)
{
    char hidden[4096];
    int journal = -1;

    if (directory_make(directory) == 0 &&
        snprintf(hidden, sizeof hidden, "%s/.%s", directory, run) < (int)sizeof hidden &&
        snprintf(path, size, "%s/%s", directory, run) < (int)size)
        journal = open(hidden, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (journal >= 0 && (flock(journal, LOCK_EX | LOCK_NB) != 0 || link(hidden, path) != 0)) {
        close(journal);
        unlink(hidden);
        journal = -1;
    } else if (journal >= 0) {
        unlink(hidden);
    }
    if (journal < 0)
        *path = '\0';
    return journal;
}

int undo_begin(const char *directory, const char *run, int argc, char **argv, struct undo *undo,
               struct error *err)
{
    int ends[2];

    *undo = (struct undo){.journal = -1, .keeper_pipe = -1};
    undo->journal = journal_create(directory, run, undo->path, sizeof undo->path);
    if (undo->journal < 0) {
        error_set(err,
                  "no journal in %s (%m): should this run and its keeper both be killed, "
                  "nobody cleans up after them",
                  directory);
        undo->journal = memfd_create("muster-journal", MFD_CLOEXEC);
    }
    if (undo->journal < 0 || write(undo->journal, "\n", 1) != 1 || pipe2(ends, O_CLOEXEC) != 0) {
        error_set(err, "cannot keep a journal: %m");
        goto fail;
    }
    fflush(NULL);
    undo->keeper = fork();
    if (undo->keeper == 0)
        keeper_run(undo, ends[0], argc, argv);
    close(ends[0]);
    undo->keeper_pipe = ends[1];
    if (undo->keeper > 0)
        return 0;
    close(ends[1]);
    error_set(err, "cannot start the keeper: %m");
fail:
    if (undo->journal >= 0)
        close(undo->journal);
    if (*undo->path)
        unlink(undo->path);
    *undo = (struct undo){.journal = -1, .keeper_pipe = -1};
    return -1;
}

int undo_end(struct undo *undo, struct error *err)
{
    int rv;

    if (undo->journal < 0)
        return 0;
    rv = journal_undo(undo->journal, false, err);
    if (rv == 0) {
        if (*undo->path)
            unlink(undo->path);
        if (write(undo->keeper_pipe, "g", 1) == 1)
            while (waitpid(undo->keeper, NULL, 0) < 0 && errno == EINTR)
                ;
    }
    close(undo->keeper_pipe); /* without a goodbye the keeper goes on where this ends */
    close(undo->journal);
    *undo = (struct undo){.journal = -1, .keeper_pipe = -1};
    return rv;
}

int undo_leftovers(const char *directory, void (*say)(const char *text), struct error *err)
{
    DIR *runs = opendir(directory);
    const struct dirent *entry;
    int count = 0, rv = 0;

    if (!runs)
        return errno == ENOENT ? 0 : error_set(err, "cannot read %s: %m", directory);
    while ((entry = readdir(runs))) {
        char path[4096], text[400];
        int journal;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        journal = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (journal < 0)
            continue;
        if (flock(journal, LOCK_EX | LOCK_NB) == 0) {
            snprintf(text, sizeof text, "cleaning up after run %.200s, which was killed",
                     entry->d_name);
            say(text);
            count++;
            if (journal_undo(journal, false, err) == 0)
                unlink(path);
            else
                rv = -1;
        }
        close(journal);
    }
    closedir(runs);
    return rv == 0 ? count : -1;
}
