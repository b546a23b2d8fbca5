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

#include "collectives/codec/crc32c.h"
#include "lib/base/compare.h"
#include "lib/base/directory_sync.h"
#include "lib/base/grow.h"
#include "lib/base/read_all.h"
#include "lib/base/regular_file.h"
#include "lib/base/write_all.h"
#include "trainer/checkpoint/manifest.h"
#include "validate/harness/watch/watch.h"

enum { CHUNK_BYTES = 1 << 20, PATH_BYTES = 4096, ARRAYS = 3 };

#define PREFIX "step-"
#define UNFINISHED ".unfinished"

/* Returns the step of a checkpoint's directory, or -1 if the name is another. */
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

/* Removes a checkpoint's directory with the files in it, or a file in its place. Ignores errors. */
static void discard(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    if (!directory && errno == ENOTDIR)
        unlink(path);
    while (directory && (entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
    rmdir(path);
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

        *crc = crc32c(*crc, bytes, length);
        if (write_all(fd, bytes, length) != 0)
            return -1;
        bytes += length;
        left -= length;
    }
    return 0;
}

static void step_path(const char *directory, long step, const char *rest, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/" PREFIX "%09ld%s", directory, step, rest);
}

void checkpoint_shard_name(int number, char name[32])
{
    snprintf(name, 32, "shard-%05d", number);
}

int checkpoint_write_shard(const char *directory, long step, int number,
                           const struct checkpoint_state *pieces, size_t piece_count, uint32_t *crc,
                           struct error *err)
{
    char unfinished[PATH_BYTES], name[32], path[PATH_BYTES + 64];
    uint32_t sum = 0;
    int fd;

    step_path(directory, step, UNFINISHED, unfinished);
    checkpoint_shard_name(number, name);
    snprintf(path, sizeof path, "%s/%s", unfinished, name);
    /* checkpoint_begin() has made the directory empty */
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_set(err, "%s: %m%s", path,
                         errno == ENOENT   ? " (is the directory shared by all nodes?)"
                         : errno == EEXIST ? " (does another muster-train write there?)"
                                           : "");
    for (size_t i = 0; i < piece_count; i++) {
        const struct checkpoint_state *piece = &pieces[i];

        if (write_array(fd, piece->parameters, piece->count, &sum) != 0 ||
            write_array(fd, piece->first_moments, piece->count, &sum) != 0 ||
            write_array(fd, piece->second_moments, piece->count, &sum) != 0) {
            error_set(err, "%s: %m", path);
            close(fd);
            return -1;
        }
    }
    if (close_synced(fd, path, err) != 0)
        return -1;
    *crc = sum;
    return 0;
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

static int newer_first(const void *a, const void *b)
{
    return COMPARE(*(const long *)b, *(const long *)a);
}

/* Returns NULL with errno after an error, or with errno 0 at the end. */
static const struct dirent *next_entry(DIR *directory)
{
    errno = 0;
    return readdir(directory);
}

/* Lists the steps of the directory's checkpoints, newest first, malloc'd; if cleans, removes
 * unfinished ones. Returns their number, or -1 with errno. */
static long list_steps(const char *path, bool cleans, long **steps)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    size_t count = 0;
    int error;

    *steps = NULL;
    if (!directory)
        return -1;
    while ((entry = next_entry(directory))) {
        char name[PATH_BYTES];

        if (cleans && is_unfinished(entry->d_name)) {
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            discard(name);
        }
        if (step_of(entry->d_name) < 0)
            continue;
        if (!GROW(*steps, count))
            break;
        (*steps)[count++] = step_of(entry->d_name);
    }
    error = errno;
    closedir(directory);
    if (error != 0) {
        free(*steps);
        *steps = NULL;
        errno = error;
        return -1;
    }
    if (count > 0)
        qsort(*steps, count, sizeof **steps, newer_first);
    return (long)count;
}

/* Removes unfinished checkpoints, those between since and step, which are not intact, and of the
 * others up to step all but the newest `keep`. */
static void prune(const char *directory, long since, long step, int keep)
{
    char path[PATH_BYTES];
    long *steps, count = list_steps(directory, true, &steps), older = 0;

    for (long i = 0; i < count; i++) {
        bool is_between = steps[i] > since && steps[i] < step;

        if (is_between || (steps[i] <= step && ++older > keep)) {
            step_path(directory, steps[i], "", path);
            discard(path);
        }
    }
    free(steps);
}

void checkpoint_prune(const char *directory, long step, int keep)
{
    prune(directory, step, step, keep);
}

int checkpoint_begin(const char *directory, long step, struct error *err)
{
    char unfinished[PATH_BYTES];

    if (strlen(directory) > PATH_BYTES - 64)
        return error_set(err, "%.64s...: path too long", directory);
    if (mkdir(directory, 0755) != 0 && errno != EEXIST)
        return error_set(err, "%s: %m", directory);
    checkpoint_discard(directory, step);
    step_path(directory, step, UNFINISHED, unfinished);
    return mkdir(unfinished, 0755) == 0 ? 0 : error_set(err, "%s: %m", unfinished);
}

void checkpoint_discard(const char *directory, long step)
{
    char unfinished[PATH_BYTES];

    step_path(directory, step, UNFINISHED, unfinished);
    discard(unfinished);
}

int checkpoint_commit(const char *directory, const struct manifest *manifest, long since, int keep,
                      struct error *err)
{
    char path[PATH_BYTES], unfinished[PATH_BYTES], file[PATH_BYTES + 64];

    step_path(directory, manifest->step, "", path);
    step_path(directory, manifest->step, UNFINISHED, unfinished);
    snprintf(file, sizeof file, "%s/manifest", unfinished);
    if (write_manifest(file, manifest, err) != 0 || directory_sync(unfinished, err) != 0) {
        discard(unfinished);
        return -1;
    }
    discard(path); /* an older one of this step, which was not intact: the run began before it */
    if (rename(unfinished, path) != 0) {
        error_set(err, "%s: %m", path);
        discard(unfinished);
        return -1;
    }
    if (directory_sync(directory, err) != 0)
        return -1;
    prune(directory, since, manifest->step, keep);
    return 0;
}

static size_t shard_bytes(const struct manifest *manifest, const struct manifest_shard *shard)
{
    size_t elements = 0;

    for (size_t i = 0; i < shard->piece_count; i++)
        elements += manifest->pieces[shard->first_piece + i].count;
    return elements * ARRAYS * sizeof(real);
}

/* Compares all of a shard with its size and checksum. Returns 1 if it is intact; 0 with err if not;
 * -1 if it cannot be read. */
static int verify_shard(int fd, const char *path, const struct manifest *manifest,
                        const struct manifest_shard *shard, struct error *err)
{
    size_t expected = shard_bytes(manifest, shard), found = 0;
    uint8_t *chunk = malloc(CHUNK_BYTES);
    uint32_t crc = 0;
    ssize_t got = 0;

    if (!chunk)
        return error_set(err, "%s: %m", path);
    while (found <= expected && (got = pread(fd, chunk, CHUNK_BYTES, (off_t)found)) > 0) {
        crc = crc32c(crc, chunk, (size_t)got);
        found += (size_t)got;
        watch_step();
    }
    free(chunk);
    if (got < 0)
        return error_set(err, "%s: %m", path);
    if (found < expected)
        error_set(err, "%s: truncated, expected %zu bytes", path, expected);
    else if (found > expected)
        error_set(err, "%s: too long, expected %zu bytes", path, expected);
    else if (crc != shard->crc)
        error_set(err, "%s: corrupt: checksum is %08x, expected %08x", path, (unsigned)crc,
                  (unsigned)shard->crc);
    else
        return 1;
    return 0;
}

/* 1, 0 at the end of the file, or -1 with errno. */
static int read_values(int fd, real *values, size_t count, size_t at)
{
    uint8_t *bytes = (uint8_t *)values;
    size_t left = count * sizeof *values;

    if (lseek(fd, (off_t)(at * sizeof *values), SEEK_SET) < 0)
        return -1;
    while (left > 0) {
        size_t length = left < CHUNK_BYTES ? left : CHUNK_BYTES;
        ssize_t got = read_all(fd, bytes, length);

        if (got != (ssize_t)length)
            return got < 0 ? -1 : 0;
        watch_step();
        bytes += length;
        left -= length;
    }
    return 1;
}

/* Reads the elements that the file's piece, which begins at element `at` of the file, and the
 * wanted piece have in common. */
static int read_common(int fd, const struct manifest_piece *piece, size_t at,
                       const struct checkpoint_state *wanted)
{
    size_t from = piece->first > wanted->first ? piece->first : wanted->first;
    size_t piece_end = piece->first + piece->count, wanted_end = wanted->first + wanted->count;
    size_t to = piece_end < wanted_end ? piece_end : wanted_end;
    real *arrays[ARRAYS] = {wanted->parameters, wanted->first_moments, wanted->second_moments};
    int rv = 1;

    for (size_t i = 0; rv == 1 && from < to && i < ARRAYS; i++)
        rv = read_values(fd, arrays[i] + (from - wanted->first), to - from,
                         at + i * piece->count + (from - piece->first));
    return rv;
}

/* Of a file that could not be opened. 0: it is missing, or is none; -1: it may be what it was. */
static int by_errno(void)
{
    return errno == ENOENT || errno == ENOTDIR || errno == EINVAL ? 0 : -1;
}

/* The same. */
static int read_shard(const char *path, const struct manifest *manifest,
                      const struct manifest_shard *shard, bool verifies,
                      const struct checkpoint_state *pieces, size_t piece_count, struct error *err)
{
    int fd = regular_file_open(path, err), rv = 1;
    size_t at = 0;

    if (fd < 0)
        return by_errno();
    if (verifies)
        rv = verify_shard(fd, path, manifest, shard, err);
    for (size_t i = 0; rv == 1 && i < shard->piece_count; i++) {
        const struct manifest_piece *piece = &manifest->pieces[shard->first_piece + i];

        for (size_t j = 0; rv == 1 && j < piece_count; j++) {
            rv = read_common(fd, piece, at, &pieces[j]);
            if (rv < 0)
                error_set(err, "%s: %m", path);
            else if (rv == 0)
                error_set(err, "%s: truncated, expected %zu bytes", path,
                          shard_bytes(manifest, shard));
        }
        at += ARRAYS * piece->count;
    }
    close(fd);
    return rv;
}

/* Reads a checkpoint, as far as this rank sees it. Returns 1; 0 with err if it is not intact; -1
 * with err if it is of another problem or cannot be read. */
static int read_one(const char *path, const struct checkpoint_problem *problem, long step,
                    struct rank_info rank_info, const struct checkpoint_state *pieces,
                    size_t piece_count, struct error *err)
{
    struct manifest manifest;
    char file[PATH_BYTES + 64], *text;
    int rv = 1;

    snprintf(file, sizeof file, "%s/manifest", path);
    if (regular_file_read(file, MANIFEST_BYTES, &text, err) != 0)
        return by_errno();
    errno = 0;
    if (manifest_parse(text, &manifest, err) != 0) {
        rv = errno == ENOMEM ? error_set(err, "out of memory") : 0;
        free(text);
        error_prefix(err, "%s", file);
        return rv;
    }
    free(text);
    if (manifest.step != step) {
        error_set(err, "%s: found the manifest of step %ld", file, manifest.step);
        rv = 0;
    } else if (manifest_compare(&manifest, problem, err) != 0) {
        error_prefix(err, "%s", path);
        rv = -1;
    }
    for (size_t i = 0; i < manifest.shard_count && rv == 1; i++) {
        snprintf(file, sizeof file, "%s/%s", path, manifest.shards[i].file);
        rv = read_shard(file, &manifest, &manifest.shards[i],
                        i % (size_t)rank_info.ranks == (size_t)rank_info.rank, pieces, piece_count,
                        err);
    }
    manifest_clear(&manifest);
    return rv;
}

/* Returns the minimum of the ranks' values, and sets *first to the first rank that has it. */
static int least(struct comm *comm, int mine, int *first)
{
    int ranks = comm_rank_info(comm).ranks, *all = comm_gather_buffer(comm, sizeof *all);
    int found = mine;

    *first = comm_rank_info(comm).rank;
    comm_all_gather(comm, &mine, sizeof mine, all);
    for (int rank = ranks - 1; rank >= 0; rank--) {
        if (all[rank] <= found || rank == ranks - 1) {
            found = all[rank];
            *first = rank;
        }
    }
    free(all);
    return found;
}

/* Broadcasts rank 0's list of steps. Returns its length, or -1 with err. */
static long agree_on_steps(struct comm *comm, const char *directory, long **steps,
                           struct error *err)
{
    long count = -1;
    int error = 0;

    *steps = NULL;
    if (comm_rank_info(comm).rank == 0) {
        count = list_steps(directory, false, steps);
        error = errno;
    }
    comm_broadcast(comm, &count, sizeof count);
    comm_broadcast(comm, &error, sizeof error);
    if (count < 0) {
        errno = error;
        return errno == ENOENT ? 0 : error_set(err, "%s: %m", directory);
    }
    if (comm_rank_info(comm).rank != 0)
        *steps = calloc((size_t)count + 1, sizeof **steps);
    if (!*steps && count > 0)
        watch_fault("%s: out of memory", directory);
    comm_broadcast(comm, *steps, (size_t)count * sizeof **steps);
    return count;
}

int checkpoint_read(const char *directory, const struct checkpoint_problem *problem,
                    struct comm *comm, const struct checkpoint_state *pieces, size_t piece_count,
                    long *step, void (*complain)(const char *line), struct error *err)
{
    long *steps, count = agree_on_steps(comm, directory, &steps, err);
    int rv = count < 0 ? -1 : 0;

    for (long i = 0; i < count && rv == 0; i++) {
        char path[PATH_BYTES];
        struct error wrong = {""};
        int first, mine;

        step_path(directory, steps[i], "", path);
        mine = read_one(path, problem, steps[i], comm_rank_info(comm), pieces, piece_count, &wrong);
        rv = least(comm, mine, &first);
        if (rv == 0 && first == comm_rank_info(comm).rank)
            complain(wrong.text);
        else if (rv > 0)
            *step = steps[i];
        else if (rv < 0 && comm_agree(comm, mine < 0 ? -1 : 0, &wrong) != 0)
            *err = wrong;
    }
    free(steps);
    return rv;
}
