/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/run/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/run_constants.h"
#include "validate/command/command.h"
#include "validate/run/decide.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/step/step.h"

int keeper_begin(struct keeper *keeper, uint32_t job_id, char *node, const char *script,
                 struct error *err)
{
    struct hostlist nodes = {.names = &node, .count = 1};
    struct arguments program = {0}, srun = {0};
    char path[4096] = "";
    int ends[2] = {-1, -1}, rv;
    bool has_path = readlink("/proc/self/fd/2", path, sizeof path - 1) > 0 && *path == '/';

    *keeper = (struct keeper){.job_id = job_id, .beat = clock_s()};
    step_add_muster(&program, "run", "--keeper", script, has_path ? path : NULL, NULL);
    rv = step_command(&(struct step){.job_id = job_id,
                                     .nodes = &nodes,
                                     .tasks_per_node = 1,
                                     .name = OWN_JOB_KEEPER,
                                     .mpi = "none",
                                     .has_no_gres = true,
                                     .program = program.argv},
                      &srun, err);
    if (rv == 0 && (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
                    (keeper->pid = fork()) < 0))
        rv = error_set(err, "cannot start the keeper step: %m");
    if (rv == 0 && keeper->pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        setpgid(0, 0); /* keys of the terminal must not reach it */
        step_clean_environment();
        setenv(OWN_JOB_KEEPER, "1", 1);
        if (dup2(ends[1], 0) == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2)
            execvp("srun", srun.argv);
        _exit(127);
    }
    if (rv == 0) {
        keeper->beats = ends[0];
    } else {
        close(ends[0]);
        keeper->pid = 0;
    }
    close(ends[1]);
    arguments_clear(&program);
    arguments_clear(&srun);
    return rv;
}

bool keeper_beat(struct keeper *keeper)
{
    if (keeper->pid <= 0 || clock_s() - keeper->beat < KEEPER_BEAT_S)
        return keeper->pid > 0;
    keeper->beat = clock_s();
    (void)send(keeper->beats, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (waitpid(keeper->pid, NULL, WNOHANG) == 0)
        return true;
    close(keeper->beats);
    keeper->pid = 0;
    cluster_job_cancel_steps(keeper->job_id, OWN_JOB_KEEPER, NULL); /* srun may have been killed */
    return false;
}

/* Requeues the job, and reports it to the file at path, as our own standard error is on the node
 * that is lost. */
static void requeue(const char *name, const char *path, const char *script, uint32_t id,
                    struct own_job *job)
{
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
    struct error err;

    dprintf(fd, "%s: %s, where the job script ran, failed; requeueing job %u\n", name, script, id);
    signal(SIGTERM, SIG_IGN);
    if (hostlist_append(&job->excluded, script) == 0) {
        if (own_job_requeue(job, &err) == 0)
            error_set(&err, "job %u excludes %s", id, script);
        dprintf(fd, "%s: %s\n", name, err.text);
    }
    signal(SIGTERM, SIG_DFL);
    close(fd);
}

int keeper_run(const char *name, const char *script, const char *path)
{
    const char *text = getenv("SLURM_JOB_ID"), *here = getenv("SLURMD_NODENAME");
    uint32_t id = (uint32_t)strtoul(text ? text : "0", NULL, 10);
    struct pollfd input = {.events = POLLIN};
    enum keeper_action action = KEEPER_WAIT;
    struct own_job job;
    int silent = 0;
    char bytes[64];

    if (!here || cluster_open(NULL) != 0)
        return COMMAND_UNKNOWN;
    while (action != KEEPER_END) {
        int ready = poll(&input, 1, KEEPER_LOOK_S * 1000);

        if (ready > 0 && read(0, bytes, sizeof bytes) <= 0)
            break;
        silent = ready > 0 ? 0 : silent + 1;
        if (silent < KEEPER_SILENT || own_job_load(id, &job, NULL) != 0)
            continue;
        action = keeper_decide(&job, here, script);
        if (action == KEEPER_REQUEUE) {
            requeue(name, path, script, id, &job);
            path = NULL; /* only the first requeue is reported */
        }
        own_job_clear(&job);
    }
    return COMMAND_PASS;
}
