/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/undo/undo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/node_name.h"
#include "lib/base/text.h"
#include "lib/constants/slurm_constants.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/tap.h"
#include "validate/slurm/operations.h"
#include "validate/slurm/undo/journal.h"

/* A run's journal, and what is undone from it on a made-up cluster. */

static char directory[] = "/tmp/muster-undo-XXXXXX";
static int writes_refused; /* number of writes that fail with a full disk */
static int unlocked_journals, unkept_journals, loads;
static char operations_text[256], messages[1000];
static struct hostlist changed; /* reservations that stay, from the last undo_leftover() */
static bool is_unreserved;
static const char *marked_by = "run"; /* the run that has marked n0 and n3 */
static struct cluster_job found_jobs[2];
static int found_count;

static void add_operation(const char *what, const char *name)
{
    text_join(operations_text, sizeof operations_text, "", "%s %s;", what, name);
}

static int load_nodes(struct cluster *cluster, struct error *err)
{
    *cluster = (struct cluster){0};
    loads++;
    return 0;
}

void cluster_clear(struct cluster *cluster)
{
}

/* n0 and n3 have marks. n4 is drained. n5 is in service with its old reason. n7, n8 and n9 do
 * not end their job: n8 is as muster drained it, an administrator has since drained n9, and n7
 * was resumed. */
struct cluster_node *cluster_node(const struct cluster *cluster, const char *name)
{
    static struct cluster_node node;
    static char five[] = "muster: five", eight[] = "muster: eight", rma[] = "RMA 4711", none[] = "",
                comment_3[64];

    snprintf(comment_3, sizeof comment_3, "x [muster %s: y]", marked_by);
    node = (struct cluster_node){.name = (char *)(size_t)name,
                                 .is_drained = strchr("489", name[1]) != NULL,
                                 .is_completing = strchr("789", name[1]) != NULL,
                                 .reason = strcmp(name, "n5") == 0   ? five
                                           : strcmp(name, "n8") == 0 ? eight
                                           : strcmp(name, "n9") == 0 ? rma
                                                                     : none,
                                 .comment = strchr("03", name[1]) ? comment_3 : NULL};
    return strcmp(name, "gone") == 0 ? NULL : &node;
}

/* The reservation r1 is as it was made. Somebody has given r2 other nodes. */
static int reservation(const char *name, struct hostlist *nodes, time_t *since, struct error *err)
{
    const char *found = strcmp(name, "r1") == 0   ? "n3,n[1-2],n4,gone"
                        : strcmp(name, "r2") == 0 ? "n[6-7]"
                                                  : NULL;

    *nodes = (struct hostlist){0};
    if (!found || is_unreserved)
        return 0;
    return hostlist_expand(found, nodes, err) == 0 ? 1 : -1;
}

static int drain(const char *nodes, const char *reason, struct error *err)
{
    add_operation(reason, nodes);
    return 0;
}

static int down(const char *nodes, const char *reason, struct error *err)
{
    add_operation("down", nodes);
    found_count = 0;
    return 0;
}

static int set_comment(const char *nodes, const char *comment, struct error *err)
{
    add_operation(comment, nodes);
    return 0;
}

static int unreserve(const char *name, struct error *err)
{
    add_operation("unreserve", name);
    return 0;
}

static int jobs_find(const char *prefix, struct cluster_job **jobs, struct error *err)
{
    *jobs = calloc(2, sizeof **jobs);
    if (*jobs)
        memcpy(*jobs, found_jobs, sizeof found_jobs);
    add_operation("jobs", prefix);
    return *jobs ? found_count : -1;
}

static int job_cancel(uint32_t id, struct error *err)
{
    add_operation("cancel", id == 7 ? "7" : "another");
    found_count = 1; /* the first of them is gone */
    found_jobs[0] = found_jobs[1];
    return 0;
}

static const struct cluster_operations operations = {.load_nodes = load_nodes,
                                                     .reservation = reservation,
                                                     .jobs = jobs_find,
                                                     .drain = drain,
                                                     .set_comment = set_comment,
                                                     .down = down,
                                                     .unreserve = unreserve,
                                                     .job_cancel = job_cancel};

