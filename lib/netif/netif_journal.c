/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/netif/netif_journal.h"
#include "lib/base/clock.h"
#include "lib/base/grow.h"
#include "lib/base/memory_stream.h"
#include "lib/base/path.h"
#include "lib/base/regular_file.h"
#include "lib/base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "muster-interfaces 1"

void journal_clear(struct netif_journal *journal)
{
    for (size_t i = 0; i < journal->count; i++)
        free(journal->entries[i].jobs);
    free(journal->entries);
    *journal = (struct netif_journal){0};
}

struct netif_entry *journal_find(const struct netif_journal *journal, int index,
                                 enum netif_setting setting)
{
    for (size_t i = 0; i < journal->count; i++)
        if (journal->entries[i].index == index && journal->entries[i].setting == setting)
            return &journal->entries[i];
    return NULL;
}

struct netif_entry *journal_add(struct netif_journal *journal, const char *interface, int index,
                                enum netif_setting setting, long was, long set)
{
    struct netif_entry *entry;

    if (journal->count == JOURNAL_ENTRIES)
        return NULL;
    if (!GROW(journal->entries, journal->count))
        return NULL;
    entry = &journal->entries[journal->count++];
    *entry = (struct netif_entry){
        .index = index, .setting = setting, .was = was, .set = {set}, .set_count = 1};
    snprintf(entry->interface, sizeof entry->interface, "%s", interface);
    return entry;
}

void journal_remove(struct netif_journal *journal, struct netif_entry *entry)
{
    size_t at = (size_t)(entry - journal->entries);

    free(entry->jobs);
    journal->count--;
    memmove(entry, entry + 1, (journal->count - at) * sizeof *entry);
}

bool entry_add_job(struct netif_entry *entry, uint32_t job, bool *failed)
{
    uint32_t *jobs;

    for (size_t i = 0; i < entry->job_count; i++)
        if (entry->jobs[i] == job)
            return false;
    jobs =
        entry->job_count < JOURNAL_JOBS ? grow(entry->jobs, entry->job_count, sizeof *jobs) : NULL;
    if (!jobs) {
        *failed = true;
        return false;
    }
    entry->jobs = jobs;
    jobs[entry->job_count++] = job;
    return true;
}

bool entry_remove_job(struct netif_entry *entry, uint32_t job)
{
    for (size_t i = 0; i < entry->job_count; i++)
        if (entry->jobs[i] == job) {
            entry->jobs[i] = entry->jobs[--entry->job_count];
            return true;
        }
    return false;
}

/* Returns whether a process that was killed between two values may have left this value. The new
 * priorities of a DSCP are added one by one, then the old ones are removed. */
static bool is_intermediate(long value, long from, long to)
{
    bool has_all = (value & from) == from || (value & to) == to;

    return has_all && (value & ~(from | to)) == 0;
}

bool entry_is_own_value(const struct netif_entry *entry, long value)
{
    for (size_t i = 0; i < entry->set_count; i++) {
        if (entry->set[i] == value)
            return true;
        if (!netif_is_dscp(entry->setting))
            continue;
        if (is_intermediate(value, entry->was, entry->set[i]))
            return true;
        for (size_t j = 0; j < i; j++)
            if (is_intermediate(value, entry->set[j], entry->set[i]))
                return true;
    }
    return false;
}

/* ---------------------------------------------------------------- the text */

static void print_value(FILE *stream, enum netif_setting setting, long value)
{
    char text[32];

    netif_value_format(setting, value, text, sizeof text);
    fputs(text, stream);
}

static void print_entry(FILE *stream, const struct netif_entry *entry)
{
    fprintf(stream, "%s %d %s was ", entry->interface, entry->index,
            netif_setting_name(entry->setting));
    print_value(stream, entry->setting, entry->was);
    for (size_t i = 0; i < entry->set_count; i++) {
        fputs(i ? "," : " set ", stream);
        print_value(stream, entry->setting, entry->set[i]);
    }
    fputs(" jobs ", stream);
    for (size_t i = 0; i < entry->job_count; i++)
        fprintf(stream, "%s%u", i ? "," : "", (unsigned)entry->jobs[i]);
    fputs(entry->job_count ? "\n" : "-\n", stream);
}

