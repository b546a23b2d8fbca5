/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "tests/spank-host/host.h"
#include "tests/unit/tap.h"

/* srun --preflight without a cluster: a script in place of the muster command records how it was
 * called, and ends as the test wants. */

static char *srun_argument; /* the argument of this program that stands for srun's command line */
static char plugin_path[4096], directory[4096], program[4200], config[4200], calls_text[65536];

/* Whether the syscall() below, which the plugin calls, lacks close_range, as Linux before 5.9 does
 * (RHEL 8). */
static bool is_old_kernel;

#pragma GCC visibility push(default)
long syscall(long number, ...)
{
    static __typeof__(&syscall) real;
    long arguments[6];
    va_list list;

    if (real == NULL)
        real = (__typeof__(&syscall))dlsym(RTLD_NEXT, "syscall");
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
#ifdef SYS_close_range
    if (is_old_kernel && number == SYS_close_range) {
        errno = ENOSYS;
        return -1;
    }
#endif
    return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                arguments[5]);
}
#pragma GCC visibility pop

static const char *file(const char *name)
{
    static char path[4200];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
    FILE *stream = fopen(file(name), "w");

    if (stream == NULL || fputs(text, stream) < 0 || fclose(stream) != 0 ||
        chmod(file(name), mode) != 0) {
        printf("Bail out! cannot write %s\n", file(name));
        exit(255);
    }
}

/* What the script wrote since the last start(); "" if it did not run. */
static const char *calls(void)
{
    FILE *stream = fopen(file("calls"), "r");
    size_t length = stream ? fread(calls_text, 1, sizeof calls_text - 1, stream) : 0;

    calls_text[length] = '\0';
    if (stream)
        fclose(stream);
    return calls_text;
}

/* Loads the plugin for srun, with a muster command that ends by this shell command: "exit 1",
 * "kill -SEGV $$". bash keeps blocked signals blocked. */
static void start(const char *conf, const char *how)
{
    static char words[2][4300];
    char script[8600];

    snprintf(
        script, sizeof script,
        "#!/bin/bash\n{ echo \"$@\"; env | grep -E '^(SLURM_)?MUSTER_|_muster_' | sort; cat; } "
        ">>%s\n%s\n",
        file("calls"), how);
    write_file("muster", script, 0755);
    write_file("muster.conf", conf, 0644);
    unlink(file("calls"));
    unsetenv("SLURM_MUSTER_PREFLIGHT_FAILED");
    host_load(plugin_path, S_CTX_LOCAL);
    snprintf(words[0], sizeof words[0], "config=%s", config);
    snprintf(words[1], sizeof words[1], "program=%s", program);
    host_arguments[0] = words[0];
    host_arguments[1] = words[1];
    host_job.job_id = 12;
    host_job.step_id = 0;
    host_call("init");
}

/* Runs srun with --preflight=quick. Returns the status of its hook. */
static int quick(const char *conf, const char *how)
{
    start(conf, how);
    host_option("preflight", "quick");
    return host_call("local_user_init");
}

/* nohup srun ignores SIGHUP. */
static void takes_sighup(void)
{
    signal(SIGHUP, SIG_IGN);
    start("Preflight=quick\n", "grep -q '^SigIgn:.*[02468ace]$' /proc/$$/status");
    is_int(host_call("local_user_init"), 0, "a preflight does not ignore it");
    signal(SIGHUP, SIG_DFL);
}

/* A preflight that hangs must not keep srun's sockets open. */
static void holds_nothing_open(bool is_old)
{
    is_old_kernel = is_old;
    dup2(0, 300);
    start("Preflight=quick\n", "test ! -e /proc/$$/fd/300");
    is_int(host_call("local_user_init"), 0, "nothing of srun's is open in a preflight%s",
           is_old ? " of a kernel without close_range" : "");
    close(300);
    is_old_kernel = false;
}