/* Counts the journals that other runs see. */
static int count_journals(void)
{
    DIR *runs = opendir(directory);
    const struct dirent *entry;
    int count = 0;

    while (runs && (entry = readdir(runs)))
        count += entry->d_name[0] != '.';
    if (runs)
        closedir(runs);
    return count;
}

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation)
{
    unlocked_journals += count_journals();
    return __real_flock(fd, operation);
}

pid_t __real_fork(void);
pid_t __wrap_fork(void)
{
    unkept_journals += count_journals();
    return __real_fork();
}

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    if (writes_refused == 0)
        return __real_write(fd, data, size);
    writes_refused--;
    errno = ENOSPC;
    return -1;
}

static int syncs;
static bool is_full_later; /* a server's disk, which reports that it is full only at a sync */

int __wrap_fdatasync(int fd)
{
    struct stat status;

    syncs++;
    if (!is_full_later || (fstat(fd, &status) == 0 && status.st_nlink == 0))
        return 0;
    errno = EDQUOT;
    return -1;
}

int __wrap_usleep(useconds_t microseconds)
{
    now_s += microseconds / 1e6;
    return 0;
}

/* Returns whether the process names itself so within seconds. */
static bool is_named(pid_t process, const char *name)
{
    char path[64], arguments[256] = "";
    bool is_so = false;

    snprintf(path, sizeof path, "/proc/%d/cmdline", process);
    for (int i = 0; i < 1000 && !is_so; i++) {
        int file = open(path, O_RDONLY);

        (void)!read(file, arguments, sizeof arguments - 1);
        close(file);
        is_so = strcmp(arguments, name) == 0;
        poll(NULL, 0, 10);
    }
    return is_so;
}

static int run_begin(const char *name, struct undo *undo, struct error *err)
{
    return undo_begin(&operations, directory, name, "one", undo, err);
}

static void print_text(const char *text)
{
    text_join(messages, sizeof messages, "", "%s;", text);
}

static const char *killed_journal(void)
{
    static char path[64];

    snprintf(path, sizeof path, "%s/killed", directory);
    return path;
}

/* Writes the journal of a killed run and undoes it. Returns the number undone. */
static int undo_leftover(const char *text, size_t length)
{
    FILE *file = fopen(killed_journal(), "w");

    operations_text[0] = messages[0] = '\0';
    if (!file || fwrite(text, 1, length, file) != length || fclose(file) != 0)
        return -2;
    hostlist_clear(&changed);
    return undo_clean_up(&operations, directory, "one", print_text, &changed, NULL);
}

/* Checks a journal that is reported and not executed. */
static void check_stays(const char *text, const char *name, const char *why)
{
    is_int(undo_leftover(text, strlen(text)), 0, "%s", name);
    is_str(operations_text, "", "... is not executed");
    has_str(messages, why, "... a message says so");
    is_int(unlink(killed_journal()), 0, "... and stays in place");
}

