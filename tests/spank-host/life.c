/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/spank-host/life.h"

#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/spank-host/host.h"
#include "tests/spank-host/watch.h"

enum { HANGS_S = 30, USER = 1000, WORDS = 6 };
enum { EXTERN_STEP = 0xfffffffc, BATCH_STEP = 0xfffffffb, INTERACTIVE_STEP = 0xfffffffa };

/* Defined in builds with AddressSanitizer only. */
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static const char *plugin_path, *directory;
static struct outcome *outcome;
static const char *title;
static int printed_fd = -1;
static bool looks_for_leaks;

void life_use(const char *path, const char *place, bool with_leaks)
{
    looks_for_leaks = with_leaks;
    plugin_path = path;
    directory = place;
}

/* ---------------------------------------------------------------- lists of words */

/* Calls take for each line of text that is not empty. */
static void each_line(const char *text, void (*take)(const char *line))
{
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);

        if (length > 0)
            take(line);
        free(line);
        text += length + (text[length] == '\n');
    }
}

static void environ_set(const char *line)
{
    const char *equals = strchr(line, '=');
    char *name = strndup(line, equals != NULL ? (size_t)(equals - line) : strlen(line));

    if (*name != '\0')
        setenv(name, equals != NULL ? equals + 1 : "", 1);
    free(name);
}

static void job_environment_set(const char *line)
{
    const char *equals = strchr(line, '=');
    char *name = strndup(line, equals != NULL ? (size_t)(equals - line) : strlen(line));

    if (*name != '\0')
        host_setenv(name, equals != NULL ? equals + 1 : "");
    free(name);
}

static int option_status; /* -1: a callback failed since it was set to 0 */

static void option_pass(const char *line)
{
    const char *equals = strchr(line, '=');
    char *name = strndup(line, equals != NULL ? (size_t)(equals - line) : strlen(line));

    if (host_option(name, equals != NULL ? equals + 1 : NULL) < 0)
        option_status = -1;
    free(name);
}

/* Sets the prolog's copy of an option, which the front put into the job control environment. */
static void prolog_option_set(const char *line)
{
    char copy[4096], name[4200];

    snprintf(copy, sizeof copy, "%s", line);
    copy[strcspn(copy, "=")] = '\0';
    for (char *c = copy; *c != '\0'; c++)
        if (*c == '-')
            *c = '_';
    snprintf(name, sizeof name, "SPANK__SLURM_SPANK_OPTION_muster_%s", copy);
    setenv(name, strchr(line, '=') != NULL ? strchr(line, '=') + 1 : "(null)", 1);
}

/* ---------------------------------------------------------------- environments */

static void save(struct life_environment *to, char *const *entries)
{
    to->length = 0;
    for (; entries != NULL && *entries != NULL; entries++) {
        size_t size = strlen(*entries) + 1;

        if (to->length + size > sizeof to->text)
            break;
        memcpy(to->text + to->length, *entries, size);
        to->length += size;
    }
}

static void each_entry(const struct life_environment *from, void (*take)(const char *entry))
{
    for (size_t at = 0; at < from->length; at += strlen(from->text + at) + 1)
        take(from->text + at);
}

const char *life_getenv(const struct life_environment *environment, const char *name)
{
    size_t length = strlen(name);

    for (size_t at = 0; at < environment->length; at += strlen(environment->text + at) + 1)
        if (strncmp(environment->text + at, name, length) == 0 &&
            environment->text[at + length] == '=')
            return environment->text + at + length + 1;
    return NULL;
}

/* ---------------------------------------------------------------- processes */

static void complain(const char *line)
{
    size_t used = strlen(outcome->broken);

    snprintf(outcome->broken + used, sizeof outcome->broken - used, "%s: %s\n", title, line);
}

