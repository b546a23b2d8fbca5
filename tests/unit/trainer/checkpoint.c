/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "tests/unit/poor_memory.h"
#include "tests/unit/tap.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/saver.h"

/* A checkpoint is read as it was written; a damaged one is not used. */

static const struct checkpoint_problem problem = {{2, 2, 8, 4, 11}, 3, 1337, 1ULL << 63, 77, true};
static char directory[] = "/tmp/muster-checkpoint-XXXXXX";
static char messages[4096];
static struct comm *self_comm;

static struct checkpoint_state state_of(size_t first, size_t count)
{
    return (struct checkpoint_state){first, count, calloc(count, sizeof(real)),
                                     calloc(count, sizeof(real)), calloc(count, sizeof(real))};
}

static void free_state(struct checkpoint_state *state)
{
    free(state->parameters);
    free(state->first_moments);
    free(state->second_moments);
}

static void fill(struct checkpoint_state *state, long step)
{
    for (size_t i = 0; i < state->count; i++) {
        size_t at = state->first + i;

        state->parameters[i] = (real)(at * 3 + (size_t)step);
        state->first_moments[i] = (real)(at * 5 + (size_t)step);
        state->second_moments[i] = (real)(at * 7 + (size_t)step);
    }
}

static long since = LONG_MAX; /* argument of checkpoint_commit() */
static struct error err;

/* Writes a checkpoint with this number of shards; each has a piece of each third of the model.
 * Returns 0, or -1 with err. */
static int write_shards(const char *where, long step, int shards, int keep)
{
    size_t all = shape_parameters(&problem.shape), third = all / 3;
    struct manifest manifest = {.problem = problem, .step = step};
    int rv;

    err.text[0] = '\0';
    rv = checkpoint_begin(where, step, &err);
    for (int shard = 0; shard < shards && rv == 0; shard++) {
        struct checkpoint_state pieces[3];
        char name[32];
        uint32_t crc = 0;

        for (size_t i = 0; i < 3; i++) {
            size_t begin = i * third, size = i < 2 ? third : all - 2 * third;
            size_t first = size * (size_t)shard / (size_t)shards;
            size_t end = size * ((size_t)shard + 1) / (size_t)shards;

            pieces[i] = state_of(begin + first, end - first);
            fill(&pieces[i], step);
        }
        rv = checkpoint_write_shard(where, step, shard, pieces, 3, &crc, &err);
        checkpoint_shard_name(shard, name);
        manifest_add_shard(&manifest, name, crc);
        for (size_t i = 0; i < 3; i++) {
            manifest_add_piece(&manifest, pieces[i].first, pieces[i].count);
            free_state(&pieces[i]);
        }
    }
    if (rv == 0)
        rv = checkpoint_commit(where, &manifest, since, keep, &err);
    manifest_clear(&manifest);
    return rv;
}

static void write_step(long step, int keep)
{
    if (!is_int(write_shards(directory, step, 1, keep), 0, "step %ld is written", step))
        tap_diag("%s", err.text);
}

static void add_message(const char *line)
{
    text_join(messages, sizeof messages, "", "%s\n", line);
}

/* Reads a range and compares it with the values of step `expected`; -1: none may be found. */
static void read_step(size_t first, size_t count, long expected)
{
    struct checkpoint_state state = state_of(first, count), wanted = state_of(first, count);
    long step = -1;
    int rv;

    messages[0] = '\0';
    rv = checkpoint_read(directory, &problem, self_comm, &state, 1, &step, add_message, &err);
    if (!is_int(rv, expected >= 0, "a checkpoint is %s", expected >= 0 ? "found" : "not found"))
        tap_diag("%s", err.text);
    if (expected >= 0) {
        fill(&wanted, expected);
        is_int(step, expected, "the checkpoint is that of step %ld", expected);
        ok(memcmp(state.parameters, wanted.parameters, count * sizeof(real)) == 0 &&
               memcmp(state.first_moments, wanted.first_moments, count * sizeof(real)) == 0 &&
               memcmp(state.second_moments, wanted.second_moments, count * sizeof(real)) == 0,
           "elements %zu to %zu are as they were written", first, first + count - 1);
    }
    free_state(&state);
    free_state(&wanted);
}

static const char *path_of(const char *rest)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", directory, rest);
    return path;
}

