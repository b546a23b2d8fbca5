/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/checkpoint/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectives/codec/path.h"
#include "lib/base/write_all.h"
#include "trainer/checkpoint/manifest.h"

enum { CHUNK_BYTES = 1 << 20, PATH_BYTES = 4096, MANIFEST_BYTES = 8 << 20, ARRAYS = 3 };

#define PREFIX "step-"
#define UNFINISHED ".unfinished"

/* The number of a checkpoint's directory; -1: it is none. */
static long step_of(const char *name)
{
    char *end;
    long step;

    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || name[5] < '0' || name[5] > '9')
        return -1;
    step = strtol(name + strlen(PREFIX), &end, 10);
    return *end ? -1 : step;
}

static bool is_unfinished(const char *name)
{
    size_t length = strlen(name), tail = strlen(UNFINISHED);

    return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && length > tail &&
           strcmp(name + length - tail, UNFINISHED) == 0;
}

/* Takes a checkpoint's directory away: the files in it, then itself. What cannot be stays. */
static void discard(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    while (directory && (entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
    rmdir(path);
}

static int sync_directory(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rv = 0;

    if (fd < 0 || fsync(fd) != 0)
        rv = error_set(err, "%s: %m", path);
    if (fd >= 0)
        close(fd);
    return rv;
}

static int close_synced(int fd, const char *path, struct error *err)
{
    int rv = fsync(fd) == 0 ? 0 : error_set(err, "%s: %m", path);

    if (close(fd) != 0 && rv == 0)
        rv = error_set(err, "%s: %m", path);
    return rv;
}

static int write_array(int fd, const real *values, size_t count, uint32_t *crc)
{
    const uint8_t *bytes = (const uint8_t *)values;
    size_t left = count * sizeof *values;

    while (left > 0) {
        size_t length = left < CHUNK_BYTES ? left : CHUNK_BYTES;

        *crc = codec_path_best()->crc(*crc, bytes, length);
        if (write_all(fd, (const char *)bytes, length) != 0)
            return -1;
        bytes += length;
        left -= length;
    }
    return 0;
}

static int write_shard(const char *path, const struct checkpoint_state *state, uint32_t *crc,
                       struct error *err)
{
    const real *arrays[ARRAYS] = {state->parameters, state->first_moments, state->second_moments};
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0)
        return error_set(err, "%s: %m", path);
    *crc = 0;
    for (int i = 0; i < ARRAYS; i++) {
        if (write_array(fd, arrays[i], state->count, crc) != 0) {
            error_set(err, "%s: %m", path);
            close(fd);
            return -1;
        }
    }
    return close_synced(fd, path, err);
}

static int write_manifest(const char *path, const struct manifest *manifest, struct error *err)
{
    char *text = manifest_format(manifest);
    int fd, rv;

    if (!text)
        return error_set(err, "%s: %m", path);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        rv = error_set(err, "%s: %m", path);
    } else if (write_all(fd, text, strlen(text)) != 0) {
        rv = error_set(err, "%s: %m", path);
        close(fd);
    } else {
        rv = close_synced(fd, path, err);
    }
    free(text);
    return rv;
}

static int write_files(const char *path, const struct checkpoint_problem *problem, long step,
                       const struct checkpoint_state *state, struct error *err)
{
    struct manifest_shard shard = {
        .first = state->first, .count = state->count, .file = "shard-00000"};
    struct manifest manifest = {*problem, step, &shard, 1};
    char file[PATH_BYTES];

    if (mkdir(path, 0755) != 0)
        return error_set(err, "%s: %m", path);
    snprintf(file, sizeof file, "%s/%s", path, shard.file);
    if (write_shard(file, state, &shard.crc, err) != 0)
        return -1;
    snprintf(file, sizeof file, "%s/manifest", path);
    return write_manifest(file, &manifest, err) == 0 ? sync_directory(path, err) : -1;
}

static int newer_first(const void *a, const void *b)
{
    long first = *(const long *)a, second = *(const long *)b;

    return (first < second) - (first > second);
}

/* The steps of the directory's checkpoints, newest first, malloc'd; unfinished ones are taken away
 * where asked. Returns their number, -1 with errno. */
static long list_steps(const char *path, bool cleans, long **steps)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    long count = 0, *more;

    *steps = NULL;
    if (!directory)
        return -1;
    while ((entry = readdir(directory))) {
        char name[PATH_BYTES];

        if (cleans && is_unfinished(entry->d_name)) {
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            discard(name);
        }
        if (step_of(entry->d_name) < 0)
            continue;
        more = realloc(*steps, (size_t)(count + 1) * sizeof **steps);
        if (!more)
            break;
        *steps = more;
        (*steps)[count++] = step_of(entry->d_name);
    }
    closedir(directory);
    if (count > 0)
        qsort(*steps, (size_t)count, sizeof **steps, newer_first);
    return count;
}

static void step_path(const char *directory, long step, const char *rest, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/" PREFIX "%09ld%s", directory, step, rest);
}

static void prune(const char *directory, int keep)
{
    char path[PATH_BYTES];
    long *steps, count = list_steps(directory, true, &steps);

    for (long i = keep; i < count; i++) {
        step_path(directory, steps[i], "", path);
        discard(path);
    }
    free(steps);
}