struct outcome *life_begin(void)
{
    if (outcome == NULL) {
        outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        host_log = mmap(NULL, HOST_LOG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        printed_fd = memfd_create("printed", MFD_CLOEXEC);
        if (outcome == MAP_FAILED || host_log == MAP_FAILED || printed_fd < 0) {
            printf("Bail out! no shared memory\n");
            exit(255);
        }
    }
    outcome->front = outcome->step_front = outcome->prolog = outcome->epilog = 0;
    outcome->remote_option = outcome->task_count = 0;
    outcome->has_step = false;
    outcome->user.length = outcome->shell.length = 0;
    outcome->broken[0] = outcome->printed[0] = outcome->launch[0] = '\0';
    outcome->crashed = 0;
    if (ftruncate(printed_fd, 0) < 0)
        outcome->crashed = 1;
    host_log[0] = '\0';
    return outcome;
}

void life_end(void)
{
    ssize_t length = pread(printed_fd, outcome->printed, sizeof outcome->printed - 1, 0);

    outcome->printed[length > 0 ? length : 0] = '\0';
}

void life_process(const char *name, void (*body)(const struct life *life), const struct life *life)
{
    char line[128];
    int status;
    pid_t child;

    title = name;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(HANGS_S);
        dup2(printed_fd, 1);
        dup2(printed_fd, 2);
        lseek(printed_fd, 0, SEEK_END);
        watch_hooks(complain);
        body(life);
        fflush(stdout);
        if (__lsan_do_recoverable_leak_check != NULL && looks_for_leaks &&
            __lsan_do_recoverable_leak_check() != 0)
            complain("memory is lost");
        _exit(0);
    }
    if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    outcome->crashed++;
    snprintf(line, sizeof line, "ended with %s %d",
             WIFSIGNALED(status) ? WTERMSIG(status) == SIGALRM ? "a hang, signal" : "signal"
                                 : "status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    complain(line);
}

/* Loads the plugin into this process, as Slurm's daemons and commands do; keeps host_log. */
static void load(const struct life *life, spank_context_t context)
{
    static char config[4200], words[4096];
    char *word, *rest = words;
    int count = 0;
    char log[HOST_LOG];

    memcpy(log, host_log, sizeof log);
    host_load(plugin_path, context);
    memcpy(host_log, log, sizeof log);
    host_listed = life->is_listed_twice ? 2 : 1;
    host_api_fails_at = life->api_fails_at;
    host_job.uid = life->is_root ? 0 : USER;
    host_job.gid = host_job.uid;
    snprintf(config, sizeof config, "config=%s/muster.conf", directory);
    host_arguments[count++] = config;
    snprintf(words, sizeof words, "%s",
             life->plugstack_arguments != NULL ? life->plugstack_arguments : "");
    while (count < WORDS && (word = strsep(&rest, " \t\n")) != NULL)
        if (*word != '\0')
            host_arguments[count++] = word;
}

static void call(const char *hook, int *worst)
{
    if (host_call(hook) != 0)
        *worst = -1;
}

/* ---------------------------------------------------------------- srun, sbatch, salloc */

/* Runs the hooks of a front in this process's environment. Sets handed_on to the environment that
 * the front passes on. */
static void run_front(const struct life *life, spank_context_t context, const char *options,
                      int *worst, struct life_environment *handed_on)
{
    load(life, context);
    call("init", worst);
    option_status = host_options_from_environ();
    if (option_status == 0)
        each_line(options, option_pass);
    if (option_status != 0)
        *worst = -1;
    if (*worst == 0) {
        host_export_options();
        call("init_post_opt", worst);
    }
    if (*worst == 0 && context == S_CTX_LOCAL) {
        host_options_text(outcome->launch, sizeof outcome->launch);
        host_job.local_tasks = 0;
        call("local_user_init", worst);
    }
    save(handed_on, environ);
    host_unload();
}

void life_front(const struct life *life)
{
    clearenv();
    setenv("PATH", "/usr/bin:/bin", 1);
    setenv("HOME", "/", 1);
    each_line(life->environment, environ_set);
    run_front(life, life->front == FRONT_SRUN ? S_CTX_LOCAL : S_CTX_ALLOCATOR, life->options,
              &outcome->front, &outcome->user);
}

void life_inner_srun(const struct life *life)
{
    clearenv();
    each_entry(&outcome->shell, environ_set);
    run_front(life, S_CTX_LOCAL, life->step_options, &outcome->step_front, &outcome->user);
}

/* ---------------------------------------------------------------- slurmd */

void life_slurmd(const struct life *life)
{
    int worst = 0;

    clearenv();
    load(life, S_CTX_SLURMD);
    call("init", &worst);
    if (worst != 0)
        complain("slurmd does not start");
    host_unload();
}

/* Runs job_prolog or job_epilog. Slurm calls neither init nor exit there, and closes standard input
 * after it has read slurmd's configuration. */
static void run_script(const struct life *life, const char *hook, int *worst)
{
    clearenv();
    setenv("SLURM_JOB_ID", "12", 1);
    setenv("SLURM_JOB_UID", life->is_root ? "0" : "1000", 1);
    setenv("SLURM_JOB_USER", "somebody", 1);
    setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
    setenv("SLURM_JOB_PARTITION", "main", 1);
    setenv("SLURM_CLUSTER_NAME", "lab", 1);
    setenv("SLURMD_NODENAME", "n2", 1);
    setenv("SLURM_SCRIPT_CONTEXT", hook, 1);
    each_line(life->options, prolog_option_set);
    each_line(life->spank, environ_set);
    close(0);
    load(life, S_CTX_JOB_SCRIPT);
    call(hook, worst);
    host_unload();
}

void life_prolog(const struct life *life)
{
    run_script(life, "job_prolog", &outcome->prolog);
}

void life_epilog(const struct life *life)
{
    run_script(life, "job_epilog", &outcome->epilog);
}

/* ---------------------------------------------------------------- slurmstepd */

static void set_number(const char *name, long number)
{
    char text[32];

    snprintf(text, sizeof text, "%ld", number);
    host_setenv(name, text);
}

/* Sets the job's environment as slurmstepd gets it. */
static void put_step_environment(const struct life *life, const struct life_environment *from)
{
    long total = 2L * (long)host_job.local_tasks;

    for (size_t at = 0; at < from->length; at += strlen(from->text + at) + 1)
        if (!life->is_export_none || strncmp(from->text + at, "SLURM_", strlen("SLURM_")) == 0)
            job_environment_set(from->text + at);
    if (life->component_first > 0) {
        total = life->component_first + (long)host_job.local_tasks;
        host_setenv("SLURM_HET_SIZE", "2");
        host_setenv("SLURM_HET_JOB_ID", "11");
        host_setenv("SLURM_JOB_NODELIST_HET_GROUP_0", "n1");
        host_setenv("SLURM_JOB_NODELIST_HET_GROUP_1", "n2");
    }
    host_setenv("SLURM_JOB_ID", "12");
    host_setenv("SLURM_JOB_NODELIST", "n[1-2]");
    host_setenv("SLURM_JOB_PARTITION", "main");
    host_setenv("SLURMD_NODENAME", "n2");
    host_setenv("SLURM_NODEID", "1");
    set_number("SLURM_STEP_ID", host_job.step_id);
    if (host_job.step_id >= INTERACTIVE_STEP)
        return;
    host_setenv("SLURM_STEP_NODELIST", "n[1-2]");
    set_number("SLURM_NTASKS", total);
    set_number("SLURM_STEP_NUM_TASKS", total);
}

/* Removes the variables of options that no callback took. */
static void options_remove_unused(void)
{
    static const char prefix[] = "_SLURM_SPANK_OPTION_";

    for (size_t i = 0; host_environment()[i] != NULL;) {
        const char *entry = host_environment()[i];
        char *name = strndup(entry, strcspn(entry, "="));

        if (strncmp(entry, prefix, strlen(prefix)) == 0)
            host_unsetenv(name);
        else
            i++;
        free(name);
    }
}

static void run_task(const struct life *life, int task, struct life_environment *result)
{
    pid_t child = fork();
    int status, unused = 0;
    char line[64];

    if (child != 0) {
        if (waitpid(child, &status, 0) != child || status != 0) {
            snprintf(line, sizeof line, "task %d ended with 0x%x", task, (unsigned)status);
            complain(line);
            outcome->crashed++;
        }
        return;
    }
    alarm(HANGS_S);
    host_job.task = task;
    call("task_init_privileged", &unused);
    if (host_job.step_id < INTERACTIVE_STEP || host_job.step_id == BATCH_STEP) {
        set_number("SLURM_PROCID", life->component_first > 0 ? life->component_first + task
                                                             : (long)host_job.first_task + task);
        set_number("SLURM_LOCALID", task);
    }
    if (geteuid() == 0 && !life->is_root &&
        (setgroups(0, NULL) < 0 || setresgid(USER, USER, USER) < 0 ||
         setresuid(USER, USER, USER) < 0))
        complain("cannot become the user");
    call("task_init", &unused);
    save(result, host_environment());
    fflush(stdout);
    _exit(0);
}

static void run_user_init(const struct life *life)
{
    bool is_changed = geteuid() == 0 && !life->is_root;
    int unused = 0;

    if (is_changed && (setegid(USER) < 0 || seteuid(USER) < 0))
        complain("cannot become the user");
    call("user_init", &unused);
    if (is_changed && (seteuid(0) < 0 || setegid(0) < 0))
        complain("cannot become root again");
}

/* Runs a step. Sets result[task] to the environment of each task; it has room for all. */
static void run_step(const struct life *life, uint32_t step_id, int tasks,
                     const struct life_environment *from, struct life_environment *result)
{
    char words[4096];
    char *argv[WORDS + 1], *rest = words;
    int argc = 0, unused = 0;

    clearenv();
    load(life, S_CTX_REMOTE);
    snprintf(words, sizeof words, "%s", life->argv != NULL ? life->argv : "./a.out");
    while (argc < WORDS && (argv[argc] = strsep(&rest, " ")) != NULL)
        argc++;
    argv[argc] = NULL;
    host_job.argc = argc;
    host_job.argv = argv;
    host_job.step_id = step_id;
    host_job.local_tasks = (uint32_t)tasks;
    host_job.first_task = life->component_first > 0 ? 0 : (uint32_t)tasks;
    host_job.task_count = life->component_first > 0 ? (uint32_t)tasks : 2 * (uint32_t)tasks;
    host_job.task = -1;
    put_step_environment(life, from);
    call("init", &unused);
    option_status = 0;
    if (step_id < INTERACTIVE_STEP)
        each_line(outcome->launch, option_pass);
    if (option_status < 0)
        outcome->remote_option = -1;
    if (step_id >= INTERACTIVE_STEP || life->is_callback_twice)
        host_options_from_job();
    options_remove_unused();
    call("init_post_opt", &unused);
    if (step_id == EXTERN_STEP) {
        call("task_post_fork", &unused); /* once, without a task */
    } else {
        run_user_init(life);
        for (int task = 0; task < tasks; task++)
            run_task(life, task, &result[task]);
        for (int pass = 0; pass < 2; pass++)
            for (host_job.task = 0; host_job.task < tasks; host_job.task++)
                call(pass == 0 ? "task_post_fork" : "task_exit", &unused);
        host_job.task = -1;
    }
    host_unload();
}

void life_extern(const struct life *life)
{
    run_step(life, EXTERN_STEP, 0, &outcome->user, NULL);
}

void life_shell(const struct life *life)
{
    run_step(life, life->front == FRONT_SBATCH ? BATCH_STEP : INTERACTIVE_STEP, 1, &outcome->user,
             &outcome->shell);
}

void life_step(const struct life *life)
{
    int tasks = life->tasks > 0 ? life->tasks : 2;

    outcome->task_count = tasks < LIFE_TASKS ? tasks : LIFE_TASKS;
    run_step(life, 3, outcome->task_count, &outcome->user, outcome->tasks);
    outcome->has_step = true;
}

/* ---------------------------------------------------------------- the whole */

static void write_conf(const char *conf)
{
    char path[4200];
    FILE *stream;

    snprintf(path, sizeof path, "%s/muster.conf", directory);
    unlink(path);
    if (conf == NULL)
        return;
    stream = fopen(path, "w");
    if (stream == NULL || fputs(conf, stream) < 0 || fclose(stream) != 0) {
        printf("Bail out! cannot write %s\n", path);
        exit(255);
    }
}

const struct outcome *life_run(const struct life *life)
{
    life_begin();
    write_conf(life->conf);
    life_process("slurmd", life_slurmd, life);
    life_process("front", life_front, life);
    if (outcome->front == 0) {
        life_process("prolog", life_prolog, life);
        if (outcome->prolog == 0) {
            life_process("extern step", life_extern, life);
            if (life->front != FRONT_SRUN) {
                life_process("batch or interactive step", life_shell, life);
                life_process("srun within", life_inner_srun, life);
            }
            if (outcome->step_front == 0)
                life_process("step", life_step, life);
        }
        life_process("epilog", life_epilog, life);
    }
    life_end();
    return outcome;
}
