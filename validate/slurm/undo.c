/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/undo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
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
#include "lib/base/hash.h"
#include "lib/base/memory_stream.h"
#include "lib/base/node_name.h"
#include "lib/base/path.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/operations.h"
#include "validate/slurm/journal.h"
#include "validate/slurm/process.h"
#include "validate/slurm/retest.h"
#include "validate/slurm/revocation.h"

enum { LINE_BYTES = 1024 };

static int line_make(char line[LINE_BYTES], const char *verb, const char *name, const char *rest,
                     struct error *err)
{
    int length;

    if (strpbrk(name, " \n"))
        return error_set(err, "cannot note '%s' in the journal", name);
    length = snprintf(line, LINE_BYTES, "%s %s%s%s", verb, name, *rest ? " " : "", rest);
    if (length >= LINE_BYTES - 1)
        length = LINE_BYTES - 2;
    for (int i = 0; i < length; i++)
        if (line[i] == '\n')
            line[i] = ' ';
    strcpy(line + length, "\n");
    return 0;
}

/* Writes all of the lines or, on a full disk, none: a part of a line would become one with the
 * next. */
static int lines_write(const struct undo *undo, const char *lines, struct error *err)
{
    off_t end = lseek(undo->journal, 0, SEEK_END);
    ssize_t length = (ssize_t)strlen(lines), written = write(undo->journal, lines, (size_t)length);

    if (written == length && fdatasync(undo->journal) == 0)
        return 0;
    if (written >= 0 && written < length)
        errno = ENOSPC;
    error_set(err, "cannot write the journal %s: %m", undo->path);
    if (end < 0 || ftruncate(undo->journal, end) != 0)
        error_set(err, "cannot write the journal %s, its last line is broken", undo->path);
    return -1;
}

static int journal_add(struct undo *undo, const char *verb, const char *name, const char *rest,
                       struct error *err)
{
    char line[LINE_BYTES];

    return line_make(line, verb, name, rest, err) == 0 ? lines_write(undo, line, err) : -1;
}

/* Adds lines about what has happened already. If they cannot be written, this process remembers
 * them. */
static int lines_add_late(struct undo *undo, const char *lines, struct error *err)
{
    char *longer;
    bool is_first;

    if (lines_write(undo, lines, err) == 0)
        return 0;
    if (asprintf(&longer, "%s%s", undo->unwritten ? undo->unwritten : "", lines) < 0)
        return -1;
    is_first = !undo->unwritten;
    free(undo->unwritten);
    undo->unwritten = longer;
    return is_first;
}

static int journal_add_late(struct undo *undo, const char *verb, const char *name, const char *rest,
                            struct error *err)
{
    char line[LINE_BYTES];

    return line_make(line, verb, name, rest, err) == 0 ? lines_add_late(undo, line, err) : -1;
}

/* Returns a line for each of the nodes with its text; written at once, they wait for the disk once.
 * malloc'd; NULL with err. */
static char *lines_make(const char *verb, const struct batch *nodes, struct error *err)
{
    char *lines = NULL, line[LINE_BYTES];
    size_t size = 0;
    FILE *stream = memory_stream(&lines, &size);
    int rv = stream ? 0 : error_set(err, "no memory");

    for (size_t i = 0; rv == 0 && i < nodes->count; i++) {
        rv = line_make(line, verb, nodes->nodes[i].name, nodes->nodes[i].text, err);
        if (rv == 0)
            fputs(line, stream);
    }
    if (stream && fclose(stream) != 0 && rv == 0)
        rv = error_set(err, "no memory");
    if (rv == 0)
        return lines;
    free(lines);
    return NULL;
}

int undo_note_job(struct undo *undo, const char *job_name, uid_t uid, struct error *err)
{
    char text[16];

    snprintf(text, sizeof text, "%u", (unsigned)uid);
    return journal_add(undo, "job", job_name, text, err);
}

/* Hashes a list of any length to a few letters; another list has another mark. */
static void nodes_mark(const char *nodes, char mark[24])
{
    snprintf(mark, 24, "%016" PRIx64, hash_text(HASH_BEGIN, nodes));
}

int undo_note_reservation(struct undo *undo, const char *name, const char *nodes, struct error *err)
{
    char mark[24];

    nodes_mark(nodes, mark);
    return journal_add(undo, "reservation", name, mark, err);
}