char *journal_format(const struct netif_journal *journal)
{
    char *text = NULL;
    size_t length;
    FILE *stream = memory_stream(&text, &length);

    if (!stream)
        return NULL;
    fprintf(stream, MAGIC "\nboot %s\n", journal->boot_id);
    for (size_t i = 0; i < journal->count; i++)
        print_entry(stream, &journal->entries[i]);
    fprintf(stream, "end %zu\n", journal->count);
    fclose(stream);
    return text;
}

/* Parses a text that is a whole number from 0 to maximum. */
static bool parse_number(const char *text, unsigned long maximum, unsigned long *number)
{
    char *end;

    errno = 0;
    *number = strtoul(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && errno == 0 && *number <= maximum;
}

static int parse_jobs(char *list, struct netif_entry *entry)
{
    char *save = NULL;
    unsigned long job;
    bool failed = false;

    if (strcmp(list, "-") == 0)
        return 0;
    for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save))
        if (!parse_number(word, UINT32_MAX, &job) || !entry_add_job(entry, (uint32_t)job, &failed))
            return -1;
    return 0;
}

static int parse_values(char *list, struct netif_entry *entry, struct error *err)
{
    char *save = NULL;

    entry->set_count = 0;
    for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        if (entry->set_count == JOURNAL_VALUES)
            return error_set(err, "found more than %d values", JOURNAL_VALUES);
        if (netif_value_parse(entry->setting, word, true, &entry->set[entry->set_count++], err) !=
            0)
            return -1;
    }
    return entry->set_count > 0 ? 0 : error_set(err, "found no value");
}

static int parse_entry(char *line, struct netif_journal *journal, struct error *err)
{
    enum { WORDS = 9 };
    char *words[WORDS + 1] = {NULL}, *save = NULL;
    struct netif_entry *entry;
    unsigned long index;
    int setting, count = 0;
    long was;

    for (char *word = strtok_r(line, " ", &save); word && count <= WORDS;
         word = strtok_r(NULL, " ", &save))
        words[count++] = word;
    if (count != WORDS || strcmp(words[3], "was") != 0 || strcmp(words[5], "set") != 0 ||
        strcmp(words[7], "jobs") != 0)
        return error_set(err, "found no entry");
    setting = netif_setting_parse(words[2]);
    if (!netif_is_name(words[0]) || !parse_number(words[1], INT32_MAX, &index) || index == 0)
        return error_set(err, "found no interface");
    if (setting < 0 || setting == NETIF_ADDRESS)
        return error_set(err, "found the unknown setting \"%.30s\"", words[2]);
    if (netif_value_parse((enum netif_setting)setting, words[4], true, &was, err) != 0)
        return -1;
    if (journal_find(journal, (int)index, (enum netif_setting)setting))
        return error_set(err, "found a second entry of %s %s", words[0], words[2]);
    entry = journal_add(journal, words[0], (int)index, (enum netif_setting)setting, was, was);
    if (!entry)
        return error_set(err, "found more than %d entries, or out of memory", JOURNAL_ENTRIES);
    if (parse_values(words[6], entry, err) != 0)
        return -1;
    if (parse_jobs(words[8], entry) != 0)
        return error_set(err, "found no list of jobs");
    return 0;
}

static bool is_boot_id(const char *text)
{
    size_t length = strlen(text);

    return length > 0 && length < sizeof((struct netif_journal *)0)->boot_id &&
           strspn(text, "0123456789abcdef-") == length;
}

static int parse_line(char *line, unsigned number, struct netif_journal *journal, bool *is_ended,
                      struct error *err)
{
    unsigned long count;

