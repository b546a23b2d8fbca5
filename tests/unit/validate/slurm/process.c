/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/step/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "tests/unit/tap.h"
#include "validate/slurm/job/user.h"

static char output_text[200000];
static volatile sig_atomic_t stop;
static int ticks;
static int reported_status = -1;

static void add_output(const char *line, bool is_error, void *context)
{
    if (strncmp(line, "ends with ", 10) == 0)
        reported_status = atoi(line + 10);
    text_join(output_text, sizeof output_text, "", "%s%s|", is_error ? "!" : "", line);
}

static void count_tick(void *context)
{
    ticks++;
    if (context && ticks == 3)
        stop = SIGINT;
}

static bool holds_input;
static const struct user *user;

static struct process_result result; /* of the last program */

static struct process_result run_script(const char *script, const char *input, double deadline_s,
                                        const char *environment, void *context)
{
    struct arguments shell = {0};
    const char *const variables[] = {environment, NULL};

    result = (struct process_result){0};
    output_text[0] = '\0';
    reported_status = -1;
    stop = 0;
    ticks = 0;
    arguments_add(&shell, "sh");
    arguments_add(&shell, "-c");
    arguments_add(&shell, "%s", script);
    is_int(process_run(&(struct process){.argv = shell.argv,
                                         .user = user,
                                         .environment = variables,
                                         .input = input,
                                         .holds_input = holds_input,
                                         .deadline_s = deadline_s,
                                         .grace_s = 0.3,
                                         .on_line = add_output,
                                         .on_tick = count_tick,
                                         .context = context,
                                         .stop = &stop,
                                         .reported_status = &reported_status},
                       &result, NULL),
           0, "%s", script);
    arguments_clear(&shell);
    return result;
}

#define prints(script, input, environment, ...)                                                    \
    (run_script(script, input, 10, environment, NULL), is_str(output_text, __VA_ARGS__))

enum { SOON_S = 15 /* less than the 20 s and more of a program that is not ended */, GONE_S = 60 };

/* A zombie counts as gone. */
static bool is_gone(int pid)
{
    char path[64], state = 'Z';
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "r");
    if (!file)
        return true;
    if (fscanf(file, "%*d %*s %c", &state) != 1)
        state = 'Z';
    fclose(file);
    return state == 'Z';
}

static bool becomes_gone(int pid)
{
    for (double end_s = clock_s() + GONE_S; clock_s() < end_s && pid > 0 && !is_gone(pid);)
        usleep(20000);
    return pid > 0 && is_gone(pid);
}

static bool
    is_hanging; /* a program hangs: its file system does not answer, and no signal reaches it */
static pid_t unkilled_pid;

int __real_execvp(const char *file, char *const words[]);
int __wrap_execvp(const char *file, char *const words[])
{
    if (is_hanging && signal(SIGTERM, SIG_IGN) != SIG_ERR)
        sleep(GONE_S);
    return __real_execvp(file, words);
}

int __real_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number)
{
    if (is_hanging && number == SIGKILL) {
        unkilled_pid = pid;
        return 0;
    }
    return __real_kill(pid, number);
}

static bool is_early; /* a signal arrives before the child executes the program */

int __real_setpgid(pid_t pid, pid_t group);
int __wrap_setpgid(pid_t pid, pid_t group)
{
    if (is_early && pid == 0)
        raise(SIGTERM);
    return __real_setpgid(pid, group);
}

static void ignore_signal(int number)
{
}

static void ends_by_a_signal_before_exec(void)
{
    signal(SIGTERM, ignore_signal);
    is_early = true;
    run_script("exit 0", NULL, 10, NULL, NULL);
    is_early = false;
    signal(SIGTERM, SIG_DFL);
    ok(result.end == PROCESS_SIGNALED && result.status == SIGTERM,
       "a signal between fork and exec ends the program and is not handled by muster");
}

static void leaves_programs_that_hang(void)
{
    is_hanging = true;
    is_int(run_script("true", NULL, 0.3, NULL, NULL).end, PROCESS_TIMED_OUT,
           "a program that hangs in the kernel times out");
    ok(result.seconds < SOON_S, "... in time (%.2f s)", result.seconds);
    is_hanging = false;
    kill(unkilled_pid, SIGKILL);
    is_int(waitpid(unkilled_pid, NULL, 0), -unkilled_pid, "... and is not waited for");
}