static void when_wanted(void)
{
    char expected[4400];

    start("", "exit 0");
    is_int(host_call("local_user_init"), 0, "by default there is no preflight");
    is_str(calls(), "", "... nothing is started");

    start("", "exit 0");
    is_int(host_option("preflight", "quick"), 0, "--preflight=quick");
    is_int(host_call("local_user_init"), 0, "... the step starts when it passes");
    snprintf(expected, sizeof expected,
             "preflight --step=12.0 --level=quick --budget=30.000 --config=%s\n"
             "MUSTER_EXPLAIN=\nMUSTER_IN_PREFLIGHT=1\nMUSTER_STEP_COLLECTIVES=mpi\n"
             "SLURM_MUSTER_PREFLIGHT_FAILED=\n",
             config);
    is_str(calls(), expected, "... step, level and budget are passed, and standard input is empty");
    is_str(host_log, "", "... without a message of the plugin");
    is_str(getenv("MUSTER_IN_PREFLIGHT") ? "set" : "unset", "unset",
           "the guard variable is not set in the step");

    start("Preflight=standard\nPreflightBudget=7\n", "exit 0");
    host_call("local_user_init");
    has_str(calls(), "--level=standard --budget=7.000", "Preflight and PreflightBudget");

    start("Preflight=standard\n", "exit 0");
    host_option("preflight", "off");
    host_call("local_user_init");
    is_str(calls(), "", "--preflight=off takes precedence over muster.conf");

    setenv("MUSTER_PREFLIGHT", "quick", 1);
    start("Preflight=standard\n", "exit 0");
    host_call("local_user_init");
    has_str(calls(), "--level=quick", "MUSTER_PREFLIGHT takes precedence over muster.conf");
    start("", "exit 0");
    host_option("preflight", "standard");
    host_call("local_user_init");
    has_str(calls(), "--level=standard", "the option takes precedence over the variable");
    unsetenv("MUSTER_PREFLIGHT");

    start("Preflight=quick\n", "exit 0");
    host_option("muster", "off");
    host_call("local_user_init");
    has_str(calls(), "MUSTER_ENVIRONMENT=off\n", "the nested step gets --muster by its variable");

    setenv("MUSTER_STEP_COLLECTIVES", "muster", 1);
    setenv("SLURM_SPANK__SLURM_SPANK_OPTION_muster_collectives", "muster", 1);
    start("Preflight=quick\n", "exit 0");
    host_option("muster", "off");
    host_call("local_user_init");
    has_str(calls(), "MUSTER_STEP_COLLECTIVES=mpi\n",
            "steps of the preflight leave collectives to MPI");
    has_str(calls(), "MUSTER_ENVIRONMENT=off\n", "... and get --muster, too");
    has_str(calls(), "SPANK_OPTION_muster_collectives=mpi\n", "... whatever the option of salloc");
    is_str(getenv("MUSTER_STEP_COLLECTIVES"), "muster", "... and the step keeps its own value");
    unsetenv("MUSTER_STEP_COLLECTIVES");
    unsetenv("SLURM_SPANK__SLURM_SPANK_OPTION_muster_collectives");

    setenv("MUSTER_IN_PREFLIGHT", "1", 1);
    start("Preflight=quick\n", "exit 1");
    is_int(host_call("local_user_init"), 0, "inside a preflight there is none");
    is_str(calls(), "", "... nothing is started");
    unsetenv("MUSTER_IN_PREFLIGHT");

    start("", "exit 0");
    is_int(host_option("preflight", "slow"), -1, "--preflight=slow is refused");
    is_str(host_log, "error: muster: --preflight=slow: expected quick|standard|off\n",
           "... in one line");
}

static void refuses(const char *how, const char *conf, const char *name)
{
    is_int(quick(conf, how), -1, "%s: the step does not start", name);
    is_str(getenv("SLURM_MUSTER_PREFLIGHT_FAILED") ? "set" : "unset", "unset",
           "... and is not marked");
}

static void starts_with(const char *how, const char *words, const char *name)
{
    is_int(quick("", how), 0, "%s: the step starts", name);
    if (*words)
        has_str(host_log, words, "... after one message");
    else
        is_str(host_log, "", "... muster itself has printed the reason");
}

static void answers(void)
{
    refuses("exit 1", "", "a fault");
    refuses("exit 4", "", "a fault of a heterogeneous step");
    refuses("exit 5", "", "an interruption of a heterogeneous step");
    refuses("exit 130", "", "Ctrl-C");
    refuses("exit 143", "", "SIGTERM");
    refuses("exit 129", "", "SIGHUP");
    refuses("exit 131", "", "SIGQUIT");
    signal(SIGCHLD, SIG_IGN);
    refuses("exit 1", "", "a fault, where SIGCHLD is ignored");
    ok(signal(SIGCHLD, SIG_DFL) == SIG_IGN, "... which stays ignored");
    starts_with("exit 3", "", "an unknown result");
    starts_with("kill -SEGV $$", "crashed or was killed (exit status 139); the step starts",
                "a preflight that crashes");
    starts_with("exit 137", "crashed or was killed (exit status 137); the step starts",
                "a preflight that is killed for its memory, behind a shell");
    starts_with("exit 2", "the preflight's options or configuration are invalid; the step starts",
                "a bad muster.conf");

    start("", "exit 0");
    unlink(program);
    host_option("preflight", "quick");
    is_int(host_call("local_user_init"), 0, "no muster command: the step starts");
    has_str(host_log, "/muster; the step starts", "... after one message");

    is_int(quick("Preflight=often\n", "exit 0"), 0, "a bad muster.conf");
    has_str(host_log, "Preflight=often", "... is reported");
    has_str(calls(), "--level=quick", "... and the user's preflight still runs");
}

/* Inside another allocation srun goes on and the tasks end the step, so that the step frees its
 * resources. */