static void flip_bit(const char *file, off_t at)
{
    int fd = open(path_of(file), O_RDWR);
    char byte = 0;

    if (pread(fd, &byte, 1, at) == 1) {
        byte ^= 16;
        ok(pwrite(fd, &byte, 1, at) == 1, "a bit of %s at %ld is flipped", file, (long)at);
    }
    close(fd);
}

static void parts_are_read(void)
{
    size_t all = shape_parameters(&problem.shape);

    read_step(0, all, -1);
    is_str(messages, "", "a missing directory gives no message");
    write_step(10, 2);
    read_step(0, all, 10);
    read_step(all / 3, all / 2, 10);
    read_step(all - 1, 1, 10);
}

static void old_checkpoints_are_removed(void)
{
    write_step(20, 2);
    write_step(30, 2);
    ok(access(path_of("step-000000010"), F_OK) != 0, "of three checkpoints the oldest is removed");
    ok(access(path_of("step-000000020"), F_OK) == 0, "... and the newest two are kept");
    mkdir(path_of("step-000000025.unfinished"), 0755);
    write_step(40, 3);
    ok(access(path_of("step-000000025.unfinished"), F_OK) != 0,
       "an unfinished checkpoint is removed");
    read_step(0, 5, 40);
}

static void damaged_checkpoints_are_skipped(void)
{
    struct stat status;

    flip_bit("step-000000040/shard-00000", 1234);
    read_step(0, 5, 30);
    has_str(messages, "step-000000040/shard-00000: corrupt: checksum",
            "the message names the altered file");
    flip_bit("step-000000040/shard-00000", 1234);
    read_step(0, 5, 40);
    stat(path_of("step-000000040/shard-00000"), &status);
    is_int(truncate(path_of("step-000000040/shard-00000"), status.st_size - 1), 0,
           "a shard is cut off by one byte");
    read_step(0, 5, 30);
    has_str(messages, "truncated", "the message says that it is truncated");
    is_int(truncate(path_of("step-000000040/shard-00000"), status.st_size + 1), 0,
           "a shard is longer by one byte");
    read_step(0, 5, 30);
    has_str(messages, "too long", "the message says that it is too long");
    unlink(path_of("step-000000040/shard-00000"));
    read_step(0, 5, 30);
    has_str(messages, "No such file", "the message says that a shard is missing");
    stat(path_of("step-000000030/manifest"), &status);
    flip_bit("step-000000030/manifest", 30);
    read_step(0, 5, 20);
    has_str(messages, "step-000000030/manifest: corrupt", "the message names an altered manifest");
    flip_bit("step-000000030/manifest", 30);
    is_int(truncate(path_of("step-000000030/manifest"), status.st_size / 2), 0,
           "a manifest is cut in half");
    read_step(0, 5, 20);
    has_str(messages, "step-000000030/manifest: truncated",
            "the message names a truncated manifest");
    write_step(40, 3);
    read_step(0, 5, 40);
}

/* A FIFO without a writer: an open of it would wait forever. */
static void fifos_do_not_block(void)
{
    static const char *const files[] = {"step-000000040/manifest", "step-000000040/shard-00000"};
    char aside[512], named[600];

    snprintf(aside, sizeof aside, "%s", path_of("aside"));
    alarm(20);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        is_int(rename(path_of(files[i]), aside), 0, "%s is renamed", files[i]);
        is_int(mkfifo(path_of(files[i]), 0600), 0, "... with a FIFO in its place");
        read_step(0, 5, 20);
        snprintf(named, sizeof named, "%s: is not a regular file\n", path_of(files[i]));
        has_str(messages, named, "... which the message names");
        is_int(rename(aside, path_of(files[i])), 0, "... and the file is renamed back");
    }
    alarm(0);
    read_step(0, 5, 40);
}

/* If a file server does not answer for a while, skipping the checkpoint would lose the training
 * since the one before, and with the next commit the checkpoint itself. */
static void unreadable_shard_is_an_error(void)
{
    static const char shard[] = "step-000000040/shard-00000";
    struct checkpoint_state state = state_of(0, 5);
    char aside[512];
    long step = -1;

    snprintf(aside, sizeof aside, "%s", path_of("aside"));
    is_int(rename(path_of(shard), aside), 0, "%s is renamed", shard);
    is_int(symlink("/proc/self/mem", path_of(shard)), 0,
           "... and replaced by a file that cannot be read");
    messages[0] = '\0';
    is_int(checkpoint_read(directory, &problem, self_comm, &state, 1, &step, add_message, &err), -1,
           "... which is an error");
    has_str(err.text, "step-000000040/shard-00000: Input/output error", "... that names it");
    is_str(messages, "", "... and no other checkpoint is tried");
    is_int(rename(aside, path_of(shard)), 0, "... the file is renamed back");
    read_step(0, 5, 40);
    free_state(&state);
}

