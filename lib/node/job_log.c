/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/node/job_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/atomic_file.h"
#include "lib/base/base_name.h"
#include "lib/base/clock.h"
#include "lib/base/grow.h"
#include "lib/base/memory_stream.h"
#include "lib/base/path.h"
#include "lib/base/regular_file.h"
#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/constants/node_constants.h"

enum { NOTE_BYTES = 1 << 20 };

static const char title[] = "muster jobs 1\n";
static const char *const event_names[JOB_EVENTS] = {"ran", "counted", "logged"};

int job_log_open(struct job_log *log, const char *certificate_path)
{
    log->notes = JOB_NOTES;
    return path_beside(certificate_path, "jobs", log->path, sizeof log->path) ? 0 : -1;
}

/* ---------------------------------------------------------------- lines */

/* Writes "ran 4711 1000 1764090000 1764093600 4712,4713 - - 3600". */
static void line_write(FILE *stream, const struct job_line *line)
{
    fprintf(stream, "%s %" PRIu32 " %u %" PRId64 " %" PRId64 " ", event_names[line->event],
            line->job, (unsigned)line->uid, line->begin_s, line->end_s);
    for (size_t i = 0; i < line->other_count; i++)
        fprintf(stream, "%s%" PRIu32, i > 0 ? "," : "", line->others[i]);
    fprintf(stream, "%s %s %s %" PRIu64 "%s%s\n", line->other_count > 0 ? "" : "-",
            *line->part ? line->part : "-", *line->counter ? line->counter : "-", line->value,
            *line->text ? " " : "", line->text);
}

static void parse_others(struct job_line *line, const char *others)
{
    char *end;

    for (; line->other_count < JOB_OTHERS; others = end + 1) {
        unsigned long job = strtoul(others, &end, 10);

        if (end == others)
            return;
        line->others[line->other_count++] = (uint32_t)job;
        if (*end != ',')
            return;
    }
}

static int line_parse(const char *text, struct job_line *line)
{
    char event[12], others[128];
    unsigned uid;
    int behind = -1;

    *line = (struct job_line){.event = JOB_EVENTS};
    if (sscanf(text, "%11s %" SCNu32 " %u %" SCNd64 " %" SCNd64 " %127s %31s %27s %" SCNu64 "%n",
               event, &line->job, &uid, &line->begin_s, &line->end_s, others, line->part,
               line->counter, &line->value, &behind) != 9 ||
        behind < 0)
        return -1;
    for (int i = 0; i < JOB_EVENTS; i++)
        if (strcmp(event, event_names[i]) == 0)
            line->event = (enum job_event)i;
    line->uid = uid;
    parse_others(line, others);
    if (*line->part == '-')
        *line->part = '\0';
    if (*line->counter == '-')
        *line->counter = '\0';
    if (text[behind] == ' ')
        snprintf(line->text, sizeof line->text, "%s", text + behind + 1);
    return line->event == JOB_EVENTS || line->begin_s > line->end_s ? -1 : 0;
}

static void lines_each(char *text, void (*each)(const struct job_line *line, void *context),
                       void *context, int *count)
{
    struct job_line line;
    char *end;

    /* a line without its end was cut off */
    for (; (end = strchr(text, '\n')); text = end + 1) {
        *end = '\0';
        if (line_parse(text, &line) == 0) {
            each(&line, context);
            ++*count;
        }
    }
}

/* Returns the file's text, malloc'd; NULL if there is no file or it is not a log, err then "", or
 * if it cannot be read, with err. */
static char *log_load(const char *path, struct error *err)
{
    char *text;
    int rv = regular_file_read(path, 2 * JOB_LOG_BYTES, &text, err);

    if (rv != 0) {
        if (rv > 0)
            *err->text = '\0';
        return NULL;
    }
    if (strncmp(text, title, strlen(title)) == 0)
        return text;
    free(text);
    return NULL;
}

int job_log_read(const char *path, void (*each)(const struct job_line *line, void *context),
                 void *context, struct error *err)
{
    struct error why = {""};
    char *text = log_load(path, &why);
    int count = 0;

    if (!text)
        return *why.text ? error_set(err, "%s", why.text) : 0;
    lines_each(text, each, context, &count);
    free(text);
    return count;
}