static void test_leftovers(void)
{
    static const char torn[] = "\ncluster one\nresume n5 muster: five\nresume n3 must",
                      zeros[] = "\ncluster one\nresume n5 muster: five\n\0\0\0\0",
                      revoking[] = "\ncluster one\nrevoke n3 1764000000\nrevoke n2 1764000000\n"
                                   "revoked n2\nrevoke gone 1764000000\n",
                      freed[] = "\ncluster one\nreservation r1 0123456789abcdef\n"
                                "resume n3 muster: three\nresume n0 muster: zero\n",
                      altered[] = "\ncluster one\nreservation r2 0123456789abcdef\n"
                                  "resume n6 muster: six\n",
                      tested[] = "\ncluster one\nresume n3 muster: three\n";

    marked_by = "killed";
    check_stays("\ncluster two\njob j1\nresume n5 muster: five\n", "a journal of another cluster",
                "it belongs to cluster two, this is cluster one");
    check_stays("\njob j1\nresume n5 muster: five\n", "a journal that names no cluster",
                "its first line names no cluster");
    check_stays("", "an empty file", "its first line names no cluster");
    check_stays("\n\n", "one of blank lines", "");
    check_stays("notes of mine", "one line without an end, of somebody else", "");
    check_stays("\ncluster one\nresume n5 muster: five\nrm -rf\n", "a journal with an invalid line",
                "'rm -rf' is not a journal line");
    is_int(undo_leftover(torn, strlen(torn)), 1, "a journal whose last line is incomplete");
    is_str(operations_text, "muster: five n5;", "... is executed up to it");
    is_int(undo_leftover(zeros, sizeof zeros - 1), 1, "a journal that ends in zeros");
    is_str(operations_text, "muster: five n5;", "... is executed, too");
    is_int(count_journals(), 0, "... and removed");
    is_int((long long)changed.count, 0, "... with no reservation left");
    is_int(undo_leftover(revoking, strlen(revoking)), 1, "certificates that were to be revoked");
    is_str(operations_text,
           "[muster: certificates issued until 2025-11-24T16:00:00Z are revoked] "
           "x [muster killed: y] n3;",
           "... are, unless the run had done it");
    is_int(undo_leftover(altered, strlen(altered)), 1, "the reservation has other nodes now");
    is_str(operations_text, "", "... nothing is removed or drained");
    has_str(messages, "reservation r2 left unchanged: it contains n[6-7] now",
            "... a message says so");
    has_str(messages, "n6 left unchanged: it is in service without", "... also about the node");
    ok(hostlist_contains(&changed, "r2"), "... and the reservation is protected from removal");
    is_int(undo_leftover(freed, strlen(freed)), 1, "a node was removed from the reservation");
    is_str(operations_text, "muster: three n3;x n[0,3];",
           "... it stays in service, without its mark");
    has_str(messages, "n0 left unchanged: it was removed", "... a message says so");
    has_str(messages, "reservation r1 left unchanged: it contains ",
            "... also about the reservation");
    hostlist_clear(&changed);
    marked_by = "another";
    is_int(undo_leftover(tested, strlen(tested)), 1,
           "another run has restored the drain, and has lifted it for its own test");
    is_str(operations_text, "", "... the node is not drained, and keeps that run's mark");
    has_str(messages, "n3 left unchanged: it is in service without the run's mark",
            "... a message says so");
    marked_by = "run";
}

static void test_hosts(void)
{
    static const char other[] = "\ncluster one elsewhere\nresume n5 muster: five\n";
    struct timespec times[2] = {{.tv_sec = time(NULL) - UNDO_OTHER_HOST_S - 1}};
    struct error err = {""};
    char text[400], host[256];

    host_name(host, sizeof host);
    snprintf(text, sizeof text, "\ncluster one %s\nresume n5 muster: five\n", host);
    is_int(undo_leftover(text, strlen(text)), 1, "a journal of this host");
    is_str(operations_text, "muster: five n5;", "... is executed");
    is_int(undo_leftover(other, strlen(other)), 0,
           "a journal of another host, whose lock may be visible there only");
    is_str(operations_text, "", "... is not executed");
    has_str(messages, "/killed left unchanged: its run on elsewhere may be alive",
            "... a message says so");
    times[1] = times[0];
    is_int(utimensat(AT_FDCWD, killed_journal(), times, 0), 0, "a journal older than any run");
    is_int(undo_clean_up(&operations, directory, "one", print_text, NULL, &err), 1,
           "... is executed, as this host's name may have changed");
    is_str(operations_text, "muster: five n5;", "... like one of this host");
    is_int(count_journals(), 0, "... and removed");
}

static void test_jobs(void)
{
    struct undo undo;

    found_jobs[0] = (struct cluster_job){.id = 7, .name = "j1", .uid = geteuid()};
    found_jobs[1] = (struct cluster_job){.id = 8, .name = "j1", .uid = geteuid() + 1};
    found_count = 2;
    operations_text[0] = '\0';
    is_int(run_begin("jobs", &undo, NULL), 0, "a run with a job");
    undo_note_job(&undo, "j1", geteuid(), NULL);
    is_int(undo_end(&undo, print_text, NULL), 0, "... ends");
    is_str(operations_text, "jobs j1;cancel 7;jobs j1;",
           "... another user's job of that name is left alone");
    found_count = 0;
}