static void truncated_manifests_are_skipped(void)
{
    struct stat status;
    char *text;
    int fd = open(path_of("step-000000040/manifest"), O_RDWR), skipped = 0;

    fstat(fd, &status);
    text = malloc((size_t)status.st_size);
    ok(read(fd, text, (size_t)status.st_size) == status.st_size, "the manifest is read");
    for (off_t size = 0; size < status.st_size; size++) {
        struct checkpoint_state state = state_of(0, 1);
        long step = -1;

        if (ftruncate(fd, size) != 0)
            break;
        checkpoint_read(directory, &problem, self_comm, &state, 1, &step, add_message, &err);
        skipped += step == 20;
        free_state(&state);
        if (pwrite(fd, text, (size_t)status.st_size, 0) != status.st_size)
            break;
    }
    is_int(skipped, status.st_size,
           "for every cut of the manifest, the checkpoint before it is read");
    close(fd);
    free(text);
}

static void other_problems_are_refused(void)
{
    struct checkpoint_state state = state_of(0, 1);
    struct checkpoint_problem other = problem;
    long step = -1;

    other.batch = 4;
    is_int(checkpoint_read(directory, &other, self_comm, &state, 1, &step, add_message, &err), -1,
           "a checkpoint with another batch is refused");
    has_str(err.text, "step-000000040: was written with --batch=3, this run has --batch=4",
            "... with both values in the message");
    other = problem;
    other.is_batch_fixed = false;
    is_int(checkpoint_read(directory, &other, self_comm, &state, 1, &step, add_message, &err), -1,
           "a checkpoint of a fixed batch is refused by a run without one");
    has_str(err.text, "was written with --fixed-batch, this run is without",
            "... with the option in the message");
    free_state(&state);
}

static void failure_keeps_other_checkpoints(void)
{
    is_int(write_shards("/proc/no-such", 1, 1, 2), -1,
           "a directory that cannot be made is an error");
    has_str(err.text, "/proc/no-such: ", "... that names it");
    /* the path of the next step's directory */
    mkdir(path_of("step-000000050.unfinished"), 0755);
    is_int(mkdir(path_of("step-000000050.unfinished/in-the-way"), 0755), 0,
           "another directory is in it");
    is_int(write_shards(directory, 50, 1, 3), -1, "step 50 cannot be written");
    read_step(0, 5, 40);
    rmdir(path_of("step-000000050.unfinished/in-the-way"));
    rmdir(path_of("step-000000050.unfinished"));
    is_int(close(open(path_of("step-000000050.unfinished"), O_CREAT | O_WRONLY, 0644)), 0,
           "a file takes the name of the directory");
    write_step(50, 3);
    read_step(0, 5, 50);
}

/* Simulates storage that fails: the sync of the directory of checkpoints, and the read of its entry
 * with this number, from 1, as if a file server failed. */
static bool sync_fails;
static int failing_entry;

int __real_fsync(int fd);
int __wrap_fsync(int fd)
{
    struct stat of, there;

    if (!sync_fails || fstat(fd, &of) != 0 || stat(directory, &there) != 0 ||
        of.st_ino != there.st_ino)
        return __real_fsync(fd);
    errno = EIO;
    return -1;
}

struct dirent *__real_readdir(DIR *stream);
struct dirent *__wrap_readdir(DIR *stream)
{
    if (failing_entry == 0 || --failing_entry > 0)
        return __real_readdir(stream);
    errno = EIO;
    return NULL;
}

static void unsynced_commit_keeps_previous(void)
{
    write_step(800, 1);
    sync_fails = true;
    is_int(write_shards(directory, 810, 1, 1), -1, "a commit whose directory cannot be synced");
    sync_fails = false;
    has_str(err.text, "Input/output error", "... is an error");
    ok(access(path_of("step-000000800"), F_OK) == 0, "... and the checkpoint before it is kept");
    write_step(810, 1);
    ok(access(path_of("step-000000800"), F_OK) != 0, "... until the next one is committed");
}

