/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/deadline.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"

/* Milliseconds to wait after SIGKILL. A child that hangs in the kernel is then left. */
enum { LAST_WAITS = 50 };

/* A child that hangs must hold no descriptor open: slurmd waits for the end of the prolog's output,
 * and srun or slurmd would find the socket of an ended slurmstepd still listening. */
static void close_descriptors(int kept)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    DIR *open_ones;
    struct dirent *entry;

    for (int fd = 0; fd <= 2; fd++)
        if (null < 0 || dup2(null, fd) < 0)
            close(fd);
    open_ones = opendir("/proc/self/fd");
    while (open_ones != NULL && (entry = readdir(open_ones)) != NULL) {
        int fd = atoi(entry->d_name);

        if (fd > 2 && fd != kept && fd != dirfd(open_ones))
            close(fd);
    }
    if (open_ones != NULL)
        closedir(open_ones);
}

bool deadline_start(struct deadline *deadline, long limit_ms, deadline_work *work, void *context)
{
    pid_t parent = getpid();
    int ends[2], saved_errno;

    *deadline = (struct deadline){.child = -1, .fd = -1, .at_ms = clock_ms() + limit_ms};
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    deadline->child = fork();
    if (deadline->child == 0) {
        /* if the parent has no standard files, the pipe has a descriptor below 3, which is
         * replaced below */
        int answers = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (answers < 0 || getppid() != parent)
            _exit(1);
        signal(SIGPIPE, SIG_IGN);
        close_descriptors(answers);
        work(answers, context);
        _exit(0);
    }
    saved_errno = errno;
    close(ends[1]);
    if (deadline->child < 0) {
        close(ends[0]);
        errno = saved_errno;
        return false;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    deadline->fd = ends[0];
    return true;
}

bool deadline_read(const struct deadline *deadline, void *bytes, size_t size)
{
    struct pollfd wait = {.fd = deadline->fd, .events = POLLIN};

    for (size_t found = 0; found < size;) {
        ssize_t got = read(deadline->fd, (char *)bytes + found, size - found);
        long left_ms = deadline->at_ms - clock_ms();

        if (got > 0) {
            found += (size_t)got;
            continue;
        }
        if (got == 0 || (errno != EAGAIN && errno != EINTR) || left_ms <= 0)
            return false;
        if (poll(&wait, 1, (int)left_ms) < 0 && errno != EINTR && errno != EAGAIN)
            return false;
    }
    return true;
}

bool deadline_end(struct deadline *deadline, bool has_answer)
{
    bool is_late = !has_answer && clock_ms() >= deadline->at_ms;

    close(deadline->fd);
    if (!has_answer)
        kill(deadline->child, SIGKILL);
    for (int i = 0; is_late && i < LAST_WAITS && waitpid(deadline->child, NULL, WNOHANG) == 0; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    while (!is_late && waitpid(deadline->child, NULL, 0) < 0 && errno == EINTR)
        ;
    return is_late;
}

struct attempt {
    void (*work)(void *context);
    void *context;
};

static void run_attempt(int fd, void *context)
{
    const struct attempt *attempt = context;

    attempt->work(attempt->context);
    (void)!write(fd, "", 1);
}

void deadline_try(long limit_ms, void (*work)(void *context), void *context)
{
    struct attempt attempt = {work, context};
    struct deadline deadline;
    char byte;

    if (deadline_start(&deadline, limit_ms, run_attempt, &attempt))
        (void)deadline_end(&deadline, deadline_read(&deadline, &byte, 1));
}
