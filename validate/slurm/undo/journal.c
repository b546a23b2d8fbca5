/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/undo/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/base/hash.h"

enum { JOURNAL_MAX_BYTES = 16 << 20 };

char *journal_read(int journal)
{
    off_t size = lseek(journal, 0, SEEK_END);
    char *text;

    if (size > JOURNAL_MAX_BYTES)
        errno = EFBIG;
    if (size < 0 || size > JOURNAL_MAX_BYTES || !(text = malloc((size_t)size + 1)))
        return NULL;
    size = pread(journal, text, (size_t)size, 0); /* less if it was cut back just now */
    if (size < 0) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

bool journal_is_locked(const char *directory, const char *run)
{
    char path[4096];
    bool is_locked;
    int fd;

    if (*run == '.' || strchr(run, '/') ||
        snprintf(path, sizeof path, "%s/%s", directory, run) >= (int)sizeof path)
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    is_locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return is_locked;
}

static bool entry_read(const char *line, size_t length, struct journal_entry *entry)
{
    char whole[1400];

    snprintf(whole, sizeof whole, "%.*s", (int)length, line);
    entry->rest[0] = '\0';
    return sscanf(whole, "%15s %255s %1023[^\n]", entry->verb, entry->name, entry->rest) >= 2;
}

bool journal_next(const char **text, struct journal_entry *entry)
{
    while (**text) {
        const char *line = *text;
        size_t length = strcspn(line, "\n");

        *text += length + (line[length] == '\n');
        if (line[length] == '\n' && entry_read(line, length, entry))
            return true;
    }
    return false;
}

static bool is_known(const char *verb)
{
    static const char *const verbs[] = {"cluster", "job",     "reservation", "resume", "down",
                                        "settled", "testing", "revoke",      "revoked"};

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verb, verbs[i]) == 0)
            return true;
    return false;
}

int journal_check(const char *text, const char *cluster, struct error *err)
{
    bool is_first = true;

    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        struct journal_entry entry;

        if (end == line)
            continue;
        if (!entry_read(line, (size_t)(end - line), &entry) || !is_known(entry.verb))
            return error_set(err, "'%.*s' is not a journal line",
                             (int)(end - line < 60 ? end - line : 60), line);
        if (is_first != (strcmp(entry.verb, "cluster") == 0))
            return error_set(err, is_first ? "its first line names no cluster"
                                           : "it names its cluster twice");
        if (is_first && strcmp(entry.name, cluster) != 0)
            return error_set(err, "it belongs to cluster %s, this is cluster %s", entry.name,
                             cluster);
        is_first = false;
    }
    return is_first ? error_set(err, "its first line names no cluster") : 0;
}

bool journal_has(const char *text, const char *verb, const char *name)
{
    char wanted[300];

    snprintf(wanted, sizeof wanted, "\n%s %s\n", verb, name);
    return strstr(text, wanted) != NULL;
}

int journal_line(char line[JOURNAL_LINE_BYTES], const char *verb, const char *name,
                 const char *rest, struct error *err)
{
    int length;

    if (strpbrk(name, " \n"))
        return error_set(err, "cannot note '%s' in the journal", name);
    length = snprintf(line, JOURNAL_LINE_BYTES, "%s %s%s%s", verb, name, *rest ? " " : "", rest);
    if (length >= JOURNAL_LINE_BYTES - 1)
        length = JOURNAL_LINE_BYTES - 2;
    for (int i = 0; i < length; i++)
        if (line[i] == '\n')
            line[i] = ' ';
    strcpy(line + length, "\n");
    return 0;
}

int journal_write(int journal, const char *path, const char *lines, struct error *err)
{
    off_t end = lseek(journal, 0, SEEK_END);
    ssize_t length = (ssize_t)strlen(lines), written = write(journal, lines, (size_t)length);

    if (written == length && fdatasync(journal) == 0)
        return 0;
    if (written >= 0 && written < length)
        errno = ENOSPC;
    error_set(err, "cannot write the journal %s: %m", path);
    if (end < 0 || ftruncate(journal, end) != 0)
        error_set(err, "cannot write the journal %s: its last line is incomplete", path);
    return -1;
}

void journal_mark(const char *nodes, char mark[24])
{
    snprintf(mark, 24, "%016" PRIx64, hash_text(HASH_BEGIN, nodes));
}
