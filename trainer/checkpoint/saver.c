/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/checkpoint/saver.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct saver {
    const char *directory;
    struct checkpoint_problem problem;
    int keep;
    int lock; /* the directory, open and locked; -1 */
    struct checkpoint_state copy;
    real *memory; /* of the copy */
    pthread_t thread;
    bool is_writing;
    long step;
    int rv; /* of the thread, good when it was joined */
    struct error err;
};

/* Returns the descriptor, or -1 with err. */
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
    if (errno == EWOULDBLOCK)
        error_set(err, "%s: another muster-train writes its checkpoints there", directory);
    else
        error_set(err, "%s: %m", directory);
    close(fd);
    return -1;
}

int saver_create(const char *directory, const struct checkpoint_problem *problem, size_t count,
                 int keep, struct saver **saver, struct error *err)
{
    struct saver *made = calloc(1, sizeof *made);

    if (!made || !(made->memory = malloc(3 * count * sizeof(real)))) {
        free(made);
        return error_set(err, "checkpoints: %.1f GB of memory for a copy cannot be had: %m",
                         (double)(3 * count * sizeof(real)) / 1e9);
    }
    made->lock = lock_directory(directory, err);
    if (made->lock < 0) {
        saver_destroy(made);
        return -1;
    }
    made->directory = directory;
    made->problem = *problem;
    made->keep = keep;
    made->copy = (struct checkpoint_state){0, count, made->memory, made->memory + count,
                                           made->memory + 2 * count};
    *saver = made;
    return 0;
}

static void *write_copy(void *context)
{
    struct saver *saver = context;

    saver->rv = checkpoint_write(saver->directory, &saver->problem, saver->step, &saver->copy,
                                 saver->keep, &saver->err);
    return NULL;
}

/* Signals are the training thread's. */
static int start_thread(struct saver *saver)
{
    sigset_t all, before;
    int rv;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rv = pthread_create(&saver->thread, NULL, write_copy, saver);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rv;
}

int saver_save(struct saver *saver, long step, const struct checkpoint_state *state,
               struct error *err)
{
    int rv = saver_wait(saver, err);

    saver->copy.first = state->first;
    memcpy(saver->copy.parameters, state->parameters, state->count * sizeof(real));
    memcpy(saver->copy.first_moments, state->first_moments, state->count * sizeof(real));
    memcpy(saver->copy.second_moments, state->second_moments, state->count * sizeof(real));
    saver->step = step;
    if (start_thread(saver) == 0)
        saver->is_writing = true;
    else
        write_copy(saver);
    return rv;
}

int saver_wait(struct saver *saver, struct error *err)
{
    if (saver->is_writing)
        pthread_join(saver->thread, NULL);
    saver->is_writing = false;
    if (saver->rv == 0)
        return 0;
    saver->rv = 0;
    error_set(err, "checkpoint of step %ld: %s", saver->step, saver->err.text);
    return -1;
}

void saver_destroy(struct saver *saver)
{
    struct error err;

    if (!saver)
        return;
    saver_wait(saver, &err);
    if (saver->lock >= 0)
        close(saver->lock);
    free(saver->memory);
    free(saver);
}