int undo_note_resumes(struct undo *undo, const struct batch *drains, struct error *err)
{
    char *lines = lines_make("resume", drains, err);
    int rv = lines ? lines_write(undo, lines, err) : -1;

    free(lines);
    return rv;
}

int undo_note_down(struct undo *undo, const char *node, const char *reason, struct error *err)
{
    return journal_add_late(undo, "down", node, reason, err);
}

int undo_note_settled(struct undo *undo, const struct batch *nodes, struct error *err)
{
    char *lines = lines_make("settled", nodes, err);
    int rv = lines ? lines_add_late(undo, lines, err) : -1;

    free(lines);
    return rv;
}

int undo_note_revocation(struct undo *undo, const char *node, time_t until, struct error *err)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)until);
    return journal_add_late(undo, "revoke", node, text, err);
}

int undo_note_revoked(struct undo *undo, const char *node, struct error *err)
{
    return journal_add_late(undo, "revoked", node, "", err);
}

/* The state of an undo. */
struct undoing {
    const struct cluster_operations *operations;
    const char *text; /* of the journal */
    const char *run;  /* whose journal it is */
    bool is_late;     /* a request that the run made may still be on its way */
    void (*report)(const char *text);
    struct hostlist *changed; /* gets the reservations that stay; or NULL */
};

static void __attribute__((format(printf, 2, 3)))
undoing_report(const struct undoing *undoing, const char *format, ...)
{
    char text[400];
    va_list arguments;

    if (!undoing->report)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    undoing->report(text);
}

/* Sets silent nodes down. Those that answer again by now end their job themselves, and a node that
 * somebody else has drained or resumed since is left alone. */
static void silent_down(const struct undoing *undoing)
{
    const char *text = undoing->text;
    struct cluster cluster = {0};
    struct journal_entry entry;
    struct batch silent = {0};
    bool is_loaded = false;

    while (journal_next(&text, &entry)) {
        const struct cluster_node *node;

        if (strcmp(entry.verb, "down") != 0)
            continue;
        if (!is_loaded && undoing->operations->load_nodes(&cluster, NULL) != 0)
            return;
        is_loaded = true;
        node = cluster_node(&cluster, entry.name);
        if (node && node->is_completing && node->is_drained &&
            strcmp(node->reason, entry.rest) == 0)
            batch_add(&silent, entry.name, entry.rest);
    }
    batch_apply(&silent, undoing->operations->down, NULL, NULL, NULL);
    cluster_clear(&cluster);
}

/* Cancels the jobs of that name until none is left. With is_late, waits for one that is still to
 * come. A node that does not answer keeps a job completing: nodes that the journal names are set
 * down then; for another, the wait ends after UNDO_COMPLETING_S. */
static int jobs_undo(const struct undoing *undoing, const struct journal_entry *entry,
                     struct error *err)
{
    const char *name = entry->name;
    uid_t uid = *entry->rest ? (uid_t)strtoul(entry->rest, NULL, 10) : geteuid();
    double begin = clock_s(), canceled = 0;
    bool is_seen = false, is_down = false;

    for (;;) {
        double asked = clock_s();
        struct cluster_job *jobs;
        int count = undoing->operations->jobs(name, &jobs, err), left = 0, alive = 0;

        for (int i = 0; i < count; i++) {
            if (strcmp(jobs[i].name, name) != 0 || (jobs[i].uid != geteuid() && jobs[i].uid != uid))
                continue;
            is_seen = true;
            left++;
            if (!jobs[i].is_completing) {
                alive++;
                undoing->operations->job_cancel(jobs[i].id, err);
            }
        }
        free(jobs);
        if (count == 0 || (count > 0 && left == 0)) {
            if (is_seen || !undoing->is_late || clock_s() - begin > UNDO_LATE_S)
                return 0;
        } else if (clock_s() - begin > UNDO_GONE_S) {
            return count < 0 ? -1 : error_set(err, "job %s still exists", name);
        }
        if (left > 0 && alive == 0) {
            canceled = canceled > 0 ? canceled : clock_s();
            if (!is_down && clock_s() - canceled > UNDO_EPILOG_S) {
                silent_down(undoing);
                is_down = true;
            }
            if (clock_s() - canceled > UNDO_COMPLETING_S)
                return 0;
        }
        /* a controller with very many jobs takes its time for them: it is given as much to rest */
        usleep((useconds_t)(1e6 * fmax(0.1, fmin(1, clock_s() - asked))));
    }
}

/* Looks up the reservation, and its present nodes. *is_same: whether these are the nodes that it
 * was made with. Returns 1, 0 if there is none, or -1 with err. */
