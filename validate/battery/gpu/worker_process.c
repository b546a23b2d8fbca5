/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/gpu/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/sysfs.h"
#include "lib/constants/battery_constants.h"
#include "lib/node/gpu/gpu_choice.h"

extern char **environ;

int worker_start(struct worker *worker, const char *path, const char *visible)
{
    char name[] = "muster-gpu", option[] = "--worker", directory[4096], instance[GPU_LIST_WORD];
    char *arguments[] = {name, option, directory, instance, NULL};
    posix_spawn_file_actions_t actions;
    int fds[2], rv;

    *worker = (struct worker){.fd = -1};
    snprintf(directory, sizeof directory, "%s", path);
    snprintf(instance, sizeof instance, "%s", visible);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fds[1], WORKER_FD);
    rv = posix_spawn(&worker->pid, "/proc/self/exe", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    if (rv != 0) {
        close(fds[0]);
        errno = rv;
        return -1;
    }
    worker->fd = fds[0];
    return 0;
}

/* Waits up to GPU_REAP_MS for a killed process. One that is stuck in the driver stays. Returns
 * whether it has gone. */
static bool wait_for_exit(const struct worker *worker, int *status)
{
    pid_t pid = 0;

    for (int ms = 0; ms < GPU_REAP_MS && (pid = waitpid(worker->pid, status, WNOHANG)) == 0;
         ms += 5)
        usleep(5000);
    return pid == worker->pid;
}

void worker_end(struct worker *worker)
{
    if (worker->fd < 0)
        return;
    close(worker->fd);
    worker->fd = -1;
    kill(worker->pid, SIGKILL);
    wait_for_exit(worker, NULL);
}

/* Returns how long the worker has been ready to run while others ran, in seconds. */
static double queued_s(const struct worker *worker)
{
    unsigned long long ns = 0;
    char line[128];

    if (sysfs_line("", line, sizeof line, "proc/%d/schedstat", worker->pid) >= 0)
        sscanf(line, "%*u %llu", &ns);
    return 1e-9 * (double)ns;
}

void worker_send(struct worker *worker, const struct worker_request *request, double limit_s)
{
    if (worker->fd < 0)
        return;
    worker->is_busy = true;
    worker->task = request->task;
    worker->sent_s = clock_s();
    worker->limit_s = limit_s;
    worker->queued_s = queued_s(worker);
    worker->polls = worker->polls_at_work = 0;
    if (send(worker->fd, request, sizeof *request, MSG_NOSIGNAL) < 0)
        worker->limit_s = 0;
}

/* Whether the worker runs, is ready to run, or is stopped: then the driver is not at fault. */
static bool is_at_work(const struct worker *worker)
{
    char line[512];
    const char *state = sysfs_stat("", line, sizeof line, "proc/%d/stat", worker->pid);

    return state && strchr("RTt", *state);
}

bool worker_loads(enum worker_task task)
{
    return task == TASK_COUNT || task == TASK_OPEN || task == TASK_BLAS || task == TASK_GROUP_ID ||
           task == TASK_GROUP_JOIN;
}

static void give_up(struct worker *worker, bool was_unscheduled, struct worker_answer *answer)
{
    bool is_slow =
        worker_loads(worker->task) || 2 * worker->polls_at_work > worker->polls || was_unscheduled;

    *answer = (struct worker_answer){.outcome = is_slow ? WORKER_SLOW : WORKER_HUNG};
    worker_end(worker);
}

static void collect_dead(struct worker *worker, struct worker_answer *answer)
{
    int status = 0;

    *answer = (struct worker_answer){.outcome = WORKER_DIED};
    kill(worker->pid, SIGKILL); /* its socket is closed: it is ending anyway */
    close(worker->fd);
    worker->fd = -1;
    if (!wait_for_exit(worker, &status))
        snprintf(answer->text, sizeof answer->text, "ended, and stays: stuck in the driver?");
    else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        snprintf(answer->text, sizeof answer->text, "died of signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(answer->text, sizeof answer->text, "ended");
}

int worker_wait(struct worker *workers, int count, struct worker_answer *answer)
{
    struct pollfd fds[GPU_DEVICES_MOST];
    /* of the worker that was kept longest from running: a group waits for it */
    double unscheduled_s = 0;
    bool is_any_busy = false;

    for (int i = 0; i < count; i++) {
        fds[i] = (struct pollfd){workers[i].is_busy ? workers[i].fd : -1, POLLIN, 0};
        is_any_busy = is_any_busy || workers[i].is_busy;
        if (workers[i].is_busy)
            unscheduled_s = fmax(unscheduled_s, queued_s(&workers[i]) - workers[i].queued_s);
    }
    if (!is_any_busy)
        return -2;
    poll(fds, (nfds_t)count, GPU_WAIT_MS);
    for (int i = 0; i < count; i++) {
        struct worker *worker = &workers[i];
        double most_s = GPU_KEPT_LIMIT * worker->limit_s;

        if (!worker->is_busy)
            continue;
        if (fds[i].revents) {
            worker->is_busy = false;
            if (recv(worker->fd, answer, sizeof *answer, 0) != (ssize_t)sizeof *answer)
                collect_dead(worker, answer);
            return i;
        }
        worker->polls++;
        worker->polls_at_work += is_at_work(worker);
        if (clock_s() - worker->sent_s > worker->limit_s + fmin(unscheduled_s, most_s)) {
            worker->is_busy = false;
            give_up(worker, unscheduled_s > most_s, answer);
            return i;
        }
    }
    return -1;
}
