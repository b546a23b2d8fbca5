/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/report/live.h"

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/json_text.h"
#include "lib/base/path.h"
#include "lib/base/text.h"
#include "lib/constants/command_constants.h"
#include "validate/report/table.h"

static const char *const kinds[LIVE_KINDS] = {"text", "begin", "doing", "end", "node"};

bool live_is_held(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return true;
    flock(fd, LOCK_UN);
    return false;
}

static void remove_left_over(const char *directory)
{
    DIR *entries = opendir(directory);
    struct dirent *entry;

    while (entries && (entry = readdir(entries))) {
        int fd = *entry->d_name == '.' ? -1
                                       : openat(dirfd(entries), entry->d_name,
                                                O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

        if (fd >= 0 && !live_is_held(fd))
            unlinkat(dirfd(entries), entry->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (entries)
        closedir(entries);
}

void live_open(struct live *live, const char *directory, const char *run)
{
    char hidden[sizeof live->path + 1];
    int fd;

    *live = (struct live){.doing_s = -1};
    if ((size_t)snprintf(live->path, sizeof live->path, "%s/%s", directory, run) >=
        sizeof live->path)
        return;
    path_make_directory(directory);
    if (mkdir(directory, 0755) == 0)
        chmod(directory, 0755);
    remove_left_over(directory);
    /* under a hidden name until it is locked, so that it never looks left over */
    snprintf(hidden, sizeof hidden, "%s/.%s", directory, run);
    fd = open(hidden, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return;
    if (fchmod(fd, 0644) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        rename(hidden, live->path) == 0)
        live->stream = fdopen(fd, "a");
    if (!live->stream) {
        unlink(hidden);
        unlink(live->path);
        close(fd);
    }
}

void live_close(struct live *live)
{
    if (!live->stream)
        return;
    unlink(live->path);
    fclose(live->stream);
    live->stream = NULL;
}

static void write_member(FILE *stream, const char *name, const char *value)
{
    if (!*value)
        return;
    fprintf(stream, ",\"%s\":", name);
    json_text_write(stream, value, "");
}

void live_write(struct live *live, const struct live_event *event)
{
    double now_s = clock_s();

    if (!live || !live->stream)
        return;
    if (event->kind == LIVE_DOING) {
        if (live->doing_s >= 0 && now_s - live->doing_s < LIVE_EACH_S)
            return;
        live->doing_s = now_s;
    }
    fprintf(live->stream, "{\"event\":\"%s\",\"time\":%.3f", kinds[event->kind], clock_epoch_s());
    if (event->verdict != VERDICT_NONE)
        write_member(live->stream, "verdict", verdict_name(event->verdict));
    if (event->kind == LIVE_END)
        fprintf(live->stream, ",\"seconds\":%.1f", event->seconds);
    write_member(live->stream, "stage", event->stage);
    write_member(live->stream, "node", event->node);
    write_member(live->stream, "text", event->text);
    fputs("}\n", live->stream);
    fflush(live->stream);
}

static void take_text(json_t *object, const char *name, char *text, size_t size)
{
    const char *value = json_string_value(json_object_get(object, name));

    text_put(text, size, "%s", value ? value : "");
    table_clean(text);
}

int live_read(const char *line, struct live_event *event)
{
    json_t *object = json_loads(line, 0, NULL);
    const char *kind = json_string_value(json_object_get(object, "event"));
    const char *verdict = json_string_value(json_object_get(object, "verdict"));

    *event = (struct live_event){.kind = LIVE_TEXT};
    while (kind && event->kind < LIVE_KINDS && strcmp(kinds[event->kind], kind) != 0)
        event->kind++;
    if (verdict)
        event->verdict = (enum verdict)verdict_parse(verdict);
    if (!kind || event->kind == LIVE_KINDS || (int)event->verdict < 0) {
        json_decref(object);
        return -1;
    }
    event->time_s = json_number_value(json_object_get(object, "time"));
    event->seconds = json_number_value(json_object_get(object, "seconds"));
    take_text(object, "stage", event->stage, sizeof event->stage);
    take_text(object, "node", event->node, sizeof event->node);
    take_text(object, "text", event->text, sizeof event->text);
    json_decref(object);
    return 0;
}