static int reservation_find(const struct undoing *undoing, const struct journal_entry *entry,
                            struct hostlist *nodes, bool *is_same, struct error *err)
{
    int found = undoing->operations->reservation(entry->name, nodes, NULL, err);
    char *folded = found == 1 ? hostlist_fold_for_slurm(nodes) : NULL, mark[24];

    *is_same = false;
    if (found != 1)
        return found;
    if (folded) {
        nodes_mark(folded, mark);
        *is_same = strcmp(mark, entry->rest) == 0;
    } else {
        found = error_set(err, "no memory");
        hostlist_clear(nodes);
    }
    free(folded);
    return found;
}

static int reservation_undo(const struct undoing *undoing, const struct journal_entry *entry,
                            struct error *err)
{
    double begin = clock_s();
    struct hostlist nodes = {0};

    for (;;) {
        bool is_same;
        int found = reservation_find(undoing, entry, &nodes, &is_same, err);
        char text[400];

        if (found == 1 && !is_same) {
            retest_reservation_changed(entry->name, &nodes, text);
            undoing_report(undoing, "%s", text);
            if (undoing->changed)
                hostlist_append(undoing->changed, entry->name);
        }
        hostlist_clear(&nodes);
        if (found == 0 || (found == 1 && !is_same) ||
            (found == 1 && undoing->operations->unreserve(entry->name, err) == 0))
            return 0;
        if (clock_s() - begin > UNDO_GONE_S)
            return -1;
        usleep(200000);
    }
}

/* The nodes of the run's reservations. */
struct held {
    struct hostlist whole; /* of the reservations that nobody has changed */
    struct hostlist now;   /* of all reservations that exist */
    bool is_any;           /* a reservation exists */
};

static int held_add(const struct hostlist *nodes, struct hostlist *held, struct error *err)
{
    return hostlist_append_all(held, (const char *const *)nodes->names, nodes->count) == 0
               ? 0
               : error_set(err, "no memory");
}

static int held_find(const struct undoing *undoing, struct held *held, struct error *err)
{
    const char *line = undoing->text;
    struct journal_entry entry;
    int rv = 0;

    while (rv == 0 && journal_next(&line, &entry)) {
        struct hostlist nodes = {0};
        bool is_same;
        int found;

        if (strcmp(entry.verb, "reservation") != 0)
            continue;
        found = reservation_find(undoing, &entry, &nodes, &is_same, err);
        held->is_any |= found == 1;
        rv = found < 0 ? -1 : held_add(&nodes, &held->now, err);
        if (rv == 0 && is_same)
            rv = held_add(&nodes, &held->whole, err);
        hostlist_clear(&nodes);
    }
    return rv;
}

static void held_clear(struct held *held)
{
    hostlist_clear(&held->whole);
    hostlist_clear(&held->now);
}

/* What is to be restored: drains first; a mark is removed only once the node has its drain. */
struct restoring {
    const char *run; /* as in struct undoing */
    struct cluster cluster;
    struct held held;
    struct batch drains, comments;
    struct error *err;
    int rv;
};

/* Returns whether the node has the run's own mark. With that of another run, that run tests the
 * node now: it has cleaned up after this one before. */
static bool is_marked(const struct restoring *restoring, const struct cluster_node *node)
{
    char run[64];

    return retest_read(node, run, NULL) && strcmp(run, restoring->run) == 0;
}

static void unmark_add(struct restoring *restoring, const struct cluster_node *node)
{
    if (is_marked(restoring, node) &&
        retest_unmark(node, &restoring->comments, restoring->err) != 0)
        restoring->rv = -1;
}

static void drain_done(const char *name, const char *reason, const struct error *err, void *context)
{
    struct restoring *restoring = context;

    (void)reason;
    if (!err)
        unmark_add(restoring, cluster_node(&restoring->cluster, name));
}

/* Returns whether a node in service is still as the run left it; why: the message if it is not. */
static bool is_left(const struct restoring *restoring, const struct cluster_node *node,
                    const char *reason, char why[400])
{
    const struct held *held = &restoring->held;

    if (held->is_any && !hostlist_contains(&held->now, node->name)) {
        retest_node_freed(node->name, why);
        return false;
    }
    snprintf(why, 400, "%.200s left unchanged: it is in service without the run's mark",
             node->name);
    return is_marked(restoring, node) || hostlist_contains(&held->whole, node->name) ||
           strcmp(node->reason, reason) == 0;
}

