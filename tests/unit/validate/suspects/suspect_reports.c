/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/suspects/suspect_reports.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* Any user can write suspect reports, and root reads them. A report that was left must be read,
 * and nothing else may be believed. */

static char directory[256];
static struct suspect_report *reports;
static struct suspect_reports_overflow overflow;

static const char *path_in(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* Writes a report about the node as this user, named as suspect_report_write() names it. */
static void put_report(unsigned job, const char *node, const char *text)
{
    char name[128];

    snprintf(name, sizeof name, "%u-%u-%s", (unsigned)geteuid(), job, node);
    tree_put(directory, name, text);
}

static int count_reports(void)
{
    free(reports);
    return suspect_reports_read(directory, &reports, &overflow, NULL);
}

#define count_with_report(job, node, text, ...)                                                    \
    (put_report(job, node, text), is_int(count_reports(), __VA_ARGS__))

static void remove_reports(void)
{
    char *nodes[] = {(char *)"n1", (char *)"n2", (char *)"n3"};

    suspect_reports_remove(directory, nodes, 3, NULL);
}

static void test_write_and_read(void)
{
    struct suspect_report report = {.job_id = 12};
    struct error err = {""};
    char text[512];

    snprintf(report.node, sizeof report.node, "n3");
    snprintf(report.test, sizeof report.test, "links");
    snprintf(report.part, sizeof report.part, "eth1");
    snprintf(report.message, sizeof report.message, "eth1\nnode: n9\x1b[31m \xc3\xa9");
    is_int(suspect_report_write(directory, &report, &err), 0, "a suspect report is written (%s)",
           err.text);
    is_int(suspect_report_write(directory, &report, &err), 1, "... once for each job and node");
    is_int(count_reports(), 1, "the report is read");
    is_int(reports[0].uid, geteuid(), "... with its owner");
    is_int(reports[0].job_id, 12, "... job");
    is_str(reports[0].node, "n3", "... its node, which its message cannot change");
    is_str(reports[0].part, "eth1", "... part");
    is_str(reports[0].message, "eth1?node: n9?[31m ??",
           "... and its message without control characters");
    reports[0].made = 1763728200;
    suspect_report_describe(&reports[0], text, sizeof text);
    has_str(text, "a preflight of job 12, user ", "a description has the report's job and user");
    has_str(text, ", 2025-11-21 12:30 UTC: links eth1: eth1?", "... its time, test and part");
    snprintf(report.node, sizeof report.node, "../n3");
    is_int(suspect_report_write(directory, &report, &err), -1, "a path is no node name");
    is_str(err.text, "'../n3' is not a node name", "... and is refused");
    remove_reports();
    is_int(count_reports(), 0, "suspect reports are removed");
}

static void test_refused_reports(void)
{
    char long_text[SUSPECT_REPORT_BYTES + 100];
    const char *good = "job: 5\nnode: n1\ntest: t\npart: p\nmessage: m\n";
    char name[64], other[64], path[512];

    count_with_report(5, "n1", good, 1, "a report written by hand is accepted");
    count_with_report(5, "n1", "job: 5\nnode: n1\nuid: 0\nnode_address: 10.0.0.1\nmessage: m\n", 1,
                      "a report with lines of a later version is accepted");
    is_int(reports[0].uid, geteuid(), "... these lines are ignored");
    is_str(reports[0].message, "m", "... and hide no other line");
    put_report(5, "n1", good);
    snprintf(name, sizeof name, "%u-5-n1", (unsigned)geteuid());
    snprintf(other, sizeof other, "%u-6-n1", (unsigned)geteuid());

    snprintf(path, sizeof path, "%s", path_in(other));
    ok(link(path_in(name), path) == 0 && count_reports() == 0, "a file with two links is refused");
    unlink(path);
    count_with_report(5, "n1", good, 1, "... with one link it is accepted again");
    snprintf(path, sizeof path, "%s", path_in("7-5-n1"));
    ok(rename(path_in(name), path) == 0 && count_reports() == 0,
       "a file named after another user is refused");
    remove_reports();

    count_with_report(6, "n1", good, 0, "a file named after another job is refused");
    count_with_report(5, "n2", good, 0, "... and so is one named after another node");
    remove_reports();
    count_with_report(5, "n1", "", 0, "an empty file is refused");
    count_with_report(5, "n1", "job: 5\nnode: n1\nno line\n", 0, "an invalid line is refused");
    count_with_report(5, "n1", "job: 5\nnode: n1\nUid?: 0\n", 0, "... and so is an invalid key");
    count_with_report(5, "n1", "job: 5x\nnode: n1\n", 0, "a job that is no number is refused");
    count_with_report(5, "n1", "job: 5\n", 0, "a report without a node is refused");
    memset(long_text, 'm', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    memcpy(long_text, "job: 5\nnode: n1\nmessage: ", 25);
    count_with_report(5, "n1", long_text, 0, "a file that is too long is refused");
    remove_reports();
    is_int(access(path_in(name), F_OK), -1, "refused files are removed with the others");

    ok(symlink("/etc/passwd", path_in(name)) == 0 && count_reports() == 0,
       "a symbolic link is refused");
    unlink(path_in(name));
    ok(mkfifo(path_in(name), 0600) == 0 && count_reports() == 0,
       "a FIFO is refused and does not block");
    unlink(path_in(name));
    ok(mkdir(path_in(name), 0700) == 0 && count_reports() == 0, "a directory is refused");
    rmdir(path_in(name));
}

static void test_limits(void)
{
    char text[128];

    for (unsigned job = 1; job <= SUSPECT_REPORTS_OF_USER + 5; job++) {
        snprintf(text, sizeof text, "job: %u\nnode: n1\n", job);
        put_report(job, "n1", text);
    }
    is_int(count_reports(), SUSPECT_REPORTS_OF_USER, "the reports of one user are limited");
    is_int((long)overflow.files, 5, "... the excess is counted");
    is_int(count_reports(), SUSPECT_REPORTS_OF_USER, "... and removed");
    is_int((long)overflow.files, 0, "... at once");
    remove_reports();
    is_int(count_reports(), 0, "... all are removed");
}

/* One user's junk files have names of suspect reports and are new. Reports of other users are
 * older. */
static void reads_reports_beside_junk(void)
{
    enum { JUNK = 20000, USERS = 20 };
    char name[64];
    int junk = 0;

    if (geteuid() != 0) {
        ok(true, "other users # SKIP needs root");
        return;
    }
    for (unsigned i = 1; i <= JUNK; i++) {
        snprintf(name, sizeof name, "7-%u-n1", i);
        tree_put(directory, name, "junk");
        junk += chown(path_in(name), 7, 7) == 0;
    }
    is_int(junk, JUNK, "a user writes %d junk files", JUNK);
    for (unsigned uid = 1000; uid < 1000 + USERS; uid++) {
        const struct timespec times[2] = {{.tv_sec = time(NULL) - 3600},
                                          {.tv_sec = time(NULL) - 3600}};

        snprintf(name, sizeof name, "%u-5-n1", uid);
        tree_put(directory, name, "job: 5\nnode: n1\ntest: t\n");
        junk += chown(path_in(name), uid, uid) == 0 &&
                utimensat(AT_FDCWD, path_in(name), times, 0) == 0;
    }
    is_int(count_reports(), USERS, "... which hide no report of other users");
    is_int((long)overflow.files, JUNK - SUSPECT_REPORTS_OF_USER, "... are counted");
    is_int(overflow.uid, 7, "... with their owner");
    remove_reports();
    is_int(count_reports(), 0, "... and removed");
    tree_put(directory, "0-9-n1", "job: 9\nnode: n1\n");
    is_int(utimensat(AT_FDCWD, path_in("0-9-n1"),
                     (const struct timespec[]){{.tv_sec = 1}, {.tv_sec = 1}}, 0),
           0, "a very old report");
    is_int(count_reports(), 0, "... is not read any more");
    remove_reports();
}

/* Any user can make directories, which root cannot remove while they contain files. */
static void reads_reports_beside_directories(void)
{
    enum { DIRECTORIES = 5000, REPORTS = 8 };
    char name[64];

    for (int i = 0; i < DIRECTORIES; i++) {
        snprintf(name, sizeof name, "d%d", i);
        mkdir(path_in(name), 0700);
    }
    for (unsigned i = 1; i <= REPORTS; i++) {
        snprintf(name, sizeof name, "job: %u\nnode: n1\ntest: t\n", i);
        put_report(i, "n1", name);
    }
    is_int(count_reports(), REPORTS, "%d directories hide none of the suspect reports",
           DIRECTORIES);
    remove_reports();
    is_int(count_reports(), 0, "... and do not prevent their removal");
    for (int i = 0; i < DIRECTORIES; i++) {
        snprintf(name, sizeof name, "d%d", i);
        rmdir(path_in(name));
    }
}

static int count_entries(void)
{
    DIR *stream = opendir(directory);
    int found = -2; /* minus . and .. */

    while (stream && readdir(stream))
        found++;
    if (stream)
        closedir(stream);
    return found;
}

/* Files that are no suspect report, or no longer one, are removed when reports are read, since
 * they take the place of others. */
static void removes_what_is_no_report(void)
{
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    char name[64];

    for (unsigned i = 1; i <= 20; i++) {
        snprintf(name, sizeof name, "%u-%u-n1", (unsigned)geteuid(), i);
        put_report(i, "n1", "job: 5\nnode: n1\n");
        utimensat(AT_FDCWD, path_in(name), old, 0);
        snprintf(name, sizeof name, "d%u", i);
        mkdir(path_in(name), 0700);
    }
    mkdir(path_in("d1/below"), 0700);
    put_report(50, "n1", "");
    ok(symlink("/etc/passwd", path_in("link")) == 0 && mkfifo(path_in("fifo"), 0600) == 0,
       "old files, directories and special files");
    is_int(count_entries(), 43, "... are there");
    is_int(count_reports(), 0, "... none is a suspect report");
    is_int(count_entries(), 1, "... and all are removed but a report that may still be written");
    is_int(access("/etc/passwd", F_OK), 0, "... and not the target of a link");
    remove_reports();
    is_int(count_entries(), 1, "... which also stays when others are removed");
    count_with_report(50, "n1", "job: 50\nnode: n1\ntest: t\n", 1,
                      "... and is read once it is complete");
    remove_reports();
}

/* A directory other than the shared one may be anything, such as /etc or a recorded tree. */
static void leaves_other_directories_alone(void)
{
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    struct error err;
    char *nodes[] = {(char *)"n1"};
    char name[64];

    snprintf(name, sizeof name, "%u-1-n1", (unsigned)geteuid());
    put_report(1, "n1", "job: 1\nnode: n1\n");
    utimensat(AT_FDCWD, path_in(name), old, 0);
    mkdir(path_in("d1"), 0700);
    mkdir(path_in("d1/below"), 0700);
    put_report(2, "n2", "none");
    snprintf(name, sizeof name, "%u-2-n2", (unsigned)geteuid());
    utimensat(AT_FDCWD, path_in(name), old, 0);
    is_int(count_entries(), 3, "a directory with another mode");
    is_int(count_reports(), 0, "... has no suspect reports");
    is_int(count_entries(), 3, "... and reading removes nothing");
    is_int(suspect_reports_remove(directory, nodes, 1, &err), 1, "a named report");
    is_int(count_entries(), 2, "... is removed, and nothing else");
    chmod(directory, 01733);
    remove_reports();
    is_int(count_entries(), 0, "in the shared directory other files are removed, too");
    chmod(directory, 0700);
}

static void test_directories(void)
{
    struct error err = {""};
    char path[256];

    free(reports);
    is_int(suspect_reports_read("/no/such/directory", &reports, &overflow, &err), 0,
           "without a directory there are no suspect reports");
    ok(reports == NULL, "... and no memory is allocated");
    is_int(suspect_reports_read("/dev/null", &reports, &overflow, &err), -1,
           "a file instead of the directory is an error");
    has_str(err.text, "/dev/null: ", "... with its path");
    suspect_reports_directory("/root", path, sizeof path);
    is_str(path, "/root/run/muster/suspects", "the path of the directory");
}

int main(void)
{
    snprintf(directory, sizeof directory, "/tmp/muster-suspects-XXXXXX");
    if (!mkdtemp(directory))
        return 255;
    leaves_other_directories_alone();
    chmod(directory, 01733);
    test_write_and_read();
    test_refused_reports();
    test_limits();
    reads_reports_beside_junk();
    reads_reports_beside_directories();
    removes_what_is_no_report();
    test_directories();
    free(reports);
    rmdir(directory);
    return tap_done();
}
