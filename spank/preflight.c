/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/preflight.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/node_constants.h"
#include "spank/host.h"

enum {
    STATUS_FAULT = 1,
    STATUS_USAGE = 2,
    STATUS_COMPONENTS = 4, /* a fault in a heterogeneous step: PREFLIGHT_FAILED_VARIABLE would reach
                              only one component */
    STATUS_STOPPED = 5,    /* interrupted, in a heterogeneous step */
    STATUS_INTERRUPTED = 128 /* and above: plus the signal */
};

/* ---------------------------------------------------------------- the program */

enum { EXTRAS = 6, DESCRIPTORS = 1024 /* the usual soft limit of open files */ };

/* Returns srun's environment with its variables replaced or extended by extras, where NULL entries
 * are skipped. The array is malloc'd, the strings are borrowed. NULL if memory is out. */
static char **environment_with(char *const extras[EXTRAS])
{
    size_t count = 0, kept = 0;
    char **copy;

    while (environ[count] != NULL)
        count++;
    copy = calloc(count + EXTRAS + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        bool is_replaced = false;

        for (int k = 0; k < EXTRAS && !is_replaced; k++)
            is_replaced = extras[k] != NULL &&
                          strncmp(environ[i], extras[k], strcspn(extras[k], "=") + 1) == 0;
        if (!is_replaced)
            copy[kept++] = environ[i];
    }
    for (int k = 0; copy != NULL && k < EXTRAS; k++)
        if (extras[k] != NULL)
            copy[kept++] = extras[k];
    return copy;
}

/* Closes srun's descriptors from 3 on. Linux has close_range since 5.9; RHEL 8 has 4.18. */
static void close_descriptors(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
        return;
#endif
    for (int fd = 3; fd < DESCRIPTORS; fd++)
        close(fd);
}

/* Runs the program. Makes system calls only, as after fork() in a process with threads. Blocks the
 * signals that interrupt the preflight until muster has its handlers: only muster knows whether the
 * step is heterogeneous. */
static void __attribute__((noreturn))
exec_program(const char *path, char *const argv[], char *const environment[], pid_t parent)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD};
    enum { BLOCKED = 4 };
    int null = open("/dev/null", O_RDONLY);
    sigset_t blocked;

    sigemptyset(&blocked);
    for (int i = 0; i < BLOCKED; i++)
        sigaddset(&blocked, signals[i]);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(STATUS_INTERRUPTED);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    dup2(null, 0);
    dup2(2, 1); /* the step's standard output is for its tasks only */
    close_descriptors();
    execve(path, argv, environment);
    _exit(127);
}

/* Waits for the program until the budget and its extra time are over, then ends it. Returns its
 * wait status, or -1 if it was ended or cannot be waited for. */
static int wait_until(pid_t pid, double budget_s)
{
    double term_at = clock_s() + budget_s + PREFLIGHT_ENDING_S;
    bool is_terminated = false;

    for (;;) {
        int status;
        pid_t ended = waitpid(pid, &status, WNOHANG);

        if (ended == pid)
            return is_terminated ? -1 : status;
        if (ended < 0 && errno != EINTR)
            return -1;
        if (clock_s() > term_at + PREFLIGHT_KILL_S)
            kill(pid, SIGKILL);
        if (clock_s() > term_at + 2 * PREFLIGHT_KILL_S)
            return -1; /* a process that hangs in the kernel is left */
        if (clock_s() > term_at && !is_terminated) {
            is_terminated = true;
            kill(pid, SIGTERM);
        }
        nanosleep(&(struct timespec){.tv_nsec = PREFLIGHT_POLL_MS * 1000000L}, NULL);
    }
}

/* Runs the program. Returns its exit status, 128 + the signal that ended it, or -1 after it has
 * printed why there is no status. */
static int run(const char *path, char *const argv[], char *const environment[], double budget_s)
{
    pid_t parent = getpid(), pid = fork();
    int status;

    if (pid == 0)
        exec_program(path, argv, environment, parent);
    if (pid < 0) {
        host_error("no preflight: %s; the step starts", strerror(errno));
        return -1;
    }
    status = wait_until(pid, budget_s);
    if (status == -1) {
        host_error("the preflight did not end within %.0f s; the step starts",
                   budget_s + PREFLIGHT_ENDING_S);
        return -1;
    }
    if (WIFSIGNALED(status))
        return STATUS_INTERRUPTED + WTERMSIG(status);
    if (WEXITSTATUS(status) == 127) {
        host_error("no preflight: cannot run %s; the step starts", path);
        return -1;
    }
    return WEXITSTATUS(status);
}

/* ---------------------------------------------------------------- the command */

/* sbatch and salloc pass their --collectives to their steps in this variable. It overrides the
 * option's own variable. */
#define COLLECTIVES_INHERITED "SLURM_SPANK__SLURM_SPANK_OPTION_muster_collectives"