/* A list that is cut off would look like one without checkpoints, and the run would start from the
 * beginning. */
static void incomplete_list_is_an_error(void)
{
    struct checkpoint_state state = state_of(0, 5);

    write_step(820, 2);
    for (int entry = 1; entry <= 4; entry++) {
        long step = -1;

        err.text[0] = '\0';
        failing_entry = entry;
        is_int(checkpoint_read(directory, &problem, self_comm, &state, 1, &step, add_message, &err),
               -1, "a directory whose entry %d cannot be read", entry);
        failing_entry = 0;
        has_str(err.text, ": Input/output error", "... is an error");
    }
    free_state(&state);
}

/* A run that resumed before a damaged checkpoint trains past its step. */
static void damaged_checkpoints_do_not_count(void)
{
    write_step(910, 1);
    write_step(920, 2);
    flip_bit("step-000000920/shard-00000", 1234);
    read_step(0, 5, 910);
    since = 910;
    write_step(930, 2);
    flip_bit("step-000000930/manifest", 30);
    read_step(0, 5, 910);
    since = 930;
    write_step(940, 1);
    since = LONG_MAX;
}

static void shards_are_combined(void)
{
    size_t all = shape_parameters(&problem.shape);

    /* with more shards than some pieces have elements, some pieces are empty */
    for (int shards = 2; shards <= 600; shards *= 5) {
        is_int(write_shards(directory, 60 + shards, shards, 3), 0,
               "a checkpoint with %d shards is written", shards);
        read_step(0, all, 60 + shards);
        read_step(all / 3 - 1, all / 2, 60 + shards);
    }
    flip_bit("step-000000310/shard-00003", 12);
    read_step(0, 5, 110);
    has_str(messages, "step-000000310/shard-00003: corrupt",
            "a shard is checked also if none of its elements is requested");
}

static void second_writer_is_named(void)
{
    struct checkpoint_state state = state_of(0, 5);
    uint32_t crc;

    for (int i = 0; i < 2; i++) {
        is_int(checkpoint_begin(directory, 900, &err), 0, "%s",
               i == 0 ? "a checkpoint is begun" : "a checkpoint is begun again, as after a kill");
        is_int(checkpoint_write_shard(directory, 900, 0, &state, 1, &crc, &err), 0,
               "... its shard is written");
    }
    is_int(checkpoint_write_shard(directory, 900, 0, &state, 1, &crc, &err), -1,
           "the shard of another training is not overwritten");
    has_str(err.text,
            "step-000000900.unfinished/shard-00000: File exists (does another muster-train",
            "... and the message names it");
    checkpoint_discard(directory, 900);
    free_state(&state);
}

/* Counts the steps that are reported to the watch. */
static int steps_reported;

void __wrap_watch_step(void)
{
    steps_reported++;
}

/* The copy is the first access to its memory, which takes long if it is large. */
static void copying_reports_steps(void)
{
    struct checkpoint_state state = state_of(0, (2 << 20) / sizeof(real) + 5);
    struct saver *saver = NULL;

    is_int(saver_create(directory, &problem, self_comm, &state, 1, 3, &saver, &err), 0,
           "a saver is created");
    steps_reported = 0;
    is_int(saver_begin(saver, 950, &err), 0, "... begins a checkpoint");
    is_int(steps_reported, 3 * SAVER_COPY_STEPS,
           "... and reports steps to the watch, as many as any rank");
    saver_destroy(saver);
    free_state(&state);
}

/* The other ranks would wait for one without memory. */
static void missing_memory_ends_the_job(void)
{
    struct checkpoint_state state = state_of(0, 5);
    struct saver *saver = NULL;
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        if (saver_create(directory, &problem, self_comm, &state, 1, 3, &saver, &err) != 0 ||
            saver_begin(saver, 960, &err) != 0)
            _exit(99);
        while (saver_is_writing(saver))
            usleep(1000);
        memory_fails_at(1);
        saver_finish(saver, &err);
        _exit(memory_has_failed() ? 1 : 3); /* under AddressSanitizer none fails */
    }
    waitpid(child, &status, 0);
    is_int(status, 3 << 8, "a rank without memory to finish a checkpoint ends the job");
    free_state(&state);
}

