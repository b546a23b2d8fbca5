/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/suspects/suspect_reports.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/compare.h"
#include "lib/base/grow.h"
#include "lib/base/text.h"
#include "lib/base/write_all.h"

void suspect_reports_directory(const char *root, char *path, size_t size)
{
    snprintf(path, size, "%s%s", root, SUSPECT_REPORTS_DIRECTORY);
}

/* Whether it is a name that a node can have: letters, digits, '.', '-', '_', at most 63. */
static bool is_node_name(const char *name)
{
    return *name != '.' && text_is_name(name, "._-", sizeof((struct suspect_report *)0)->node);
}

void suspect_report_describe(const struct suspect_report *report, char *text, size_t size)
{
    char date[32];

    text_time(date, sizeof date, "%Y-%m-%d %H:%M UTC", report->made);
    snprintf(text, size, "a preflight of job %u, user %u, %s: %s%s%s: %s", report->job_id,
             (unsigned)report->uid, date, report->test, *report->part ? " " : "", report->part,
             report->message);
}

/* ---------------------------------------------------------------- leaving one */

int suspect_report_write(const char *directory, const struct suspect_report *report,
                         struct error *err)
{
    struct suspect_report line = *report;
    char path[4400], text[SUSPECT_REPORT_BYTES];
    int fd, length;

    if (!is_node_name(report->node))
        return error_set(err, "'%.64s' is not a node name", report->node);
    text_make_ascii(line.test);
    text_make_ascii(line.part);
    text_make_ascii(line.message);
    snprintf(path, sizeof path, "%s/%u-%u-%s", directory, (unsigned)geteuid(), report->job_id,
             report->node);
    length = snprintf(text, sizeof text, "job: %u\nnode: %s\ntest: %s\npart: %s\nmessage: %s\n",
                      report->job_id, report->node, line.test, line.part, line.message);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return 1;
    if (fd < 0)
        return error_set(err, "%s: %m", path);
    if (write_all(fd, text, (size_t)length) != 0 || fsync(fd) != 0) {
        error_set(err, "%s: %m", path);
        close(fd);
        unlink(path);
        return -1;
    }
    close(fd);
    return 0;
}

/* ---------------------------------------------------------------- reading them */

/* Parses one "name: value" line. A name that a newer muster may write is passed over. Returns
 * whether it is such a line. */
static bool line_parse(char *line, struct suspect_report *report)
{
    const struct {
        const char *name;
        char *value;
        size_t size;
    } fields[] = {{"node", report->node, sizeof report->node},
                  {"test", report->test, sizeof report->test},
                  {"part", report->part, sizeof report->part},
                  {"message", report->message, sizeof report->message}};
    char *colon = strstr(line, ": "), *end;

    if (!colon)
        return false;
    *colon = '\0';
    if (strcmp(line, "job") == 0) {
        report->job_id = (uint32_t)strtoul(colon + 2, &end, 10);
        return *end == '\0' && end != colon + 2;
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(line, fields[i].name) == 0) {
            snprintf(fields[i].value, fields[i].size, "%s", colon + 2);
            text_make_ascii(fields[i].value);
            return true;
        }
    return *line && strspn(line, "abcdefghijklmnopqrstuvwxyz_") == strlen(line);
}

static bool text_parse(char *text, struct suspect_report *report)
{
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        if (!line_parse(line, report))
            return false;
    }
    return is_node_name(report->node) && report->job_id > 0;
}

/* Returns whether the directory's entry is a suspect report. */
static bool entry_read(int directory, const char *name, struct suspect_report *report)
{
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char text[SUSPECT_REPORT_BYTES + 1], expected[160];
    struct stat status;
    ssize_t length = -1;

    *report = (struct suspect_report){0};
    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
        status.st_size <= SUSPECT_REPORT_BYTES)
        length = read(fd, text, SUSPECT_REPORT_BYTES);
    close(fd);
    if (length <= 0 || memchr(text, '\0', (size_t)length))
        return false;
    text[length] = '\0';
    report->uid = status.st_uid;
    report->made = status.st_mtime;
    if (!text_parse(text, report))
        return false;
    snprintf(expected, sizeof expected, "%u-%u-%s", (unsigned)report->uid, report->job_id,
             report->node);
    return strcmp(name, expected) == 0;
}

static int oldest_first(const void *left, const void *right)
{
    const struct suspect_report *a = left, *b = right;

    return COMPARE(a->made, b->made) ?: strcmp(a->node, b->node);
}