static int run_command(const struct options *options, const struct arguments *arguments,
                       const struct preflight_step *step, enum conf_preflight level,
                       double budget_s)
{
    const char *program = arguments->program != NULL ? arguments->program : MUSTER_BINDIR "/muster";
    char guard[] = PREFLIGHT_GUARD "=1", quiet[] = "MUSTER_EXPLAIN=";
    char failed[] = PREFLIGHT_FAILED_VARIABLE "=";
    char on_off[64], step_text[64], level_text[32], budget[32], config[4200];
    char variable[64]; /* a preflight uses MPI's own collectives, whatever the step uses */
    char inherited[] = COLLECTIVES_INHERITED "=mpi";
    char *extras[EXTRAS] = {guard, quiet, failed, variable, NULL};
    char *argv[] = {
        (char *)"muster", (char *)"preflight", step_text, level_text, budget, NULL, NULL};
    char **environment;
    struct sigaction before;
    int status;

    if (options->environment >= 0) { /* the preflight's srun does not see this command line */
        snprintf(on_off, sizeof on_off, "%s=%s", option_texts[OPTION_ENVIRONMENT].variable,
                 options->environment == 1 ? "on" : "off");
        extras[4] = on_off;
    }
    snprintf(variable, sizeof variable, "%s=mpi", option_texts[OPTION_COLLECTIVES].variable);
    if (getenv(COLLECTIVES_INHERITED) != NULL)
        extras[5] = inherited;
    snprintf(step_text, sizeof step_text, "--step=%u.%u", step->job_id, step->step_id);
    snprintf(level_text, sizeof level_text, "--level=%s", conf_preflight_name(level));
    snprintf(budget, sizeof budget, "--budget=%.3f", budget_s);
    if (arguments->config_path != NULL && access(arguments->config_path, R_OK) == 0) {
        snprintf(config, sizeof config, "--config=%s", arguments->config_path);
        argv[5] = config;
    }
    environment = environment_with(extras);
    if (environment == NULL) {
        host_error("no preflight: out of memory; the step starts");
        return -1;
    }
    /* if srun inherited an ignored SIGCHLD, waitpid() would return no status */
    sigaction(SIGCHLD, NULL, &before);
    if (before.sa_handler == SIG_IGN)
        sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    status = run(program, argv, environment, budget_s);
    if (before.sa_handler == SIG_IGN)
        sigaction(SIGCHLD, &before, NULL);
    free(environment);
    return status;
}

/* Returns whether a signal that ended the preflight was meant for srun as well: Ctrl-C, a closed
 * terminal, the end of the job. Any other one says nothing about the nodes: the preflight has
 * crashed, or the kernel has killed it for its memory. */
static bool is_interruption(int number)
{
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* Returns the level that applies and sets the budget. With an unreadable muster.conf, which is
 * logged, the default level applies unless the user gave one. */
static enum conf_preflight level_of(const struct options *options,
                                    const struct arguments *arguments, double *budget_s)
{
    struct options filled = *options;
    enum conf_preflight level;
    struct error err = {""};
    struct conf conf;

    options_fill(&filled, host_lookup, environ, NULL);
    if (filled.preflight == PREFLIGHT_OFF)
        return PREFLIGHT_OFF;
    if (conf_read(arguments->config_path, &conf, &err) < 0)
        host_error("%s", err.text);
    level = filled.preflight >= 0 ? (enum conf_preflight)filled.preflight : conf.preflight;
    *budget_s = conf.preflight_budget_s;
    conf_clear(&conf);
    return level;
}

enum preflight_answer preflight_test_step(const struct options *options,
                                          const struct arguments *arguments,
                                          const struct preflight_step *step)
{
    const char *guard = getenv(PREFLIGHT_GUARD);
    enum conf_preflight level;
    double budget_s;
    int status;

    if ((guard != NULL && *guard != '\0') || host_step(step->step_id) != HOST_STEP_TASKS)
        return PREFLIGHT_START;
    level = level_of(options, arguments, &budget_s);
    if (level == PREFLIGHT_OFF)
        return PREFLIGHT_START;
    status = run_command(options, arguments, step, level, budget_s);
    if (status == STATUS_STOPPED)
        return PREFLIGHT_REFUSE;
    if (is_interruption(status - STATUS_INTERRUPTED))
        return step->is_inside ? PREFLIGHT_FAIL_TASKS : PREFLIGHT_REFUSE;
    if (status >= STATUS_INTERRUPTED)
        host_error("the preflight crashed or was killed (exit status %d); the step starts", status);
    if (status == STATUS_USAGE)
        host_error("the preflight's options or configuration are invalid; the step starts");
    if (status != STATUS_FAULT && status != STATUS_COMPONENTS)
        return PREFLIGHT_START;
    host_error("the step does not start: its preflight found a fault; --%s=off starts it anyway",
               option_texts[OPTION_PREFLIGHT].name);
    return step->is_inside && status == STATUS_FAULT ? PREFLIGHT_FAIL_TASKS : PREFLIGHT_REFUSE;
}