static void reports_what_others_have_changed(void)
{
    struct undo undo;

    operations_text[0] = messages[0] = '\0';
    is_int(run_begin("changed", &undo, NULL), 0, "a run whose reservation got other nodes");
    undo_note_reservation(&undo, "r2", "n1", NULL);
    is_int(undo_end(&undo, print_text, NULL), 0, "... ends");
    is_str(operations_text, "", "... and leaves it");
    has_str(messages, "reservation r2 left unchanged: it contains n[6-7] now",
            "... a message says so");
}

static void sets_down_what_is_still_as_muster_drained_it(void)
{
    struct undo undo;

    operations_text[0] = '\0';
    is_int(run_begin("down", &undo, NULL), 0, "a run whose job does not end on three nodes");
    undo_note_job(&undo, "j1", geteuid(), NULL);
    undo_note_down(&undo, "n7", "muster: seven", NULL);
    undo_note_down(&undo, "n8", "muster: eight", NULL);
    undo_note_down(&undo, "n9", "muster: nine", NULL);
    found_jobs[0] =
        (struct cluster_job){.id = 7, .name = "j1", .uid = geteuid(), .is_completing = true};
    found_count = 1;
    is_int(undo_end(&undo, print_text, NULL), 0, "... ends");
    has_str(operations_text, ";down n8;",
            "... it sets down its own drain, not nodes that others drained or resumed");
    found_count = 0;
}

static int resume_note(struct undo *undo, const char *node, const char *reason, struct error *err)
{
    struct batch drains = {0};
    int rv;

    batch_add(&drains, node, reason);
    rv = undo_note_resumes(undo, &drains, err);
    batch_clear(&drains);
    return rv;
}

static int settled_note(struct undo *undo, const char *node, struct error *err)
{
    struct batch nodes = {0};
    int rv;

    batch_add(&nodes, node, "");
    rv = undo_note_settled(undo, &nodes, err);
    batch_clear(&nodes);
    return rv;
}

/* A thousand syncs take seconds, during which nodes under test would be drained. */
static void notes_many_nodes_at_once(void)
{
    struct batch drains = {0}, two = {0};
    struct error err = {""};
    struct undo undo;
    char *text;

    run_begin("many", &undo, &err);
    batch_add(&drains, "n1", "muster: one");
    batch_add(&drains, "n2", "muster: two");
    batch_add(&drains, "n3", "muster: three");
    batch_add(&two, "n1", "");
    batch_add(&two, "n2", "");
    syncs = 0;
    is_int(undo_note_resumes(&undo, &drains, &err), 0, "drains of three nodes are noted");
    is_int(syncs, 1, "... with one sync");
    is_int(undo_note_settled(&undo, &two, &err), 0, "two of them are settled");
    is_int(syncs, 2, "... with one more sync");
    text = journal_read(undo.journal);
    has_str(text ? text : "",
            "\nresume n1 muster: one\nresume n2 muster: two\nresume n3 muster: three\n"
            "settled n1\nsettled n2\n",
            "... each has a line");
    free(text);
    batch_add(&drains, "n 4", "muster: four");
    is_int(undo_note_resumes(&undo, &drains, &err), -1,
           "a node name that a line cannot have is refused");
    is_int(syncs, 2, "... and so is its whole batch");
    batch_clear(&drains);
    batch_clear(&two);
    is_int(undo_end(&undo, NULL, &err), 0, "... and the run ends");
}