/* A program that root starts as another user has nothing of root's, and dies with muster. */
static void runs_as_the_user(void)
{
    struct user nobody;
    struct error err = {""};
    char whole[300];

    is_int(user_find("root", &nobody, &err), -1, "root is refused");
    is_str(err.text, "has UID 0, which is root's", "... with the reason");
    is_int(user_find("no-such-user", &nobody, &err), -1, "an unknown user is refused");
    is_str(err.text, "no such user", "... with the reason");
    is_int(user_find("nobody", &nobody, &err), 0, "nobody is accepted (%s)", err.text);
    if (geteuid() != 0) {
        tap_skip("a program of another user: not root");
        return;
    }
    user = &nobody;
    run_script("id -ru; id -u; id -rg; id -G", NULL, 10, NULL, NULL);
    snprintf(whole, sizeof whole, "%u|%u|%u|%u|", nobody.uid, nobody.uid, nobody.gid, nobody.gid);
    is_str(output_text, whole, "the program runs as nobody, with nobody's groups");
    prints("sed -n 's/^Cap\\(Prm\\|Eff\\):\\t0*//p' /proc/self/status", NULL, NULL, "||",
           "... without capabilities");
    run_script("echo $USER $LOGNAME $HOME", NULL, 10, NULL, NULL);
    snprintf(whole, sizeof whole, "nobody nobody %s|", nobody.home);
    is_str(output_text, whole, "... with nobody's environment");
    setenv("ROOTS_TOKEN", "secret", 1);
    setenv("PATHS", "secret", 1);
    setenv("UCX_TLS", "tcp", 1);
    prints("echo $ROOTS_TOKEN $PATHS $UCX_TLS", NULL, NULL, "tcp|",
           "... and only those of root's variables that MPI programs use");
    unsetenv("ROOTS_TOKEN");
    unsetenv("PATHS");
    unsetenv("UCX_TLS");
    user = NULL;
}

/* Returns what a program of the user says about the terminal from which muster was started: whoever
 * can open it can type for root (TIOCSTI). */
static const char *said_of_terminal(const struct user *wanted)
{
    static const char *const answers[] = {"none", "some", "?"};
    char *const script[] = {(char[]){"sh"}, (char[]){"-c"},
                            (char[]){"(: <>/dev/tty) 2>/dev/null && echo some || echo none"}, NULL};
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), status = 0;
    pid_t child = fork();

    if (child == 0) {
        if (grantpt(terminal) != 0 || unlockpt(terminal) != 0 || setsid() < 0 ||
            open(ptsname(terminal), O_RDWR | O_CLOEXEC) < 0)
            _exit(2);
        output_text[0] = '\0';
        process_run(
            &(struct process){
                .argv = script, .user = wanted, .deadline_s = 60, .on_line = add_output},
            &result, NULL);
        _exit(strcmp(output_text, "none|") == 0 ? 0 : strcmp(output_text, "some|") == 0 ? 1 : 2);
    }
    waitpid(child, &status, 0);
    close(terminal);
    return answers[WIFEXITED(status) && WEXITSTATUS(status) < 2 ? WEXITSTATUS(status) : 2];
}

static void gives_up_terminal(void)
{
    struct user nobody;

    if (geteuid() != 0 || user_find("nobody", &nobody, NULL) != 0) {
        tap_skip("a program of another user and root's terminal: not root");
        return;
    }
    fflush(stdout);
    is_str(said_of_terminal(NULL), "some", "a program of root has the terminal of muster");
    is_str(said_of_terminal(&nobody), "none", "... one of another user has not");
}

/* When muster is killed it takes another user's program with it, although a change of user
 * clears the kernel's parent death signal. */
static void dies_with_muster(void)
{
    struct process_result ended;
    struct error err = {""};
    struct user nobody;
    char *const sleeper[] = {(char[]){"sleep"}, (char[]){"314.159"}, NULL};
    int status;
    pid_t parent, pid = 0;

    if (geteuid() != 0 || user_find("nobody", &nobody, &err) != 0) {
        tap_skip("a program of another user dies with muster: not root");
        return;
    }
    parent = fork();
    if (parent == 0) {
        process_run(&(struct process){.argv = sleeper, .user = &nobody, .deadline_s = 60}, &ended,
                    &err);
        _exit(0);
    }
    for (double end_s = clock_s() + 60; clock_s() < end_s && pid == 0;) {
        FILE *found = popen("pgrep -u nobody -f '^sleep 314.159$'", "r");

        if (!found || fscanf(found, "%d", &pid) != 1)
            pid = 0;
        if (found)
            pclose(found);
        usleep(20000);
    }
    kill(parent, SIGKILL);
    waitpid(parent, &status, 0);
    ok(becomes_gone(pid), "a program of another user dies with muster");
}