/* A manifest as large as that of thousands of ranks, each with parts of every tensor. */
static void long_manifests_are_read(void)
{
    struct checkpoint_problem large = problem;
    struct manifest manifest = {.step = 1000};
    struct checkpoint_state all, wanted = state_of(0, 5);
    struct stat status;
    long step = -1;
    uint32_t crc;

    large.shape.layers = 12;
    large.shape.channels = 64;
    all = state_of(0, shape_parameters(&large.shape));
    manifest.problem = large;
    checkpoint_begin(directory, 1000, &err);
    is_int(checkpoint_write_shard(directory, 1000, 0, &all, 1, &crc, &err), 0,
           "a shard is written");
    manifest_add_shard(&manifest, "shard-00000", crc);
    for (size_t i = 0; i < all.count; i++) {
        manifest_add_piece(&manifest, i, 1);
        manifest_add_piece(&manifest, i, 0);
    }
    is_int(manifest.piece_count, all.count,
           "the manifest has as many pieces as elements, without empty ones");
    is_int(checkpoint_commit(directory, &manifest, LONG_MAX, 3, &err), 0, "... and is committed");
    is_int(stat(path_of("step-000001000/manifest"), &status), 0, "... to a file");
    ok(status.st_size > 8 << 20, "... of %ld bytes", (long)status.st_size);
    is_int(checkpoint_read(directory, &large, self_comm, &wanted, 1, &step, add_message, &err), 1,
           "... which is read");
    is_int(step, 1000, "... with its step");
    manifest_clear(&manifest);
    free_state(&all);
    free_state(&wanted);
}

static char *text_of_manifest(const void *of)
{
    return manifest_format(of);
}

static void manifest_is_complete_or_null(void)
{
    struct manifest manifest = {.problem = problem};

    for (int shard = 0; shard < 2000; shard++) {
        char name[32];

        checkpoint_shard_name(shard, name);
        manifest_add_shard(&manifest, name, 1);
    }
    is_complete_or_null("a manifest", text_of_manifest, &manifest);
    manifest_clear(&manifest);
}

static void pieces_must_be_complete(void)
{
    static const struct {
        size_t first[3], count[3];
        bool is_complete;
    } cases[] = {
        {{0, 100, 50}, {50, 0, 0}, true},
        {{0, 0, 50}, {50, 0, 1}, false},
        {{0, 49, 50}, {50, 1, 0}, false},
        {{0, 51, 50}, {50, 0, (size_t)-1}, false},
    };
    size_t all = shape_parameters(&problem.shape);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct manifest manifest = {.problem = problem}, parsed;
        char *text;
        int rv;

        manifest_add_shard(&manifest, "one", 1);
        for (int piece = 0; piece < 3; piece++)
            manifest_add_piece(&manifest, cases[i].first[piece], cases[i].count[piece]);
        manifest_add_piece(&manifest, 50, all - 50);
        err.text[0] = '\0';
        text = manifest_format(&manifest);
        rv = manifest_parse(text, &parsed, &err);
        is_int(rv, cases[i].is_complete ? 0 : -1, "pieces %zu: %s", i,
               cases[i].is_complete ? "complete" : "refused");
        if (rv == 0)
            manifest_clear(&parsed);
        else
            has_str(err.text, "the pieces do not contain each of the", "... with this message");
        free(text);
        manifest_clear(&manifest);
    }
}

int main(void)
{
    char command[600];

    if (!mkdtemp(directory))
        tap_skip_all("no directory in /tmp: %m");
    rmdir(directory);
    if (comm_self(&self_comm, &err) != 0)
        tap_skip_all("%s", err.text);
    parts_are_read();
    old_checkpoints_are_removed();
    damaged_checkpoints_are_skipped();
    fifos_do_not_block();
    unreadable_shard_is_an_error();
    truncated_manifests_are_skipped();
    other_problems_are_refused();
    failure_keeps_other_checkpoints();
    shards_are_combined();
    second_writer_is_named();
    unsynced_commit_keeps_previous();
    incomplete_list_is_an_error();
    damaged_checkpoints_do_not_count();
    copying_reports_steps();
    missing_memory_ends_the_job();
    long_manifests_are_read();
    manifest_is_complete_or_null();
    pieces_must_be_complete();
    comm_destroy(self_comm);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    is_int(system(command), 0, "the directory is removed");
    return tap_done();
}
