/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/base/utf8.h"

enum {
    RECORD = 8192,        /* CONSOLE_EXT_LOG_MAX: a shorter buffer is refused with EINVAL */
    BYTES_MAX = 16 << 20, /* of new entries in one reading */
    ENTRIES_MAX = 1 << 18,
};

/* ---------------------------------------------------------------- an entry */

/* Parses the number at *at, and moves *at past the comma or semicolon that ends it. */
static bool parse_number(const char **at, const char *end, uint64_t *number)
{
    const char *begin = *at;

    *number = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(**at - '0'), number))
            return false;
    if (*at == begin || *at == end || (**at != ',' && **at != ';'))
        return false;
    (*at)++;
    return true;
}

int kmsg_parse(const char *line, size_t length, struct kmsg_entry *entry)
{
    const char *at = line, *newline = memchr(line, '\n', length);
    const char *end = newline ? newline : line + length,
               *text = memchr(line, ';', (size_t)(end - line));
    uint64_t priority, time_us;

    if (!text || !parse_number(&at, text, &priority) ||
        !parse_number(&at, text, &entry->sequence) || !parse_number(&at, text + 1, &time_us) ||
        priority > 8 * 256 || time_us > INT64_MAX)
        return -1;
    entry->priority = priority % 8;
    entry->facility = (unsigned)(priority / 8);
    entry->time_us = (int64_t)time_us;
    length = (size_t)(end - text - 1);
    if (length >= KMSG_TEXT)
        length = KMSG_TEXT - 1;
    for (size_t i = 0; i < length; i++)
        entry->text[i] = text[1 + i] ? text[1 + i] : '?';
    entry->text[length] = '\0';
    utf8_clean(entry->text);
    return 0;
}

/* ---------------------------------------------------------------- reading */

struct reader {
    uint64_t from;
    bool has_first; /* a new entry has been read */
    size_t bytes, entries;
    void (*each)(const struct kmsg_entry *entry, void *context);
    void *context;
    struct kmsg_reading *reading;
};

static bool is_full(const struct reader *reader)
{
    return reader->entries >= ENTRIES_MAX || reader->bytes >= BYTES_MAX;
}

static void handle_line(struct reader *reader, const char *line, size_t length)
{
    struct kmsg_reading *reading = reader->reading;
    bool is_entry;
    struct kmsg_entry entry;

    is_entry = kmsg_parse(line, length, &entry) == 0;
    /* was read before: the device starts with its oldest entry each time */
    if (is_entry && entry.sequence < reading->next)
        return;
    reader->bytes += length;
    reader->entries++;
    if (!is_entry) {
        reading->wrong++;
        return;
    }
    if (reader->from > 0 || reader->has_first)
        reading->lost += entry.sequence - reading->next;
    reader->has_first = true;
    reading->next = entry.sequence + 1;
    reading->read++;
    if (entry.facility == 0)
        reader->each(&entry, reader->context);
}

static int read_device(int fd, struct reader *reader)
{
    char record[RECORD];

    while (!is_full(reader)) {
        ssize_t length = read(fd, record, sizeof record);

        if (length > 0)
            handle_line(reader, record, (size_t)length);
        else if (length == 0 || errno == EAGAIN)
            return 0;
        else if (errno != EPIPE && errno != EINTR)
            return -1;
        else
            reader->entries++; /* EPIPE: the entry was overwritten; continue */
    }
    return 0;
}

static int read_file(int fd, struct reader *reader)
{
    char line[RECORD];
    size_t length;
    FILE *file = fdopen(dup(fd), "r");

    if (!file)
        return -1;
    while (!is_full(reader) && fgets(line, sizeof line, file)) {
        length = strlen(line);
        /* a line " SUBSYSTEM=pci" belongs to the entry before it */
        if (length > 0 && line[0] != ' ' && line[0] != '\n')
            handle_line(reader, line, length);
    }
    fclose(file);
    return 0;
}

/* Whether the file is a kernel log. In a container it may be /dev/null or a terminal; a file that
 * blocks or acts on open() is not opened. */
static bool is_log(const struct stat *status)
{
    return S_ISREG(status->st_mode) ||
           (S_ISCHR(status->st_mode) && status->st_rdev == makedev(1, 11));
}

int kmsg_read(const char *path, uint64_t from,
              void (*each)(const struct kmsg_entry *entry, void *context), void *context,
              struct kmsg_reading *reading, struct error *err)
{
    struct reader reader = {.from = from, .each = each, .context = context, .reading = reading};
    struct stat status;
    int fd, result;

    *reading = (struct kmsg_reading){.next = from};
    if (stat(path, &status) != 0) {
        error_set(err, "%s: %m", path);
        return errno == ENOENT || errno == EACCES ? 1 : -1;
    }
    if (!is_log(&status)) {
        error_set(err, "%s is not the kernel log", path);
        return 1;
    }
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        error_set(err, "%s: %m", path);
        return errno == ENOENT || errno == EACCES || errno == EPERM ? 1 : -1;
    }
    result = S_ISREG(status.st_mode) ? read_file(fd, &reader) : read_device(fd, &reader);
    if (result != 0)
        error_set(err, "%s: %m", path);
    close(fd);
    return result;
}
