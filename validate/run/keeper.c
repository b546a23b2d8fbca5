/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/run/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/run_constants.h"
#include "validate/command/command.h"
#include "validate/run/decide.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/step.h"

static const char over = 'q'; /* the last byte, before a regular end */

/* ---------------------------------------------------------------- in muster run */

/* The file that is our standard error; "": it is none. */
static void output_path(char *path, size_t size)
{
    struct stat status;
    ssize_t length = readlink("/proc/self/fd/2", path, size - 1);

    path[length > 0 ? length : 0] = '\0';
    if (*path != '/' || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        *path = '\0';
}

static void __attribute__((noreturn)) child_run(char *const *argv, int input)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    sigset_t none;

    setpgid(0, 0); /* a key of the terminal is not for it */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    step_clean_environment();
    setenv(OWN_JOB_KEEPER, "1", 1);
    if (dup2(input, 0) == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2)
        execvp(argv[0], argv);
    _exit(127);
}

int keeper_begin(struct keeper *keeper, uint32_t job_id, const struct own_job *job,
                 const char *node, const char *script, struct error *err)
{
    struct hostlist nodes = {0};
    struct arguments program = {0}, srun = {0};
    char path[4096];
    int ends[2] = {-1, -1}, rv = -1;

    *keeper = (struct keeper){.beats = -1, .job_id = job_id, .beat = clock_s()};
    snprintf(keeper->node, sizeof keeper->node, "%s", node);
    output_path(path, sizeof path);
    step_muster(&program, "run", NULL);
    arguments_add(&program, "--keeper=%s", script);
    arguments_add(&program, "--max-restarts=%d", job->requeues);
    arguments_add(&program, "--");
    if (*path)
        arguments_add(&program, "%s", path);
    if (hostlist_append(&nodes, node) != 0 || program.out_of_memory)
        error_set(err, "no memory");
    else if (step_command(&(struct step){.job_id = job_id,
                                         .nodes = &nodes,
                                         .tasks_per_node = 1,
                                         .name = OWN_JOB_KEEPER,
                                         .mpi = "none",
                                         .has_no_gres = true,
                                         .program = program.argv},
                          &srun, err) == 0) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
            keeper->pid = fork();
        if (keeper->pid == 0 && ends[0] >= 0)
            child_run(srun.argv, ends[1]);
        if (keeper->pid > 0) {
            keeper->beats = ends[0];
            rv = 0;
        } else {
            error_set(err, "%m");
            close(ends[0]);
            keeper->pid = 0;
        }
        close(ends[1]);
    }
    hostlist_clear(&nodes);
    arguments_clear(&program);
    arguments_clear(&srun);
    return rv;
}

/* What is left of it where srun did not end the step itself. */
static void forget(struct keeper *keeper)
{
    close(keeper->beats);
    keeper->pid = 0;
    cluster_job_cancel_steps(keeper->job_id, OWN_JOB_KEEPER, NULL);
}

bool keeper_beat(struct keeper *keeper)
{
    if (keeper->pid > 0 && clock_s() - keeper->beat > KEEPER_BEAT_S) {
        keeper->beat = clock_s();
        (void)send(keeper->beats, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (waitpid(keeper->pid, NULL, WNOHANG) != 0)
            forget(keeper);
    }
    return keeper->pid > 0;
}

void keeper_end(struct keeper *keeper)
{
    int status = -1;

    if (keeper->pid <= 0)
        return;
    (void)send(keeper->beats, &over, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(keeper->beats, SHUT_WR);
    for (int i = 0; i < KEEPER_END_S * 20 && waitpid(keeper->pid, &status, WNOHANG) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    if (status == 0) {
        close(keeper->beats);
        keeper->pid = 0;
        return;
    }
    if (status == -1) {
        kill(keeper->pid, SIGKILL);
        waitpid(keeper->pid, NULL, 0);
    }
    forget(keeper);
}

/* ---------------------------------------------------------------- in the step */

/* Waits for a byte. Returns false at a regular end. */
static bool input_wait(struct keeper_seen *seen)
{
    struct pollfd input = {.fd = seen->is_closed ? -1 : 0, .events = POLLIN};
    int ready = poll(&input, 1, KEEPER_LOOK_S * 1000);
    char bytes[64];
    ssize_t got = ready > 0 ? read(0, bytes, sizeof bytes) : -1;

    if (ready == 0)
        seen->silent++;
    if (got > 0)
        seen->silent = 0;
    seen->is_closed |= got == 0;
    return got <= 0 || !memchr(bytes, over, (size_t)got);
}

static void job_look(const char *script, int requeues, uint32_t id, struct keeper_seen *seen,
                     struct own_job *job)
{
    const char *here = getenv("SLURMD_NODENAME");

    seen->is_told = own_job_load(id, job, NULL) == 0;
    seen->is_running = job->is_running;
    seen->is_same = job->requeues == requeues && here && hostlist_contains(&job->nodes, here);
    seen->has_script = hostlist_contains(&job->nodes, script);
}

/* Our own standard error ends at the node that is lost. */
static void print_line(const char *name, const char *path, const char *text)
{
    int fd = *path ? open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;

    if (fd >= 0) {
        dprintf(fd, "%s: %s\n", name, text);
        close(fd);
    }
    fprintf(stderr, "%s: %s\n", name, text);
}

int keeper_run(const char *name, const char *script, int requeues, const char *path)
{
    const char *text = getenv("SLURM_JOB_ID");
    uint32_t id = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
    struct keeper_seen seen = {0};
    enum keeper_action action = KEEPER_WAIT;
    struct error err, said = {""};

    if (id == 0 || cluster_open(&err) != 0)
        return COMMAND_UNKNOWN;
    while (action != KEEPER_END && input_wait(&seen)) {
        struct own_job job = {0};
        char line[600];

        if (seen.is_closed || seen.silent >= KEEPER_SILENT)
            job_look(script, requeues, id, &seen, &job);
        action = keeper_decide(&seen);
        if (action == KEEPER_REQUEUE) {
            struct hostlist without = {.names = (char *[]){(char *)script}, .count = 1};

            snprintf(line, sizeof line, "%s, where the job script ran, failed; requeueing job %u",
                     script, id);
            if (!*said.text)
                print_line(name, path, line);
            if (own_job_requeue(id, &job, &without, &err) >= 0)
                action = KEEPER_END;
            else if (!*said.text) {
                print_line(name, path, err.text);
                said = err;
            }
        }
        own_job_clear(&job);
    }
    return COMMAND_PASS;
}