static void test_full(void)
{
    struct rlimit whole, full;
    struct error err = {""};
    struct stat before, after;
    struct undo undo;

    operations_text[0] = '\0';
    is_int(run_begin("full", &undo, &err), 0, "a run whose disk fills up");
    undo_note_reservation(&undo, "r1", "gone,n[1-4]", &err);
    resume_note(&undo, "n1", "muster: one", &err);
    resume_note(&undo, "n2", "muster: two", &err);
    fstat(undo.journal, &before);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &whole);
    full = (struct rlimit){(rlim_t)before.st_size + 8, whole.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
    is_int(resume_note(&undo, "n3", "muster: three", &err), -1,
           "a change that cannot be noted is not made");
    has_str(err.text, "cannot write the journal ", "... with the reason");
    fstat(undo.journal, &after);
    is_int((long)after.st_size, (long)before.st_size, "... and no partial line is left");
    is_int(settled_note(&undo, "n1", &err), 1, "a change already made that cannot be noted");
    is_int(settled_note(&undo, "n2", &err), 0, "... is reported once");
    setrlimit(RLIMIT_FSIZE, &whole);
    is_int(undo_note_job(&undo, "j1", geteuid(), &err), 0, "with space again notes continue");
    is_int(undo_end(&undo, print_text, &err), 0, "... to its end");
    is_str(operations_text, "jobs j1;unreserve r1;", "... and it undoes only what is to be undone");
    signal(SIGXFSZ, SIG_DFL);

    writes_refused = 1;
    is_int(run_begin("full", &undo, &err), 0, "a run whose disk is full from the beginning");
    is_str(undo.path, "", "... keeps its journal in memory");
    has_str(err.text, "(No space left on device)", "... and reports why");
    is_int(count_journals(), 0, "... nothing is left on the disk");
    is_int(settled_note(&undo, "n1", &err), 0, "... it notes its changes");
    resume_note(&undo, "n3", "muster: three", &err);
    operations_text[0] = '\0';
    marked_by = "another";
    is_int(undo_end(&undo, print_text, &err), 0, "... and ends");
    is_str(operations_text, "", "... and leaves a node that another run tests now");
    marked_by = "run";

    is_full_later = true;
    is_int(run_begin("quota", &undo, &err), 0, "a run whose disk is on a server and full");
    is_str(undo.path, "", "... keeps its journal in memory");
    has_str(err.text, "(Disk quota exceeded)", "... and reports why");
    is_int(count_journals(), 0, "... nothing is left on the disk");
    is_int(settled_note(&undo, "n1", &err), 0, "... it notes its changes");
    is_int(undo_end(&undo, print_text, &err), 0, "... and ends");
    is_full_later = false;
}

int main(void)
{
    struct undo undo, second;
    struct error err = {""};
    char command[64], host[256], line[300], *text;

    ok(mkdtemp(directory) != NULL, "a directory for journals is made");
    is_int(run_begin("run", &undo, &err), 0, "a run begins (%s)", err.text);
    is_int(unlocked_journals, 0, "its journal is locked before others see it");
    is_int(unkept_journals, 0, "... and has a keeper");
    ok(is_named(undo.keeper, "muster-keeper"), "... whose arguments are its own name");
    is_int(count_journals(), 1, "... and then they see it");
    is_int(undo_clean_up(&operations, directory, "one", print_text, NULL, &err), 0,
           "... and treat it as that of a live run");
    host_name(host, sizeof host);
    snprintf(line, sizeof line, "\ncluster one %s\n", host);
    text = journal_read(undo.journal);
    is_str(text ? text : "", line, "... it names this host");
    free(text);
    is_int(run_begin("run", &second, &err), 0, "another run with the same name");
    is_str(second.path, "", "... keeps its journal in memory");
    has_str(err.text, "no journal in ", "... and reports why");
    is_int(undo_end(&second, NULL, &err), 0, "the second ends");
    is_int(count_journals(), 1, "... and leaves the first one's journal");
    undo_note_reservation(&undo, "r1", "gone,n[1-4]", &err);
    undo_note_job(&undo, "j1", geteuid(), &err);
    resume_note(&undo, "n1", "muster: one", &err);
    resume_note(&undo, "n2", "muster: two", &err);
    resume_note(&undo, "n3", "muster: three", &err);
    resume_note(&undo, "n4", "muster: four", &err);
    resume_note(&undo, "gone", "muster: five", &err);
    resume_note(&undo, "n6", "muster: six", &err);
    settled_note(&undo, "n2", &err);
    is_int(undo_end(&undo, print_text, &err), 0, "the first ends");
    is_str(operations_text, "jobs j1;muster: one n1;muster: three n3;x n3;unreserve r1;",
           "... jobs first, then nodes that are not settled, then reservations");
    is_int(loads, 1, "... with one query of the nodes");
    is_int(count_journals(), 0, "... and no journal is left");
    test_leftovers();
    test_hosts();
    test_jobs();
    reports_what_others_have_changed();
    sets_down_what_is_still_as_muster_drained_it();
    test_full();
    notes_many_nodes_at_once();
    snprintf(command, sizeof command, "rmdir '%s'", directory);
    is_int(system(command), 0, "no file is left");
    return tap_done();
}