/* A killed srun would leave its job in the queue. */
static void can_clean_up_after_muster(void)
{
    char script[160], said[32] = "";
    int ends[2];
    FILE *out;
    pid_t parent;

    is_int(pipe(ends), 0, "a pipe");
    out = fdopen(ends[0], "r");
    snprintf(script, sizeof script,
             "trap 'echo cleaned up >&%d; exit' TERM; echo ready >&%d; while :; do sleep 0.1; done",
             ends[1], ends[1]);
    parent = fork();
    if (parent == 0) {
        run_script(script, NULL, SOON_S, NULL, NULL);
        _exit(0);
    }
    close(ends[1]);
    is_str(fgets(said, sizeof said, out) ? said : "", "ready\n", "a program runs");
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    is_str(fgets(said, sizeof said, out) ? said : "", "cleaned up\n",
           "... and can clean up when muster is killed");
    fclose(out);
}

static bool was_read_meanwhile; /* of the outer program, when the inner one had ended */

static void find_last_line(const char *line, bool is_error, void *context)
{
    *(bool *)context |= strcmp(line, "last") == 0;
}

static void run_another(void *context)
{
    char *const waiting[] = {(char *)"sh", (char *)"-c",
                             (char *)"until [ -e $MUSTER_READ ]; do sleep 0.1; done", NULL};
    struct process_result ended;

    if (ticks++ == 0 &&
        process_run(&(struct process){.argv = waiting, .deadline_s = 60}, &ended, NULL) == 0)
        was_read_meanwhile = *(bool *)context;
}

/* A program is read while another one runs. A tick of the first starts the second, which ends
 * after more than a pipe holds was read beyond "last". */
static void reads_while_another_runs(void)
{
    char *const talking[] = {(char *)"sh", (char *)"-c",
                             (char *)"sleep 0.3; seq 1 50000; echo last; seq 1 50000; "
                                     "echo >$MUSTER_READ; sleep 0.3",
                             NULL};
    char directory[] = "/tmp/muster-process-XXXXXX", path[64];
    bool has_ended = false;

    ok(mkdtemp(directory) != NULL, "a directory");
    snprintf(path, sizeof path, "%s/read", directory);
    setenv("MUSTER_READ", path, 1);
    ticks = 0;
    is_int(process_run(&(struct process){.argv = talking,
                                         .deadline_s = 90,
                                         .on_line = find_last_line,
                                         .on_tick = run_another,
                                         .context = &has_ended},
                       &result, NULL),
           0, "a program whose tick runs another program");
    ok(was_read_meanwhile, "... is read meanwhile, more than a pipe holds");
    unlink(path);
    rmdir(directory);
}

static void test_exit_status(void)
{
    static const char *const wrong[] = {"sh", "-c", "echo no topology >&2; exit 3", NULL},
                             *const killed[] = {"sh", "-c", "kill -9 $$", NULL},
                             *const none[] = {"/no/such/program", NULL};
    struct error err;
    char *text;
    int status;

    is_int(process_output_status(wrong, 10, &text, &status, &err), -1, "a command fails");
    is_int(status, 3, "... with its exit status");
    is_str(err.text, "sh: no topology", "... and its standard error");
    is_int(process_output_status(killed, 10, &text, &status, &err), -1, "a killed command");
    is_int(status, -1, "... has no exit status");
    is_int(process_output_status(none, 10, &text, &status, &err), -1, "a missing command");
    is_int(status, -1, "... has no exit status");
}