int checkpoint_write(const char *directory, const struct checkpoint_problem *problem, long step,
                     const struct checkpoint_state *state, int keep, struct error *err)
{
    char path[PATH_BYTES], unfinished[PATH_BYTES];

    if (strlen(directory) > PATH_BYTES - 64)
        return error_set(err, "%.64s...: the path is too long", directory);
    if (mkdir(directory, 0755) != 0 && errno != EEXIST)
        return error_set(err, "%s: %m", directory);
    step_path(directory, step, "", path);
    step_path(directory, step, UNFINISHED, unfinished);
    discard(unfinished);
    if (write_files(unfinished, problem, step, state, err) != 0) {
        discard(unfinished);
        return -1;
    }
    discard(path); /* one that was not whole: the run began before it */
    if (rename(unfinished, path) != 0) {
        error_set(err, "%s: %m", path);
        discard(unfinished);
        return -1;
    }
    prune(directory, keep);
    return sync_directory(directory, err);
}

/* The whole file as text; malloc'd. */
static char *read_text(const char *path, struct error *err)
{
    char *text = malloc(MANIFEST_BYTES + 1);
    FILE *file = text ? fopen(path, "re") : NULL;
    size_t length;

    if (!file) {
        error_set(err, "%s: %m", path);
        free(text);
        return NULL;
    }
    length = fread(text, 1, MANIFEST_BYTES, file);
    text[length] = '\0';
    if (ferror(file) || length == MANIFEST_BYTES || strlen(text) != length) {
        error_set(err, "%s: is no manifest", path);
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

/* One array of a shard: sums up all of it, keeps what is of the range. */
static int read_array(FILE *file, const struct manifest_shard *shard, size_t first, size_t count,
                      real *values, uint32_t *crc)
{
    enum { CHUNK = CHUNK_BYTES / sizeof(real) };
    real *chunk = malloc(CHUNK_BYTES);
    size_t at = shard->first, end = shard->first + shard->count;

    while (chunk && at < end) {
        size_t length = end - at < CHUNK ? end - at : CHUNK;
        size_t from = at > first ? at : first;
        size_t to = at + length < first + count ? at + length : first + count;

        if (fread(chunk, sizeof *chunk, length, file) != length)
            break;
        *crc = codec_path_best()->crc(*crc, (const uint8_t *)chunk, length * sizeof *chunk);
        if (from < to)
            memcpy(values + (from - first), chunk + (from - at), (to - from) * sizeof *chunk);
        at += length;
    }
    free(chunk);
    return at == end ? 0 : -1;
}

static int read_shard(const char *path, const struct manifest_shard *shard,
                      const struct checkpoint_state *state, struct error *err)
{
    real *arrays[ARRAYS] = {state->parameters, state->first_moments, state->second_moments};
    FILE *file = fopen(path, "re");
    uint32_t crc = 0;
    int rv = 0;

    if (!file)
        return error_set(err, "%s: %m", path);
    for (int i = 0; i < ARRAYS && rv == 0; i++)
        if (read_array(file, shard, state->first, state->count, arrays[i], &crc) != 0)
            rv = error_set(err, "%s: it is cut short: %zu bytes were expected", path,
                           shard->count * ARRAYS * sizeof(real));
    if (rv == 0 && getc(file) != EOF)
        rv = error_set(err, "%s: it has more than the %zu bytes that were expected", path,
                       shard->count * ARRAYS * sizeof(real));
    if (rv == 0 && crc != shard->crc)
        rv = error_set(err, "%s: it was altered: checksum %08x, %08x expected", path, (unsigned)crc,
                       (unsigned)shard->crc);
    fclose(file);
    return rv;
}

/* 1: read; 0: not whole, err says what; -1: of another problem. */
static int read_one(const char *path, const struct checkpoint_problem *problem, long step,
                    const struct checkpoint_state *state, struct error *err)
{
    struct manifest manifest;
    char file[PATH_BYTES + 64], *text;
    int rv = 1;

    snprintf(file, sizeof file, "%s/manifest", path);
    text = read_text(file, err);
    if (!text)
        return 0;
    if (manifest_parse(text, &manifest, err) != 0) {
        free(text);
        error_prefix(err, "%s", file);
        return 0;
    }
    free(text);
    if (manifest.step != step) {
        error_set(err, "%s: is of step %ld", file, manifest.step);
        rv = 0;
    } else if (manifest_compare(&manifest, problem, err) != 0) {
        error_prefix(err, "%s", path);
        rv = -1;
    }
    for (size_t i = 0; i < manifest.shard_count && rv == 1; i++) {
        snprintf(file, sizeof file, "%s/%s", path, manifest.shards[i].file);
        if (read_shard(file, &manifest.shards[i], state, err) != 0)
            rv = 0;
    }
    manifest_clear(&manifest);
    return rv;
}

int checkpoint_read(const char *directory, const struct checkpoint_problem *problem,
                    const struct checkpoint_state *state, long *step,
                    void (*complain)(void *context, const char *line), void *context,
                    struct error *err)
{
    long *steps, count = list_steps(directory, false, &steps);
    int rv = 0;

    if (count < 0 && errno != ENOENT)
        rv = error_set(err, "%s: %m", directory);
    for (long i = 0; i < count && rv == 0; i++) {
        char path[PATH_BYTES];
        struct error wrong;

        step_path(directory, steps[i], "", path);
        rv = read_one(path, problem, steps[i], state, &wrong);
        if (rv == 0)
            complain(context, wrong.text);
        else if (rv < 0)
            *err = wrong;
        else
            *step = steps[i];
    }
    free(steps);
    return rv;
}