/* Appends to the log and removes its oldest lines if it gets too long. Returns 0, or -1 with err; a
 * log that cannot be read is not changed. */
static int log_add(const struct job_log *log, const char *added, size_t size, struct error *err)
{
    struct error why = {""};
    char *text = log_load(log->path, &why);
    const char *kept = text ? text + strlen(title) : "", *end = strrchr(kept, '\n');
    size_t length = end ? (size_t)(end - kept) + 1 : 0;
    struct atomic_file file;
    char directory[sizeof log->path];
    int rv = -1;

    if (*why.text)
        return error_set(err, "%s", why.text);
    if (path_directory(log->path, directory, sizeof directory))
        atomic_file_remove_temporaries(directory, base_name(log->path));
    while (length > 0 && strlen(title) + length + size > JOB_LOG_BYTES) {
        const char *next = memchr(kept, '\n', length);

        length -= (size_t)(next + 1 - kept);
        kept = next + 1;
    }
    if (atomic_file_begin(&file, log->path, 0600, err) == 0) {
        file.mode = 0600;
        file.is_unsynced = true; /* a job waits for this */
        fputs(title, file.stream);
        fwrite(kept, 1, length, file.stream);
        fwrite(added, 1, size, file.stream);
        rv = atomic_file_commit(&file, err);
    }
    free(text);
    return rv;
}

/* ---------------------------------------------------------------- notes */

/* Makes the notes directory and takes its lock, which every change of the log needs. Returns a
 * descriptor, whose close releases the lock, or -1 with err. Waits for JOB_LOG_LOCK_MS at most, as
 * a stopped process may hold the lock forever. */