/* Opens the directory. Returns NULL if there is none, or with err if it cannot be opened. */
static DIR *directory_open(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;

    if (!directory && errno != ENOENT)
        error_set(err, "%s: %m", path);
    if (!directory && fd >= 0)
        close(fd);
    return directory;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Returns how many entries that are no suspect reports may be removed in one reading: none in a
 * directory that is not the one of all users, and else a bounded number, as users go on to leave
 * more. */
static int clearing_begin(int directory)
{
    struct stat status;

    return fstat(directory, &status) == 0 && (status.st_mode & 07777) == 01733
               ? SUSPECT_REPORTS_CLEARED
               : 0;
}

/* Empties a directory. A directory below it that is not empty is moved beside it, named by the next
 * number. */
static void directory_empty(int parent, const char *name, unsigned *number, int *left)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    if (!stream && fd >= 0)
        close(fd);
    while (stream && *left > 0 && (entry = readdir(stream))) {
        char moved[32];

        if (is_dots(entry->d_name))
            continue;
        --*left;
        if (unlinkat(fd, entry->d_name, 0) == 0 || unlinkat(fd, entry->d_name, AT_REMOVEDIR) == 0 ||
            errno != ENOTEMPTY)
            continue;
        snprintf(moved, sizeof moved, ".%u", *number + 1);
        *number += renameat2(fd, entry->d_name, parent, moved, RENAME_NOREPLACE) == 0;
    }
    if (stream)
        closedir(stream);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* Removes a directory with all that is in it; mount points stay. A chain of directories needs no
 * recursion. */
static void directory_clear(int parent, const char *name, int *left)
{
    unsigned number = 0;

    if (*left <= 0)
        return;
    --*left;
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY)
        return;
    directory_empty(parent, name, &number, left);
    for (unsigned i = 1; i <= number && *left > 0; i++) {
        char moved[32];

        snprintf(moved, sizeof moved, ".%u", i);
        directory_empty(parent, moved, &number, left);
    }
}

/* Returns the next entry that may be a suspect report; NULL at the end, or when *seen has come to
 * SUSPECT_REPORTS_SEEN. Directories are no reports and do not count; they are removed as long as
 * *left allows. */
static const struct dirent *entry_next(DIR *stream, int *seen, int *left)
{
    const struct dirent *entry;

    while (*seen < SUSPECT_REPORTS_SEEN && (entry = readdir(stream))) {
        if (is_dots(entry->d_name))
            continue;
        if (entry->d_type != DT_DIR) {
            ++*seen;
            return entry;
        }
        directory_clear(dirfd(stream), entry->d_name, left);
    }
    return NULL;
}

/* A file that may be a suspect report: what is known of it without opening it. */
struct candidate {
    uid_t uid;
    time_t made;
    size_t nth; /* index among its owner's files, the newest is 0 */
    char name[96];
};

static int by_owner_newest_first(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    return COMPARE(a->uid, b->uid) ?: COMPARE(b->made, a->made) ?: strcmp(a->name, b->name);
}

static int in_turns(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    return COMPARE(a->nth, b->nth) ?: by_owner_newest_first(left, right);
}

/* Returns whether it may be a suspect report: of the right kind, size, age and name. */
static bool candidate_read(int directory, const char *name, struct candidate *candidate)
{
    struct stat status;
    char expected[16];

    if (*name == '.' || strlen(name) >= sizeof candidate->name ||
        fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode) ||
        status.st_nlink != 1 || status.st_size > SUSPECT_REPORT_BYTES || status.st_size == 0 ||
        status.st_mtime < time(NULL) - SUSPECT_REPORT_AGE_S)
        return false;
    snprintf(expected, sizeof expected, "%u-", (unsigned)status.st_uid);
    if (strncmp(name, expected, strlen(expected)) != 0)
        return false;
    *candidate = (struct candidate){.uid = status.st_uid, .made = status.st_mtime};
    strcpy(candidate->name, name);
    return true;
}

/* Returns whether the file is being written: it is empty for a moment then. Call it before the file
 * is read, as it may be whole by then. */
static bool is_being_left(int directory, const char *name)
{
    struct stat status;

    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
           status.st_size == 0 && status.st_ctime >= time(NULL) - 1;
}

/* Removes an entry that is no suspect report: it would take the place of one. */
static void junk_clear(int directory, const char *name, int *left)
{
    if (*left <= 0)
        return;
    --*left;
    unlinkat(directory, name, 0);
}

