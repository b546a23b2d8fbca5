/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/checkpoint/saver.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/trainer_constants.h"
#include "trainer/checkpoint/manifest.h"
#include "validate/harness/watch/watch.h"

struct saver {
    const char *directory;
    struct checkpoint_problem problem;
    struct comm *comm;
    int keep;
    int lock; /* rank 0: the directory, open and locked; -1 */
    size_t piece_count;
    const struct checkpoint_state *pieces; /* of the training's state */
    struct checkpoint_state *copies;
    real *memory; /* of the copies */
    bool is_begun, has_thread;
    atomic_bool is_writing;
    pthread_t thread;
    int (*work)(struct saver *saver); /* what the thread runs */
    long step, since;                 /* since: for checkpoint_commit() */
    const struct manifest *manifest;  /* rank 0: to be written */
    int rv;                           /* of the work, valid after join() */
    uint32_t crc;
    struct error err;
};

/* A rank's result of writing its shard. */
struct shard_result {
    int rv;
    uint32_t crc;
    char text[sizeof(struct error)];
};

/* Locks the directory, unless the file system has no locks. Returns its descriptor, or -1 with
 * err. */
static int lock_directory(const char *directory, struct error *err)
{
    int fd;

    if (mkdir(directory, 0755) != 0 && errno != EEXIST)
        return error_set(err, "%s: %m", directory);
    fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, "%s: %m", directory);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (errno == EWOULDBLOCK) {
        close(fd);
        return error_set(err, "%s: in use by another muster-train", directory);
    }
    fprintf(stderr, "muster-train: %s: cannot be locked against another muster-train: %m\n",
            directory);
    return fd;
}

static int allocate(struct saver *saver, struct error *err)
{
    const struct checkpoint_state *pieces = saver->pieces;
    size_t count = 0;
    real *next;

    for (size_t i = 0; i < saver->piece_count; i++)
        count += pieces[i].count;
    saver->copies = malloc(saver->piece_count * sizeof *pieces);
    saver->memory = malloc(3 * count * sizeof(real) + 1);
    if (!saver->copies || !saver->memory)
        return error_set(err, "checkpoints: cannot allocate %.1f GB for a copy: %m",
                         (double)(3 * count * sizeof(real)) / 1e9);
    next = saver->memory;
    for (size_t i = 0; i < saver->piece_count; i++, next += 3 * pieces[i - 1].count)
        saver->copies[i] =
            (struct checkpoint_state){pieces[i].first, pieces[i].count, next,
                                      next + pieces[i].count, next + 2 * pieces[i].count};
    return 0;
}

int saver_create(const char *directory, const struct checkpoint_problem *problem, struct comm *comm,
                 const struct checkpoint_state *pieces, size_t piece_count, int keep,
                 struct saver **saver, struct error *err)
{
    struct saver *made = calloc(1, sizeof *made);

    if (!made)
        return error_set(err, "checkpoints: %m");
    *made = (struct saver){.directory = directory,
                           .problem = *problem,
                           .comm = comm,
                           .keep = keep,
                           .since = LONG_MAX,
                           .lock = -1,
                           .piece_count = piece_count,
                           .pieces = pieces};
    if (allocate(made, err) != 0) {
        saver_destroy(made);
        return -1;
    }
    if (comm_rank_info(comm).rank == 0) {
        made->lock = lock_directory(directory, err);
        if (made->lock < 0) {
            saver_destroy(made);
            return -1;
        }
    }
    *saver = made;
    return 0;
}

static void *run_work(void *context)
{
    struct saver *saver = context;

    saver->rv = saver->work(saver);
    atomic_store(&saver->is_writing, false);
    return NULL;
}

/* Runs work in a thread, since waiting for storage may take minutes. The thread blocks all signals:
 * the training thread handles them. */
static void start(struct saver *saver, int work(struct saver *saver))
{
    sigset_t all, before;

    saver->work = work;
    atomic_store(&saver->is_writing, true);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    saver->has_thread = pthread_create(&saver->thread, NULL, run_work, saver) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!saver->has_thread)
        run_work(saver);
}

/* Waits for the thread and returns the result of its work. Waiting for storage counts as a hang
 * only after TRAIN_STORAGE_S. */
static int join(struct saver *saver)
{
    double end_s = clock_s() + TRAIN_STORAGE_S;
    struct timespec second;

    if (!saver->has_thread)
        return saver->rv;
    for (;;) {
        clock_gettime(CLOCK_REALTIME, &second);
        second.tv_sec++;
        if (pthread_timedjoin_np(saver->thread, NULL, &second) != ETIMEDOUT)
            break;
        if (clock_s() < end_s)
            watch_phase("waiting for the storage of %s, step %ld", saver->directory, saver->step);
    }
    saver->has_thread = false;
    return saver->rv;
}

static int begin_checkpoint(struct saver *saver)
{
    return checkpoint_begin(saver->directory, saver->step, &saver->err);
}

static int write_copy(struct saver *saver)
{
    return checkpoint_write_shard(saver->directory, saver->step, comm_rank_info(saver->comm).rank,
                                  saver->copies, saver->piece_count, &saver->crc, &saver->err);
}