static int lock(const struct job_log *log, struct error *err)
{
    long end_ms = clock_ms() + JOB_LOG_LOCK_MS;
    int fd;

    path_make_directory(log->notes);
    mkdir(log->notes, 0700);
    fd = open(log->notes, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    while (fd >= 0) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        if (errno != EWOULDBLOCK || clock_ms() > end_ms)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    error_set(err, "%s: %m", log->notes);
    if (fd >= 0)
        close(fd);
    return -1;
}

struct note {
    char name[NAME_MAX + 1]; /* "4711-1000": job and user */
    uint32_t job;
    uid_t uid;
    int64_t begin_s;
};

static bool note_parse(const char *name, struct note *note)
{
    unsigned job, uid;
    int end = -1;

    if (sscanf(name, "%u-%u%n", &job, &uid, &end) != 2 || end < 0 || name[end])
        return false;
    snprintf(note->name, sizeof note->name, "%s", name);
    note->job = job;
    note->uid = uid;
    return true;
}

/* Lists the notes in *notes, malloc'd, without other files. Returns their number. */
static size_t notes_list(const struct job_log *log, struct note **notes)
{
    char **names, path[SYSFS_PATH];
    size_t count = sysfs_names("", &names, "%s", log->notes + 1), found = 0;
    struct stat status;

    *notes = calloc(count + 1, sizeof **notes);
    for (size_t i = 0; *notes && i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", log->notes, names[i]);
        if (!note_parse(names[i], &(*notes)[found]) || lstat(path, &status) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        (*notes)[found++].begin_s = status.st_mtime;
    }
    sysfs_names_free(names, count);
    return found;
}

static bool note_find(const struct job_log *log, uint32_t job, struct note *found)
{
    struct note *notes;
    size_t count = notes_list(log, &notes);
    bool is_found = false;

    for (size_t i = 0; i < count && !is_found; i++)
        if ((is_found = notes[i].job == job))
            *found = notes[i];
    free(notes);
    return is_found;
}

static void note_unlink(const struct job_log *log, const struct note *note)
{
    char path[SYSFS_PATH];

    snprintf(path, sizeof path, "%s/%s", log->notes, note->name);
    unlink(path);
}

static void oldest_remove(const struct job_log *log)
{
    struct note *notes;
    size_t count = notes_list(log, &notes), oldest = 0;

    for (size_t i = 1; i < count; i++)
        if (notes[i].begin_s < notes[oldest].begin_s)
            oldest = i;
    if (count >= JOB_NOTES_MOST)
        note_unlink(log, &notes[oldest]);
    free(notes);
}

int job_note_write(const struct job_log *log, uint32_t job, uid_t uid,
                   const struct part_counters *counters, struct error *err)
{
    char path[SYSFS_PATH];
    struct atomic_file file;
    struct note old;
    int fd = lock(log, err), rv;
    bool is_taken;

    if (fd < 0)
        return -1;
    atomic_file_remove_temporaries(log->notes, NULL);
    /* another user's old job has this ID: its epilog never ran, and Slurm's job IDs started over */
    is_taken = note_find(log, job, &old) && old.uid != uid;
    oldest_remove(log);
    close(fd);
    snprintf(path, sizeof path, "%s/%" PRIu32 "-%u", log->notes, job, (unsigned)uid);
    if (atomic_file_begin(&file, path, 0600, err) != 0)
        return -1;
    file.is_unsynced = true;
    rv = part_counters_write(counters, file.stream) == 0 ? atomic_file_commit(&file, err)
                                                         : atomic_file_discard(&file, err);
    if (rv == 0 && is_taken)
        note_unlink(log, &old);
    return rv;
}

int job_note_read(const struct job_log *log, uint32_t job, uid_t *uid,
                  struct part_counters *counters)
{
    char path[SYSFS_PATH], *text;
    struct note note;
    int rv;

    part_counters_init(counters, "", 0);
    if (!note_find(log, job, &note))
        return 1;
    snprintf(path, sizeof path, "%s/%s", log->notes, note.name);
    if (regular_file_read(path, NOTE_BYTES, &text, NULL) != 0)
        return 1;
    rv = part_counters_parse(counters, text);
    free(text);
    *uid = note.uid;
    return rv == 0 ? 0 : 1;
}

void job_note_remove(const struct job_log *log, uint32_t job)
{
    struct note note;

    if (note_find(log, job, &note))
        note_unlink(log, &note);
}

/* ---------------------------------------------------------------- jobs by time */

struct job_run {
    uint32_t job;
    uid_t uid;
    int64_t begin_s, end_s;
};

struct job_runs {
    struct job_run *items;
    size_t count;
};

static void run_add(struct job_runs *runs, struct job_run run)
{
    if (!GROW(runs->items, runs->count))
        return;
    runs->items[runs->count++] = run;
}

static void add_ended(const struct job_line *line, void *context)
{
    if (line->event == JOB_RAN)
        run_add(context, (struct job_run){line->job, line->uid, line->begin_s, line->end_s});
}

/* Reads the running jobs from their notes, then the ended jobs from the log. */
static void runs_read(const struct job_log *log, struct job_runs *runs)
{
    struct note *notes;
    size_t count = notes_list(log, &notes);

    *runs = (struct job_runs){0};
    for (size_t i = 0; i < count; i++)
        run_add(runs, (struct job_run){notes[i].job, notes[i].uid, notes[i].begin_s, INT64_MAX});
    free(notes);
    (void)job_log_read(log->path, add_ended, runs, NULL);
}

static bool is_within(const struct job_run *run, const struct job_line *line)
{
    return run->begin_s <= line->end_s && run->end_s >= line->begin_s;
}

/* Sets line->others to the jobs other than line->job that ran at the line's time. */
static void find_others(const struct job_runs *runs, struct job_line *line)
{
    line->other_count = 0;
    for (size_t i = 0; i < runs->count && line->other_count < JOB_OTHERS; i++) {
        bool is_there = runs->items[i].job == line->job || !is_within(&runs->items[i], line);

        for (size_t k = 0; k < line->other_count; k++)
            is_there = is_there || line->others[k] == runs->items[i].job;
        if (!is_there)
            line->others[line->other_count++] = runs->items[i].job;
    }
}

/* ---------------------------------------------------------------- appending */

/* Lines to be added to the log. */
struct addition {
    FILE *stream;
    char *text;
    size_t size;
    struct job_line line; /* without a counter */
    size_t increases;     /* counters that increased */
};

static void add_increase(const struct part_counter *increase, void *context)
{
    struct addition *addition = context;
    struct job_line line = addition->line;

    if (addition->increases++ >= JOB_LINES_MOST)
        return;
    line.event = JOB_COUNTED;
    line.value = increase->value;
    strcpy(line.part, increase->part);
    strcpy(line.counter, increase->counter);
    line_write(addition->stream, &line);
}

/* Closes the stream, adds its text to the log and frees it. Returns 0, or -1 with err. */
static int addition_end(struct addition *addition, const struct job_log *log, struct error *err)
{
    int rv = fclose(addition->stream) == 0 ? 0 : error_set(err, "no memory");

    if (rv == 0 && addition->size > 0)
        rv = log_add(log, addition->text, addition->size, err);
    free(addition->text);
    return rv;
}

int job_log_end(const struct job_log *log, uint32_t job, uid_t uid,
                const struct part_counters *then, const struct part_counters *now, int64_t now_s,
                struct error *err)
{
    int64_t seconds = now->time_s > then->time_s ? now->time_s - then->time_s : 0;
    struct addition addition = {.line = {.event = JOB_RAN,
                                         .job = job,
                                         .uid = uid,
                                         .begin_s = now_s - seconds,
                                         .end_s = now_s,
                                         .value = (uint64_t)seconds}};
    int fd = lock(log, err), rv = -1;
    struct job_runs runs;

    if (fd < 0)
        return -1;
    runs_read(log, &runs);
    find_others(&runs, &addition.line);
    free(runs.items);
    addition.stream = memory_stream(&addition.text, &addition.size);
    if (addition.stream) {
        line_write(addition.stream, &addition.line);
        part_counters_increased(then, now, add_increase, &addition);
        rv = addition_end(&addition, log, err);
    }
    job_note_remove(log, job); /* last, so that at each moment the note or the log has the job */
    close(fd);
    return rv;
}

int job_log_attribute(const struct job_log *log, const struct job_line *lines, size_t count,
                      struct error *err)
{
    struct addition addition = {0};
    int fd = lock(log, err), added = 0;
    struct job_runs runs;

    if (fd < 0)
        return -1;
    addition.stream = memory_stream(&addition.text, &addition.size);
    if (!addition.stream) {
        close(fd);
        return error_set(err, "no memory");
    }
    runs_read(log, &runs);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < runs.count && added < JOB_LINES_MOST; k++) {
            struct job_line line = lines[i];

            if (!is_within(&runs.items[k], &line))
                continue;
            line.job = runs.items[k].job;
            line.uid = runs.items[k].uid;
            find_others(&runs, &line);
            line_write(addition.stream, &line);
            added++;
        }
    free(runs.items);
    if (addition_end(&addition, log, err) != 0)
        added = -1;
    close(fd);
    return added;
}

/* ---------------------------------------------------------------- descriptions */

void job_line_describe(const struct job_line *line, char *text, size_t size)
{
    char begin[32], end[32], what[96], others[JOB_OTHERS * 12 + 40] = "";

    if (line->other_count > 0)
        snprintf(others, sizeof others, "; shared with job%s", text_plural(line->other_count));
    text_time(begin, sizeof begin, "%Y-%m-%d %H:%M", (time_t)line->begin_s);
    text_time(end, sizeof end,
              line->begin_s / 86400 == line->end_s / 86400 ? "%H:%M" : "%Y-%m-%d %H:%M",
              (time_t)line->end_s);
    for (size_t i = 0; i < line->other_count; i++)
        text_join(others, sizeof others, i > 0 ? ", " : " ", "%" PRIu32, line->others[i]);
    if (line->event == JOB_RAN)
        snprintf(what, sizeof what, "job %" PRIu32 " of user %u ran", line->job,
                 (unsigned)line->uid);
    else
        snprintf(what, sizeof what, "%" PRIu64 " %s while job %" PRIu32 " of user %u ran",
                 line->value,
                 line->event == JOB_COUNTED ? line->counter : "entries of the kernel log",
                 line->job, (unsigned)line->uid);
    text_put(text, size, "%s, %s to %s UTC%s%s%s", what, begin, end, others,
             *line->text ? ": " : "", line->text);
}