    if (*is_ended)
        return error_set(err, "found more after the end");
    if (number == 1)
        return strcmp(line, MAGIC) == 0 ? 0 : error_set(err, "found no \"" MAGIC "\"");
    if (number == 2) {
        if (strncmp(line, "boot ", 5) != 0 || !is_boot_id(line + 5))
            return error_set(err, "found no boot id");
        strcpy(journal->boot_id, line + 5);
        return 0;
    }
    if (strncmp(line, "end ", 4) == 0) {
        if (!parse_number(line + 4, JOURNAL_ENTRIES, &count) || count != journal->count)
            return error_set(err, "found a number of entries other than %zu", journal->count);
        *is_ended = true;
        return 0;
    }
    return parse_entry(line, journal, err);
}

int journal_parse(const char *text, struct netif_journal *journal, struct error *err)
{
    char *copy = strdup(text), *line = copy;
    bool is_ended = false;
    int result = 0;

    *journal = (struct netif_journal){0};
    if (!copy)
        return error_set(err, "out of memory");
    for (unsigned number = 1; result == 0 && *line; number++) {
        char *end = strchr(line, '\n');

        if (!end) {
            result = error_set(err, "line %u: found no end of the line", number);
            break;
        }
        *end = '\0';
        result = parse_line(line, number, journal, &is_ended, err);
        if (result != 0)
            error_prefix(err, "line %u", number);
        line = end + 1;
    }
    if (result == 0 && !is_ended)
        result = error_set(err, "it has no end");
    free(copy);
    if (result != 0)
        journal_clear(journal);
    return result;
}

/* ---------------------------------------------------------------- the file */

int journal_load(const char *path, struct netif_journal *journal, struct error *err)
{
    char *text;
    int result = regular_file_read_trusted(path, geteuid(), JOURNAL_BYTES, &text, err);

    *journal = (struct netif_journal){0};
    if (result == 0 && !*text)
        result = 1;
    if (result == 0 && journal_parse(text, journal, err) != 0)
        result = error_prefix(err, "%s", path);
    free(text);
    return result;
}

int journal_store(const char *path, const struct netif_journal *journal, struct error *err)
{
    char temporary[512];
    char *text;
    int fd, result = -1;

    if (journal->count == 0) {
        if (unlink(path) != 0 && errno != ENOENT)
            return error_set(err, "%s: %m", path);
        return 0;
    }
    if (snprintf(temporary, sizeof temporary, "%s.new", path) >= (int)sizeof temporary)
        return error_set(err, "%.100s...: the path is too long", path);
    text = journal_format(journal);
    if (!text)
        return error_set(err, "out of memory");
    if (strlen(text) > JOURNAL_BYTES) {
        error_set(err, "%s: would have %zu bytes, allowed %d", path, strlen(text), JOURNAL_BYTES);
        goto out;
    }
    /* the lock is held and the directory is root's: a killed process has left an old file */
    unlink(temporary);
    fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        error_set(err, "%s: %m", temporary);
        goto out;
    }
    if (write_all(fd, text, strlen(text)) != 0 || rename(temporary, path) != 0) {
        error_set(err, "%s: %m", path);
        unlink(temporary);
    } else {
        result = 0;
    }
    close(fd);
out:
    free(text);
    return result;
}

int journal_lock(const char *path, int wait_ms, struct error *err)
{
    const struct timespec pause = {0, 5000000};
    long deadline_ms = clock_ms() + wait_ms;
    char name[512];
    int fd;

    if (snprintf(name, sizeof name, "%s.lock", path) >= (int)sizeof name) {
        errno = ENAMETOOLONG;
        return error_set(err, "%.100s...: the path is too long", path);
    }
    path_make_directory(path);
    fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0)
        return error_set(err, "%s: %m", name);
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            error_set(err, "%s: %m", name);
            close(fd);
            errno = EIO;
            return -1;
        }
        if (clock_ms() >= deadline_ms) {
            error_set(err, "%s: locked by another prolog or epilog for %d ms", name, wait_ms);
            close(fd);
            errno = EWOULDBLOCK;
            return -1;
        }
        nanosleep(&pause, NULL);
    }
    return fd;
}