int main(void)
{
    struct error err = {""};
    char *const nothing[] = {(char[]){"/no/such/program"}, NULL};
    char long_line[70001], pid_file[] = "/tmp/muster-process-XXXXXX", script[200];
    FILE *file;
    int fd, pid = 0;

    is_int(run_script("echo one; echo two >&2; printf three; exit 3", NULL, 10, NULL, NULL).end,
           PROCESS_EXITED, "the program exited");
    is_int(result.status, 3, "... with its status");
    has_str(output_text, "one|", "a line of output");
    has_str(output_text, "!two|", "a line of standard error");
    has_str(output_text, "three|", "a last line without a newline");
    is_str(result.error_line.text, "two", "the last error is kept");
    run_script("printf '\\033[2Jn2 is bad\\007\\n' >&2", NULL, 10, "A=1", NULL);
    is_str(result.error_line.text, "?[2Jn2 is bad?", "... without control characters");
    is_str(output_text, "!?[2Jn2 is bad?|", "... also in the lines received");

    prints("cat; echo end", "first\nsecond\n", NULL, "first|second|end|",
           "input is passed and closed");
    prints("cat; echo none", NULL, NULL, "none|", "without input standard input is empty");
    holds_input = true;
    prints("timeout 0.2 cat; echo $?", NULL, NULL, "124|", "... or stays open without data");
    is_int(run_script("true", NULL, 10, NULL, NULL).end, PROCESS_EXITED,
           "... which does not delay the end");
    holds_input = false;
    memset(long_line, 'x', 70000);
    long_line[70000] = '\0';
    is_int(run_script("true", long_line, 10, NULL, NULL).end, PROCESS_EXITED,
           "a program that does not read its input is no problem");
    run_script("cat", long_line, 10, NULL, NULL);
    is_int(strlen(output_text), 70002, "a very long line arrives in two pieces, completely");
    prints("echo $MUSTER_X", NULL, "MUSTER_X=there", "there|", "the environment is passed");
    is_int(run_script("kill -9 $$", NULL, 10, NULL, NULL).end, PROCESS_SIGNALED,
           "the program died of a signal");
    is_int(result.status, SIGKILL, "... which is known");

    is_int(run_script("echo begun; sleep 30", NULL, 3, NULL, NULL).end, PROCESS_TIMED_OUT,
           "a deadline ends the program");
    ok(result.seconds < SOON_S, "... in time (%.2f s)", result.seconds);
    is_str(output_text, "begun|", "... its earlier output is kept");
    ok(ticks >= 2, "ticks continue meanwhile (%d)", ticks);
    is_int(run_script("trap '' TERM; sleep 30 & wait; sleep 30", NULL, 0.3, NULL, NULL).end,
           PROCESS_TIMED_OUT, "a program that ignores SIGTERM is killed");
    ok(result.seconds < SOON_S, "... in time (%.2f s)", result.seconds);
    is_int(run_script("sleep 30", NULL, 20, NULL, &result).end, PROCESS_STOPPED,
           "a signal to muster ends the program");
    ok(result.seconds < SOON_S, "... in time (%.2f s)", result.seconds);

    is_int(run_script("echo ends with 1; exec sleep 30", NULL, 20, NULL, NULL).end, PROCESS_EXITED,
           "a program that reports its end but does not end has ended");
    is_int(result.status, 1, "... with the reported status");
    ok(result.has_hung, "... and has_hung is set");
    ok(result.seconds < SOON_S, "... soon (%.2f s)", result.seconds);
    is_int(run_script("echo ends with 0; exit 137", NULL, 20, NULL, NULL).status, 0,
           "a reported status takes precedence over the launcher's");
    ok(!result.has_hung, "... and has_hung is not set");
    is_int(run_script("echo ends with 0; exec sleep 30", NULL, 20, NULL, &result).end,
           PROCESS_STOPPED, "... but not after a stop signal");

    fd = mkstemp(pid_file);
    snprintf(script, sizeof script, "sleep 300 & echo $! >%s; exit 0", pid_file);
    is_int(run_script(script, NULL, 10, NULL, NULL).end, PROCESS_EXITED,
           "a program that leaves a child with the pipes has ended");
    ok(result.seconds < SOON_S, "... and its child is not waited for (%.2f s)", result.seconds);
    file = fdopen(fd, "r");
    is_int(file ? fscanf(file, "%d", &pid) : 0, 1, "the child was running");
    ok(becomes_gone(pid), "... and is killed");
    if (file)
        fclose(file);
    unlink(pid_file);

    test_exit_status();
    is_int(process_run(&(struct process){.argv = nothing, .deadline_s = 1}, &result, &err), -1,
           "a missing program is an error");
    has_str(err.text, "cannot start /no/such/program: No such file", "... with the reason");
    ends_by_a_signal_before_exec();
    leaves_programs_that_hang();
    runs_as_the_user();
    reads_while_another_runs();
    gives_up_terminal();
    dies_with_muster();
    can_clean_up_after_muster();
    return tap_done();
}
