/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/run_constants.h"
#include "tests/unit/tap.h"
#include "validate/run/decide.h"
#include "validate/run/hang.h"
#include "validate/run/keeper.h"
#include "validate/run/launch.h"
#include "validate/run/layout.h"
#include "validate/run/requeue.h"
#include "validate/run/script.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/step/step.h"

static char text[64];

static const char *decision_text(const struct run_seen *seen)
{
    struct run_decision decision = run_decide(seen);

    snprintf(text, sizeof text, "%s %s", run_action_name(decision.action),
             run_reason_name(decision.reason));
    return text;
}

/* A command that ended with status 9 on four of five nodes. All nodes pass. */
static const struct run_seen default_seen = {.status = 9,
                                             .left_s = 3600,
                                             .most_restarts = 3,
                                             .is_examined = true,
                                             .used = 4,
                                             .tested = 4,
                                             .good = 5,
                                             .wanted = 4,
                                             .can_requeue = true};

static void test_ends(void)
{
    struct run_seen seen = default_seen;

    seen.is_examined = false;
    is_str(decision_text(&seen), "examine failed", "after a failed command its nodes are examined");
    seen.left_s = RUN_LEAST_LEFT_S - 1;
    is_str(decision_text(&seen), "end no-time-left", "... but not near the time limit");
    seen.left_s = 3600;
    seen.restarts = 2;
    is_str(decision_text(&seen), "examine failed", "... also before the last restart");
    seen.restarts = 3;
    is_str(decision_text(&seen), "end no-restart-left", "... but not after the last restart");
    seen.restarts = 0;
    seen.is_stopped = true;
    is_str(decision_text(&seen), "end stopped", "... nor after a stop signal");
    seen.is_no_command = true;
    is_str(decision_text(&seen), "end no-command", "a command that could not be started ends");
    seen.status = 0;
    seen.is_no_command = false;
    is_str(decision_text(&seen), "end done", "status 0 ends, whatever else happened");
    seen = default_seen;
    seen.is_stopped = true;
    seen.lost = 1;
    is_str(decision_text(&seen), "end stopped",
           "a stop signal during the examination ends it, too");
    seen = default_seen;
    seen.left_s = RUN_LEAST_LEFT_S - 1;
    seen.lost = 1;
    is_str(decision_text(&seen), "requeue nodes-at-fault",
           "without time left a job with a node at fault is requeued");
    seen.can_requeue = false;
    is_str(decision_text(&seen), "end no-time-left", "... if that is possible");
}

static void test_hung_nodes(void)
{
    struct run_seen seen = default_seen;

    seen.blocking = 1;
    is_str(decision_text(&seen), "replace hung", "a node that hung is replaced by a spare");
    seen.good = 4;
    is_str(decision_text(&seen), "repeat nodes-passed", "... without a spare it stays");
    seen.good = 5;
    seen.faulty = 1;
    is_str(decision_text(&seen), "replace nodes-at-fault", "... a faulty node is replaced first");
}

static void test_faulty_nodes(void)
{
    struct run_seen seen = default_seen;

    seen.faulty = 1;
    seen.good = 4;
    is_str(decision_text(&seen), "replace nodes-at-fault",
           "one node failed the preflight: it is replaced");
    seen.good = 3;
    is_str(decision_text(&seen), "requeue nodes-at-fault",
           "... without a spare the job is requeued");
    seen.can_requeue = false;
    is_str(decision_text(&seen), "end no-spare", "... if it cannot be requeued it ends");
    seen = default_seen;
    seen.has_repeated = true;
    seen.tested = 3;
    seen.lost = 1;
    seen.good = 4;
    is_str(decision_text(&seen), "replace nodes-at-fault",
           "a node that Slurm removed is replaced, also after a restart on the same nodes");
    seen.tested = 0;
    is_str(decision_text(&seen), "replace nodes-at-fault",
           "... and without results of the preflight");
    seen = default_seen;
    seen.faulty = 2;
    seen.good = 4;
    is_str(decision_text(&seen), "replace nodes-at-fault", "up to half of the nodes can be faulty");
    seen.faulty = 3;
    is_str(decision_text(&seen), "repeat too-many-faulty", "... more are no node's fault");
    seen.lost = 1;
    is_str(decision_text(&seen), "replace nodes-at-fault",
           "... except for a node that Slurm removed");
}