/* Drains a node again that was to be tested and did not get that far. */
static void node_undo(const struct undoing *undoing, const struct journal_entry *entry,
                      struct restoring *restoring)
{
    const struct cluster_node *node = cluster_node(&restoring->cluster, entry->name);
    char why[400];

    if (!node)
        return;
    if (!node->is_drained && is_left(restoring, node, entry->rest, why)) {
        if (batch_add(&restoring->drains, entry->name, entry->rest) != 0)
            restoring->rv = error_set(restoring->err, "no memory");
        return;
    }
    if (!node->is_drained)
        undoing_report(undoing, "%s", why);
    unmark_add(restoring, node);
}

static int nodes_undo(const struct undoing *undoing, struct error *err)
{
    struct restoring restoring = {.run = undoing->run, .err = err};
    const char *line = undoing->text;
    bool is_loaded = false;
    struct journal_entry entry;

    while (journal_next(&line, &entry)) {
        if (strcmp(entry.verb, "resume") != 0 || journal_has(undoing->text, "settled", entry.name))
            continue;
        if (!is_loaded && (undoing->operations->load_nodes(&restoring.cluster, err) != 0 ||
                           held_find(undoing, &restoring.held, err) != 0)) {
            restoring.rv = -1;
            break;
        }
        is_loaded = true;
        node_undo(undoing, &entry, &restoring);
    }
    if (batch_apply(&restoring.drains, undoing->operations->drain, drain_done, &restoring, err) !=
            0 ||
        batch_apply(&restoring.comments, undoing->operations->set_comment, NULL, NULL, err) != 0)
        restoring.rv = -1;
    batch_clear(&restoring.comments);
    held_clear(&restoring.held);
    cluster_clear(&restoring.cluster);
    return restoring.rv;
}

/* Revokes what was to be revoked; what has been revoked up to a later time stays so. */
static int revocations_make(const struct undoing *undoing, struct error *err)
{
    struct cluster cluster = {0};
    struct batch comments = {0};
    const char *line = undoing->text;
    bool is_loaded = false;
    struct journal_entry entry;
    int rv = 0;

    while (rv == 0 && journal_next(&line, &entry)) {
        time_t until = (time_t)strtoll(entry.rest, NULL, 10);
        const struct cluster_node *node;
        const char *comment;
        char *revoked;

        if (strcmp(entry.verb, "revoke") != 0 || journal_has(undoing->text, "revoked", entry.name))
            continue;
        if (!is_loaded && undoing->operations->load_nodes(&cluster, err) != 0)
            return -1;
        is_loaded = true;
        node = cluster_node(&cluster, entry.name);
        comment = node && node->comment ? node->comment : "";
        if (!node || revocation_read(comment) >= until)
            continue;
        revoked = revocation_put(comment, until);
        if (!revoked || batch_add(&comments, entry.name, revoked) != 0)
            rv = error_set(err, "no memory");
        undoing_report(undoing, "%s: its certificate is revoked, as the run meant to", entry.name);
        free(revoked);
    }
    if (batch_apply(&comments, undoing->operations->set_comment, NULL, NULL, err) != 0)
        rv = -1;
    batch_clear(&comments);
    cluster_clear(&cluster);
    return rv;
}

/* Undoes each entry of the journal that has the verb. */
static int each_undo(const struct undoing *undoing, const char *verb, struct error *err)
{
    const char *line = undoing->text;
    struct journal_entry entry;
    int rv = 0;

    while (journal_next(&line, &entry))
        if (strcmp(entry.verb, verb) == 0 &&
            (strcmp(verb, "job") == 0 ? jobs_undo(undoing, &entry, err)
                                      : reservation_undo(undoing, &entry, err)) != 0)
            rv = -1;
    return rv;
}

/* Undoes the journal. Jobs come first: a reservation in use cannot be deleted. Reservations come
 * last: nodes must not become free for others before they are drained again. If a node could not be
 * drained again, the reservations stay. */
static int text_undo(const struct undoing *undoing, struct error *err)
{
    int rv = each_undo(undoing, "job", err);

    if (revocations_make(undoing, err) != 0 || nodes_undo(undoing, err) != 0)
        return -1;
    return each_undo(undoing, "reservation", err) != 0 ? -1 : rv;
}