static int commit_checkpoint(struct saver *saver)
{
    return checkpoint_commit(saver->directory, saver->manifest, saver->since, saver->keep,
                             &saver->err);
}

/* The first copy also allocates the pages of the memory: a large array takes longer than a rank may
 * be silent. All ranks report the same number of steps, whatever their parts: ranks with fewer
 * steps than others are taken for those that hang. */
static void copy_array(real *to, const real *from, size_t count)
{
    for (size_t step = 0; step < SAVER_COPY_STEPS; step++) {
        size_t begin = count * step / SAVER_COPY_STEPS;
        size_t end = count * (step + 1) / SAVER_COPY_STEPS;

        memcpy(to + begin, from + begin, (end - begin) * sizeof *to);
        watch_step();
    }
}

static void copy_state(struct saver *saver)
{
    for (size_t i = 0; i < saver->piece_count; i++) {
        const struct checkpoint_state *from = &saver->pieces[i], *to = &saver->copies[i];

        copy_array(to->parameters, from->parameters, from->count);
        copy_array(to->first_moments, from->first_moments, from->count);
        copy_array(to->second_moments, from->second_moments, from->count);
    }
}

void saver_resume_from(struct saver *saver, long step)
{
    saver->since = step;
}

/* Makes rank 0's result that of all ranks. reason: rank 0's, unless rv is 0. */
static int share_result(const struct saver *saver, int rv, struct error *reason, struct error *err)
{
    comm_broadcast(saver->comm, &rv, sizeof rv);
    if (rv == 0)
        return 0;
    comm_broadcast(saver->comm, reason->text, sizeof reason->text);
    return error_set(err, "checkpoint of step %ld: %s", saver->step, reason->text);
}

int saver_begin(struct saver *saver, long step, struct error *err)
{
    int begun = 0;

    saver->step = step;
    if (comm_rank_info(saver->comm).rank == 0) {
        start(saver, begin_checkpoint);
        begun = join(saver);
    }
    if (share_result(saver, begun, &saver->err, err) != 0)
        return -1;
    copy_state(saver);
    saver->is_begun = true;
    start(saver, write_copy);
    return 0;
}

bool saver_is_writing(const struct saver *saver)
{
    return atomic_load(&saver->is_writing);
}

/* On rank 0: commits the shards that all ranks have written. ranges: piece_count ranges of each
 * rank, in the order of ranks. */
static int commit(struct saver *saver, const struct shard_result *results,
                  const struct manifest_piece *ranges, struct error *err)
{
    struct manifest manifest = {.problem = saver->problem, .step = saver->step};
    int rv = 0;

    for (int rank = 0; rank < comm_rank_info(saver->comm).ranks && rv == 0; rank++) {
        const struct manifest_piece *pieces = ranges + (size_t)rank * saver->piece_count;
        char name[32];

        if (results[rank].rv != 0) {
            rv = error_set(err, "%.220s", results[rank].text);
            break;
        }
        checkpoint_shard_name(rank, name);
        rv = manifest_add_shard(&manifest, name, results[rank].crc);
        for (size_t i = 0; i < saver->piece_count && rv == 0; i++)
            rv = manifest_add_piece(&manifest, pieces[i].first, pieces[i].count);
        if (rv != 0)
            error_set(err, "no memory for the manifest, or more than %d pieces", MANIFEST_PIECES);
    }
    if (rv == 0) {
        saver->manifest = &manifest;
        start(saver, commit_checkpoint);
        rv = join(saver);
        if (rv == 0)
            saver->since = saver->step;
        else
            *err = saver->err;
    } else {
        checkpoint_discard(saver->directory, saver->step);
    }
    manifest_clear(&manifest);
    return rv;
}

int saver_finish(struct saver *saver, struct error *err)
{
    size_t ranks = (size_t)comm_rank_info(saver->comm).ranks, count = saver->piece_count;
    struct shard_result result = {.rv = 0}, *results;
    struct manifest_piece *ranges, *own;
    struct error wrong = {""};
    int rv = 0;

    if (!saver->is_begun)
        return 0;
    saver->is_begun = false;
    join(saver);
    results = calloc(ranks, sizeof *results);
    ranges = calloc((ranks + 1) * count, sizeof *ranges);
    if (!results || !ranges)
        watch_fault("checkpoint of step %ld: out of memory", saver->step);
    own = ranges + ranks * count;
    for (size_t i = 0; i < count; i++)
        own[i] = (struct manifest_piece){saver->copies[i].first, saver->copies[i].count};
    result.rv = saver->rv;
    result.crc = saver->crc;
    snprintf(result.text, sizeof result.text, "%s", saver->rv ? saver->err.text : "");
    comm_all_gather(saver->comm, &result, sizeof result, results);
    comm_all_gather(saver->comm, own, count * sizeof *own, ranges);
    if (comm_rank_info(saver->comm).rank == 0)
        rv = commit(saver, results, ranges, &wrong);
    free(results);
    free(ranges);
    return share_result(saver, rv, &wrong, err);
}

void saver_destroy(struct saver *saver)
{
    if (!saver)
        return;
    join(saver);
    if (saver->lock >= 0)
        close(saver->lock);
    free(saver->copies);
    free(saver->memory);
    free(saver);
}