static void inside(void)
{
    setenv("SLURM_JOB_ID", "12", 1);
    is_int(quick("", "exit 1"), 0, "in an allocation: a fault does not stop srun");
    is_str(getenv("SLURM_MUSTER_PREFLIGHT_FAILED"), "1", "... but marks the step");
    has_str(host_log, "the step does not start", "... with the same message");

    refuses("exit 4", "", "in an allocation: a fault of a heterogeneous step");
    refuses("exit 5", "", "... and its interruption");
    refuses("kill -INT $$; kill -TERM $$; kill -HUP $$; kill -QUIT $$; exit 5", "",
            "... also before muster has its handlers");
    is_int(quick("", "exit 130"), 0, "in an allocation: Ctrl-C does not stop srun");
    is_str(getenv("SLURM_MUSTER_PREFLIGHT_FAILED"), "1", "... but marks the step");
    unsetenv("SLURM_JOB_ID");

    start("", "exit 1");
    host_job.step_id = 3;
    host_option("preflight", "quick");
    is_int(host_call("local_user_init"), 0,
           "step 3 of a job is not in an allocation of srun's own");
    is_str(getenv("SLURM_MUSTER_PREFLIGHT_FAILED"), "1", "... it is marked");

    memcpy(srun_argument, "--jobid=12", strlen("--jobid=12"));
    is_int(quick("", "exit 1"), 0, "srun --jobid: a fault does not stop srun");
    is_str(getenv("SLURM_MUSTER_PREFLIGHT_FAILED"), "1", "... but marks the step");
    memcpy(srun_argument, "--job-name", strlen("--job-name"));
    refuses("exit 1", "", "srun --job-name, in an allocation of its own");

    for (int is_marked = 1; is_marked >= 0; is_marked--) {
        host_load(plugin_path, S_CTX_REMOTE);
        host_job.task = 0;
        host_setenv("SLURM_MUSTER_PREFLIGHT_FAILED", is_marked ? "1" : "");
        host_call("init");
        host_call("init_post_opt");
        is_int(host_call("task_init"), -is_marked,
               is_marked ? "tasks of a marked step do not start"
                         : "... those of a step with an empty mark do");
    }
}

/* The shell of salloc: srun --interactive starts it with the options of salloc. */
static void interactive(void)
{
    start("Preflight=quick\n", "exit 1");
    host_job.step_id = 0xfffffffa;
    is_int(host_call("local_user_init"), 0, "the interactive step of salloc starts");
    is_str(calls(), "", "... without a preflight");
}

/* plugstack.conf lists the plugin twice. */
static void listed_twice(void)
{
    char *again;

    start("", "exit 0");
    host_listed = 2;
    host_option("preflight", "quick");
    is_int(host_call("local_user_init"), 0, "listed twice: the step starts");
    again = strstr(calls(), "preflight --step");
    ok(again != NULL && strstr(again + 1, "preflight --step") == NULL, "... after one preflight");
}

/* The plugin calls the kill() below. With hangs, SIGKILL does nothing, as for a process that hangs
 * in the kernel. */
static bool hangs;
static pid_t killed;

#pragma GCC visibility push(default)
int kill(pid_t pid, int number)
{
    if (number != SIGKILL || !hangs)
        return (int)syscall(SYS_kill, pid, number);
    killed = pid;
    return 0;
}
#pragma GCC visibility pop

/* The plugin ends a preflight that does not end, and goes on if that fails. */
static void deadline(void)
{
    double begin_s;
    char how[4300];

    snprintf(
        how, sizeof how,
        "exec python3 -c 'import signal, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: open(\"%s\", \"a\").write(\"heard TERM\\n\"))\n"
        "signal.pthread_sigmask(signal.SIG_SETMASK, [])\n"
        "while True: time.sleep(60)'",
        file("calls"));
    start("Preflight=quick\nPreflightBudget=5\n", how);
    hangs = true;
    begin_s = clock_s();
    is_int(host_call("local_user_init"), 0, "a preflight that hangs: the step starts");
    ok(clock_s() - begin_s < 60, "... in time");
    has_str(host_log, "did not end within 13 s; the step starts", "... after one message");
    has_str(calls(), "heard TERM\n", "... it got SIGTERM");
    hangs = false;
    ok(killed > 0 && kill(killed, SIGKILL) == 0, "... and SIGKILL, without effect");
}

int main(int argc, char *argv[])
{
    char *again[] = {argv[0], (char *)"--job-name", NULL};
    const char *build = getenv("top_builddir");

    if (argc < 2)
        execv("/proc/self/exe", again);
    srun_argument = argv[1];
    snprintf(plugin_path, sizeof plugin_path, "%s/spank/spank_muster.so",
             build != NULL ? build : ".");
    snprintf(directory, sizeof directory, "/tmp/muster-preflight-XXXXXX");
    if (mkdtemp(directory) == NULL) {
        printf("Bail out! no directory\n");
        return 255;
    }
    snprintf(program, sizeof program, "%s", file("muster"));
    snprintf(config, sizeof config, "%s", file("muster.conf"));
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_JOBID");
    unsetenv("MUSTER_PREFLIGHT");
    unsetenv("MUSTER_ENVIRONMENT");
    takes_sighup();
    holds_nothing_open(false);
    holds_nothing_open(true);
    when_wanted();
    answers();
    inside();
    interactive();
    listed_twice();
    deadline();
    host_unload();
    unlink(file("calls"));
    unlink(file("muster"));
    unlink(file("muster.conf"));
    rmdir(directory);
    return tap_done();
}