static int journal_undo(const struct undo *undo, bool is_late, void (*report)(const char *text),
                        struct error *err)
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
    rv = text_undo(&(struct undoing){.operations = undo->operations,
                                     .text = text,
                                     .run = undo->run,
                                     .is_late = is_late,
                                     .report = report},
                   err);
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
keeper_run(const struct undo *undo, const char *hidden, int pipe, int argc, char **argv)
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
    for (int fd = 3; fd < 1024; fd++) /* the pipe's other end among them */
        if (fd != pipe && fd != undo->journal)
            close(fd);
    name_set(argc, argv, "muster-keeper");
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

static void no_place(const char *directory, struct error *err)
{
    error_set(err,
              "no journal in %s (%m): if this run and its keeper are both killed, nothing cleans "
              "up after them",
              directory);
}

int undo_begin(const struct cluster_operations *operations, const char *directory, const char *run,
               const char *cluster, int argc, char **argv, struct undo *undo, struct error *err)
{
    char hidden[sizeof undo->path], host[256];
    int ends[2];

    *undo = (struct undo){operations, .journal = -1, .keeper_pipe = -1};
    snprintf(undo->run, sizeof undo->run, "%s", run);
    undo->journal = journal_create(directory, run, hidden, undo->path, sizeof undo->path);
    if (undo->journal < 0) {
        no_place(directory, err);
        undo->journal = memfd_create("muster-journal", MFD_CLOEXEC);
        if (undo->journal < 0 || write(undo->journal, "\n", 1) != 1) {
            error_set(err, "cannot keep a journal: %m");
            goto fail;
        }
    }
    host_name(host, sizeof host);
    if (journal_add(undo, "cluster", cluster, host, err) != 0)
        goto fail;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        error_set(err, "cannot start the keeper: %m");
        goto fail;
    }
    fflush(NULL);
    undo->keeper = fork();
    if (undo->keeper == 0)
        keeper_run(undo, hidden, ends[0], argc, argv);
    close(ends[0]);
    undo->keeper_pipe = ends[1];
    if (undo->keeper > 0) {
        /* Others see the journal with its lock, its first lines and its keeper: a journal that is
         * not locked is of a run that is gone. */
        if (*hidden && link(hidden, undo->path) != 0) {
            no_place(directory, err);
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
    close(undo->keeper_pipe); /* without the byte above the keeper undoes the rest */
    close(undo->journal);
    *undo = (struct undo){.journal = -1, .keeper_pipe = -1};
    return rv;
}

/* Returns whether the journal is of another host, whose run may live; first: its first line. */
static bool is_elsewhere(int journal, const char *text, struct journal_entry *first)
{
    struct stat status;
    char host[256];

    host_name(host, sizeof host);
    return journal_next(&text, first) && *first->rest && strcmp(first->rest, host) != 0 &&
           fstat(journal, &status) == 0 && time(NULL) - status.st_mtime < UNDO_OTHER_HOST_S;
}

/* Undoes a journal that was left. Returns 1; 0 if it is left as it is; -1 with err. */
static int leftover_undo(const struct cluster_operations *operations, int journal, const char *path,
                         const char *run, const char *cluster, void (*report)(const char *text),
                         struct hostlist *changed, struct error *err)
{
    char *text = journal_read(journal);
    struct undoing undoing = {operations, .text = text, .run = run, .report = report,
                              .changed = changed};
    struct journal_entry first;
    struct error why = {""};
    int rv = 0;

    if (!text) {
        rv = error_set(err, "cannot read %s: %m", path);
    } else if (journal_check(text, cluster, &why) != 0) {
        undoing_report(&undoing,
                       "%s, of a killed run, left unchanged: %.200s; next: undo its entries by "
                       "hand, then remove it",
                       path, why.text);
    } else if (is_elsewhere(journal, text, &first)) {
        undoing_report(&undoing,
                       "%s left unchanged: its run on %.100s may be alive; next: muster certify "
                       "there, or on any host after %d days",
                       path, first.rest, UNDO_OTHER_HOST_S / 86400);
    } else {
        undoing_report(&undoing, "cleaning up after run %.200s, which was killed", run);
        rv = text_undo(&undoing, err) == 0 ? 1 : -1;
    }
    if (rv == 1)
        unlink(path);
    free(text);
    return rv;
}

int undo_leftovers(const struct cluster_operations *operations, const char *directory,
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
            done = leftover_undo(operations, journal, path, entry->d_name, cluster, report, changed,
                                 err);
        count += done == 1;
        rv = done < 0 ? -1 : rv;
        close(journal);
    }
    closedir(runs);
    return rv == 0 ? count : -1;
}