/* Sorts the candidates in the order in which they are read. Returns how many of them are read. */
static size_t candidates_order(struct candidate *candidates, size_t count)
{
    size_t wanted = 0;

    qsort(candidates, count, sizeof *candidates, by_owner_newest_first);
    for (size_t i = 1; i < count; i++)
        if (candidates[i].uid == candidates[i - 1].uid)
            candidates[i].nth = candidates[i - 1].nth + 1;
    qsort(candidates, count, sizeof *candidates, in_turns);
    while (wanted < count && wanted < SUSPECT_REPORTS_MAX &&
           candidates[wanted].nth < SUSPECT_REPORTS_OF_USER)
        wanted++;
    return wanted;
}

/* Counts the candidates from first on, and removes them if anything may be removed. The last of
 * them belongs to the user who has left most. */
static void overflow_clear(int directory, const struct candidate *candidates, size_t first,
                           size_t count, bool is_cleared, struct suspect_reports_overflow *overflow)
{
    for (size_t i = first; i < count && is_cleared; i++)
        unlinkat(directory, candidates[i].name, 0);
    overflow->files = count - first;
    overflow->uid = count > first ? candidates[count - 1].uid : 0;
}

int suspect_reports_read(const char *directory, struct suspect_report **reports,
                         struct suspect_reports_overflow *overflow, struct error *err)
{
    struct error none = {""};
    DIR *stream = directory_open(directory, &none);
    struct candidate *candidates = NULL;
    const struct dirent *entry;
    size_t count = 0, wanted, found = 0;
    bool has_memory = true, is_cleared;
    int seen = 0, left;

    *reports = NULL;
    *overflow = (struct suspect_reports_overflow){0};
    if (!stream)
        return *none.text ? error_set(err, "%s", none.text) : 0;
    left = clearing_begin(dirfd(stream));
    is_cleared = left > 0;
    while (has_memory && (entry = entry_next(stream, &seen, &left))) {
        bool is_begun = is_being_left(dirfd(stream), entry->d_name);
        struct candidate candidate;

        if (!candidate_read(dirfd(stream), entry->d_name, &candidate)) {
            if (!is_begun)
                junk_clear(dirfd(stream), entry->d_name, &left);
            continue;
        }
        has_memory = GROW(candidates, count);
        if (has_memory)
            candidates[count++] = candidate;
    }
    *reports = calloc(SUSPECT_REPORTS_MAX, sizeof **reports);
    has_memory = has_memory && *reports;
    wanted = has_memory && count > 0 ? candidates_order(candidates, count) : 0;
    for (size_t i = 0; i < wanted; i++)
        found += entry_read(dirfd(stream), candidates[i].name, &(*reports)[found]);
    if (has_memory)
        overflow_clear(dirfd(stream), candidates, wanted, count, is_cleared, overflow);
    closedir(stream);
    free(candidates);
    if (!has_memory) {
        free(*reports);
        *reports = NULL;
        return error_set(err, "%s: out of memory", directory);
    }
    qsort(*reports, found, sizeof **reports, oldest_first);
    return (int)found;
}

int suspect_reports_remove(const char *directory, char *const *nodes, size_t count,
                           struct error *err)
{
    struct error none = {""};
    DIR *stream = directory_open(directory, &none);
    const struct dirent *entry;
    int removed = 0, seen = 0, left;

    if (!stream)
        return *none.text ? error_set(err, "%s", none.text) : 0;
    left = clearing_begin(dirfd(stream));
    while ((entry = entry_next(stream, &seen, &left))) {
        bool is_begun = is_being_left(dirfd(stream), entry->d_name), is_meant = false;
        struct suspect_report report;

        if (!entry_read(dirfd(stream), entry->d_name, &report)) {
            if (!is_begun)
                junk_clear(dirfd(stream), entry->d_name, &left);
            continue;
        }
        for (size_t i = 0; i < count && !is_meant; i++)
            is_meant = strcmp(nodes[i], report.node) == 0;
        removed += is_meant && unlinkat(dirfd(stream), entry->d_name, 0) == 0;
    }
    closedir(stream);
    return removed;
}

/* Prints a word; tabs, newlines and other control characters become blanks. */
static void print_word(FILE *stream, const char *word, char end)
{
    for (; *word; word++)
        fputc((unsigned char)*word < 0x20 ? ' ' : *word, stream);
    fputc(end, stream);
}

void suspect_report_print(FILE *stream, const char *holder, const char *node, uint32_t job_id,
                          const char *test, const char *part, const char *message)
{
    fprintf(stream, "%s\t%s\t%u\t", holder, node, job_id);
    print_word(stream, test, '\t');
    print_word(stream, part, '\t');
    print_word(stream, message, '\n');
}