static void test_no_faulty_nodes(void)
{
    struct run_seen seen = default_seen;

    is_str(decision_text(&seen), "repeat nodes-passed",
           "all nodes pass: the command is repeated on the same nodes");
    seen.has_repeated = true;
    is_str(decision_text(&seen), "end nodes-passed", "... but only once");
    seen.tested = 3;
    is_str(decision_text(&seen), "end nodes-unknown",
           "unknown nodes are neither passed nor at fault");
    seen.has_repeated = false;
    is_str(decision_text(&seen), "repeat nodes-unknown", "... the command is repeated once, too");
    seen.faulty = 2;
    is_str(decision_text(&seen), "repeat too-many-faulty",
           "two faulty nodes of three tested are too many");
    seen.has_repeated = true;
    is_str(decision_text(&seen), "end too-many-faulty", "... after a repeat the command ends");
}

/* ---------------------------------------------------------------- the keeper */

static void test_keeper(void)
{
    struct own_job job = {.can_requeue = true, .requeues = 1};

    hostlist_expand("n[1-3]", &job.nodes, NULL);
    is_str(keeper_node(&job, "n1", 3), "n3", "the keeper runs where spares are");
    is_str(keeper_node(&job, "n3", 3), "n2", "... not where the job script runs");
    ok(!keeper_node(&job, "n4", 3) && !keeper_node(&job, NULL, 3),
       "without a script on a node of the job there is no keeper");
    ok(!keeper_node(&job, "n1", 1), "without a restart left there is none");
    job.can_requeue = false;
    ok(!keeper_node(&job, "n1", 3), "a job that cannot be requeued has none");
    job.can_requeue = true;
    job.nodes.count = 1;
    ok(!keeper_node(&job, "n1", 3), "a job with one node has none");
    job.nodes.count = 3;
    job.is_running = true;
    is_int(keeper_decide(&job, "n3", "n1"), KEEPER_WAIT,
           "while the script's node is in the job nothing is done");
    is_int(keeper_decide(&job, "n3", "n4"), KEEPER_REQUEUE,
           "if it was removed the job is requeued");
    is_int(keeper_decide(&job, "n4", "n5"), KEEPER_END,
           "... unless the keeper's own node was removed, too");
    job.is_running = false;
    is_int(keeper_decide(&job, "n3", "n4"), KEEPER_WAIT, "... or the job does not run");
    hostlist_clear(&job.nodes);
}

/* Whether no process, or no command of a step, can be made. */
static bool fork_fails, step_fails;

pid_t __real_fork(void);
pid_t __wrap_fork(void)
{
    if (!fork_fails)
        return __real_fork();
    errno = EAGAIN;
    return -1;
}

int __real_step_command(const struct step *step, struct arguments *srun, struct error *err);
int __wrap_step_command(const struct step *step, struct arguments *srun, struct error *err)
{
    return step_fails ? error_set(err, "no room for the list of nodes")
                      : __real_step_command(step, srun, err);
}

static int open_fds(void)
{
    int count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void test_keeper_that_cannot_start(void)
{
    struct keeper keeper = {0};
    struct error err = {""};
    char node[] = "n3";
    int fds = open_fds();

    fork_fails = true;
    is_int(keeper_begin(&keeper, 7, node, "n1", &err), -1, "without a process there is no keeper");
    is_str(err.text, "cannot start the keeper step: Resource temporarily unavailable",
           "... with the reason");
    is_int(keeper.pid, 0, "... it is tried again at the next start");
    is_int(open_fds(), fds, "... no file descriptor is left open");
    fork_fails = false;
    step_fails = true;
    is_int(keeper_begin(&keeper, 7, node, "n1", &err), -1, "without a command there is none");
    is_str(err.text, "no room for the list of nodes", "... with the reason");
    is_int(open_fds(), fds, "... no file descriptor is left open");
    step_fails = false;
}

/* A keeper on n3 of a job with n[1-3]. Nobody sends it heartbeats. Slurm removes n1, which runs
 * the script, and then n3. Its requeue has this outcome. */
static int requeue_result, job_loads;

/* For the job that muster run itself requeues: */
static bool is_requeueing;
static int refused_requests, requests, sleeps;
static jmp_buf end_of_job;

int __real_poll(struct pollfd *polled, nfds_t count, int wait_ms);
int __wrap_poll(struct pollfd *polled, nfds_t count, int wait_ms)
{
    return count == 1 ? 0 : __real_poll(polled, count, wait_ms); /* count 1: the keeper's poll */
}

int cluster_open(struct error *err)
{
    return 0;
}

int cluster_job_cancel_steps(uint32_t id, const char *name, struct error *err)
{
    return 0;
}

int cluster_federated_name(char *name, size_t size, struct error *err)
{
    *name = '\0';
    return 0;
}

int own_job_load(uint32_t id, struct own_job *job, struct error *err)
{
    static const char *const nodes[] = {"n[1-3]", "n[2-3]", "n2"};

    *job = (struct own_job){.name = "7", .is_running = !is_requeueing || job_loads++ == 1};
    if (is_requeueing)
        return 0;
    return hostlist_expand(nodes[job_loads++], &job->nodes, err);
}

void own_job_clear(struct own_job *job)
{
    hostlist_clear(&job->nodes);
    hostlist_clear(&job->excluded);
}

int own_job_requeue(const struct own_job *job, struct error *err)
{
    ok(strcmp(job->name, "7") == 0 && hostlist_contains(&job->excluded, "n1"),
       "the requeued job excludes the script's node");
    requests++;
    if (refused_requests > 0) {
        refused_requests--;
        return error_set(err, "slurmctld is away");
    }
    if (requeue_result != 0)
        error_set(err, "refused");
    return requeue_result;
}

unsigned __real_sleep(unsigned seconds);
unsigned __wrap_sleep(unsigned seconds)
{
    if (!is_requeueing)
        return __real_sleep(seconds);
    if (++sleeps == 5)
        longjmp(end_of_job, 1);
    return 0;
}

static void test_requeue(void)
{
    struct own_job job = {.name = "7"};

    hostlist_append(&job.excluded, "n1");
    is_requeueing = true;
    refused_requests = 2;
    requeue_result = job_loads = requests = 0;
    if (setjmp(end_of_job) == 0)
        requeue_until_ended("muster run", 7, &job);
    is_int(sleeps, 5, "a job to be requeued waits for its end");
    is_int(requests, 4, "... and repeats a request that failed or was lost");
    is_requeueing = false;
    own_job_clear(&job);
}

/* Returns the keeper's output when the requeue has this outcome. */
static const char *keeper_output(int outcome)
{
    static char words[256];
    char path[] = "/tmp/muster-keeper-XXXXXX";
    int fd = mkstemp(path);
    ssize_t length;

    requeue_result = outcome;
    job_loads = 0;
    is_int(keeper_run("muster run", "n1", path), 0, "the keeper ends");
    length = read(fd, words, sizeof words - 1);
    words[length > 0 ? length : 0] = '\0';
    close(fd);
    unlink(path);
    return words;
}

static void test_keeper_output(void)
{
#define FAILED "muster run: n1, where the job script ran, failed; requeueing job 7\n"
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURMD_NODENAME", "n3", 1);
    is_str(keeper_output(0), FAILED "muster run: job 7 excludes n1\n",
           "... and reports the excluded node");
    is_str(keeper_output(1), FAILED "muster run: refused\n",
           "... or that the list could not be set");
    is_str(keeper_output(-1), FAILED "muster run: refused\n",
           "... or that the job is not requeued");
}

/* ---------------------------------------------------------------- nodes */

static char *chosen_text(const char *nodes, const char *keep, const char *excluded, size_t wanted)
{
    struct hostlist lists[3], chosen;
    const char *texts[] = {nodes, keep, excluded};
    char *folded;

    for (int i = 0; i < 3; i++)
        hostlist_expand(texts[i], &lists[i], NULL);
    layout_choose(&lists[0], &lists[1], &lists[2], wanted, &chosen);
    folded = hostlist_fold(&chosen);
    for (int i = 0; i < 3; i++)
        hostlist_clear(&lists[i]);
    hostlist_clear(&chosen);
    return folded;
}

static void check_chosen(const char *nodes, const char *keep, const char *excluded, size_t wanted,
                         const char *expected, const char *what)
{
    char *found = chosen_text(nodes, keep, excluded, wanted);

    is_str(found, expected, "%s", what);
    free(found);
}

static const char *variable_value(const struct arguments *variables, const char *name)
{
    for (int i = 0; i < variables->count; i++) {
        size_t length = strlen(name);

        if (strncmp(variables->argv[i], name, length) == 0 && variables->argv[i][length] == '=')
            return variables->argv[i] + length + 1;
    }
    return NULL;
}

static void test_environment(void)
{
    struct arguments variables = {0}, command = {0};
    struct hostlist all, chosen;
    char *words[] = {(char *)"/usr/bin/srun", (char *)"-K", (char *)"train", NULL};
    char *other[] = {(char *)"mpirun", (char *)"train", NULL};

    hostlist_expand("n[1-5]", &all, NULL);
    hostlist_expand("n[1-2,4-5]", &chosen, NULL);
    setenv("SLURM_JOB_NODELIST", "n[1-5]", 1);
    setenv("SLURM_NNODES", "5", 1);
    setenv("SLURM_NTASKS", "10", 1);
    setenv("SLURM_TASKS_PER_NODE", "2(x5)", 1);
    setenv("SLURM_JOB_CPUS_PER_NODE", "16(x2),8,16,4", 1);
    setenv("SLURM_GPUS", "a100:40", 1);
    unsetenv("SLURM_NODELIST");
    unsetenv("SLURM_JOB_NUM_NODES");
    unsetenv("SLURM_NPROCS");
    is_int(layout_environment(&all, &chosen, &variables, NULL), 0, "an environment of four nodes");
    is_str(variable_value(&variables, "SLURM_JOB_NODELIST"), "n[1-2,4-5]", "... their names");
    is_str(variable_value(&variables, "SLURM_NNODES"), "4", "... their number");
    is_str(variable_value(&variables, "SLURM_NTASKS"), "8", "... their share of the tasks");
    is_str(variable_value(&variables, "SLURM_GPUS"), "a100:32", "... and of the GPUs");
    is_str(variable_value(&variables, "SLURM_TASKS_PER_NODE"), "2(x4)", "... the tasks of each");
    is_str(variable_value(&variables, "SLURM_JOB_CPUS_PER_NODE"), "16(x3),4",
           "... the CPUs of each");
    is_int(variables.count, 6, "variables that are not set stay unset");
    arguments_clear(&variables);
    setenv("SLURM_TASKS_PER_NODE", "2(x4)", 1);
    setenv("SLURM_JOB_CPUS_PER_NODE", "16(x5", 1);
    layout_environment(&all, &chosen, &variables, NULL);
    ok(!variable_value(&variables, "SLURM_TASKS_PER_NODE") &&
           !variable_value(&variables, "SLURM_JOB_CPUS_PER_NODE"),
       "values for another number of nodes or invalid ones are left out");
    arguments_clear(&variables);
    is_int(layout_environment(&all, &all, &variables, NULL), 0, "all nodes");
    is_int(variables.count, 0, "... need no change");

    layout_command(words, &all, &chosen, &command, NULL);
    is_str(command.argv[1], "--exclude=n3", "srun gets the nodes to exclude");
    is_str(command.argv[3], "train", "... before the command's own arguments");
    arguments_clear(&command);
    layout_command(words, &chosen, &chosen, &command, NULL);
    is_str(command.argv[1], "-K", "... but not a node that Slurm removed from the job");
    arguments_clear(&command);
    layout_command(other, &all, &chosen, &command, NULL);
    is_str(command.argv[1], "train", "another launcher gets no option");
    arguments_clear(&command);
    hostlist_clear(&all);
    hostlist_clear(&chosen);
}

/* ---------------------------------------------------------------- a hang */

static bool is_watch; /* the executed program acts as muster watch, which sees no hang */

int __real_execvp(const char *file, char *const words[]);
int __wrap_execvp(const char *file, char *const words[])
{
    if (is_watch) {
        sleep(30);
        _exit(0);
    }
    return __real_execvp(file, words);
}

static void test_watch_ends(void)
{
    struct hang hang;
    double begin;

    signal(SIGTERM, SIG_IGN); /* the job script has trap '' TERM */
    is_watch = true;
    is_int(hang_begin(&hang, 7, 60, NULL, NULL), 0, "a job is watched although SIGTERM is ignored");
    begin = clock_s();
    hang_end(&hang);
    ok(clock_s() - begin < 15, "... and the watch ends soon (%.2f s)", clock_s() - begin);
    is_watch = false;
    signal(SIGTERM, SIG_DFL);
}

/* The watching process is killed, as when memory runs out on the job script's node. */
static void test_killed_watch(void)
{
    struct hang_note note = {.is_hung = true};
    struct hang hang;
    int tries = 0;

    is_watch = true;
    is_int(hang_begin(&hang, 7, 60, NULL, NULL), 0, "a job is watched");
    ok(!hang_poll(&hang, &note), "... and no hang is reported so far");
    kill(hang.pid, SIGKILL);
    while (!hang_poll(&hang, &note) && tries++ < 600)
        usleep(100000);
    ok(!note.is_hung, "a killed watcher is no hang");
    is_str(note.text, "the process that watches it was killed", "... and is reported");
    ok(!hang_poll(&hang, &note), "... once");
    hang_end(&hang);
    is_watch = false;
}

/* ---------------------------------------------------------------- the command */

static bool has_late_tick;

static bool must_end(void *context)
{
    siginfo_t info;

    has_late_tick |= waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0;
    return *(bool *)context;
}

static int run_command(const char *script, bool is_cut)
{
    char *words[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
    char *variables[] = {(char *)"RUN_TEST=4", NULL};
    int status;

    launch_run(
        &(struct launch){
            .argv = words, .environment = variables, .on_tick = must_end, .context = &is_cut},
        &status, NULL);
    return status;
}

static void test_commands(void)
{
    char *missing[] = {(char *)"/no/such/command", NULL};
    int status;

    launch_catch_signals();
    is_int(run_command("exit $RUN_TEST", false), 4,
           "the status of a command, with its environment");
    ok(!has_late_tick, "... and no tick after its end, when a signal could hit another process");
    is_int(run_command("kill -KILL $$", false), 137, "... of a command that a signal killed");
    is_int(run_command("exec sleep 100", true), 143, "a command that must end gets SIGTERM");
    is_int(run_command("trap 'exit 0' TERM; while :; do sleep 0.1; done", true), 143,
           "... and counts as failed, whatever its status");
    is_int(launch_run(&(struct launch){.argv = missing}, &status, NULL), -1, "a missing command");
    is_int(status, 127, "... has a shell's status");
    is_int(launch_stop, 0, "no stop signal was received so far");
    is_int(run_command("trap 'exit 6' USR1; kill -USR1 $PPID; while :; do sleep 0.1; done", false),
           6, "SIGUSR1 is forwarded to the command");
    is_int(launch_stop, 0, "... and is no stop signal");
    is_int(run_command("trap 'exit 5' TERM; kill -TERM $PPID; while :; do sleep 0.1; done", false),
           5, "SIGTERM is forwarded, too");
    is_int(launch_stop, SIGTERM, "... and is a stop signal");
    is_int(run_command("exec sleep 100", false), 143, "a command started after it ends at once");
}

int main(void)
{
    test_watch_ends();
    test_killed_watch();
    test_commands();
    test_ends();
    test_faulty_nodes();
    test_hung_nodes();
    test_no_faulty_nodes();
    test_keeper();
    test_keeper_that_cannot_start();
    test_keeper_output();
    test_requeue();

    check_chosen("n[1-5]", "", "", 4, "n[1-4]", "the last node is the spare");
    check_chosen("n[1-5]", "n[1-4]", "n2", 4, "n[1,3-5]", "a spare replaces the node at fault");
    check_chosen("n[1-5]", "n[2-5]", "", 4, "n[2-5]", "nodes that ran before stay");
    check_chosen("n[1-3]", "n[1-3]", "n[1-2]", 3, "n3",
                 "with too few nodes all remaining ones are chosen");
    test_environment();

    ok(script_has_no_kill("#!/bin/bash\n#SBATCH -N5 --no-kill\nmuster run -- srun x\n"),
       "a script with --no-kill is recognized");
    ok(script_has_no_kill("#!/bin/bash\n\n# about\n#SBATCH -k\n"), "... or with -k");
    ok(!script_has_no_kill("#!/bin/bash\n#SBATCH -N5 # --no-kill\n#SBATCH --no-kill=off\n"),
       "... not in a comment, and not with off");
    ok(!script_has_no_kill("#!/bin/bash\nhostname\n#SBATCH --no-kill\n"),
       "... not below the first command");
    return tap_done();
}
