/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/spank-host/fixture.h"
#include "tests/spank-host/host.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* The plugin in slurmd, srun, sbatch and slurmstepd: what each hook does, and that hooks fail only
 * where spank_muster(8) says so. */

/* ---------------------------------------------------------------- slurmd */

static void in_slurmd(void)
{
    fixture_load(S_CTX_SLURMD, "OnMissing=what\n");
    is_int(host_call("init"), 0, "slurmd: init succeeds whatever is in muster.conf");
    is_int(host_option("muster", "on"), -2, "... and registers no options");
    is_str(host_log, "", "... and logs nothing");
}

/* ---------------------------------------------------------------- srun, sbatch, salloc */

static void in_allocator(spank_context_t context, const char *name)
{
    fixture_load(context, NULL);
    is_int(host_call("init"), 0, "%s: init", name);
    is_int(host_option("muster", "on"), 0, "%s: --muster=on", name);
    is_int(host_option("muster", "OFF"), 0, "%s: --muster=OFF after it", name);
    is_int(host_option("muster-explain", NULL), 0, "%s: --muster-explain", name);
    is_int(host_option("muster-explain", "(null)"), 0, "%s: --muster-explain as Slurm passes it on",
           name);
    is_str(host_log, "", "%s: no message", name);
    is_int(host_option("muster", "maybe"), -1, "%s: --muster=maybe is refused", name);
    is_str(host_log, "error: muster: --muster=maybe: expected on|off\n", "... in one line");
    host_log[0] = '\0';
    host_option("muster", "\033[2J\nerror: forged\x7f");
    is_str(host_log, "error: muster: --muster=?[2J?error: forged?: expected on|off\n",
           "... without control characters");
    is_int(host_option("muster", NULL), -1, "%s: --muster without a value is refused", name);
    is_int(host_call("init_post_opt"), 0, "%s: init_post_opt", name);
    is_int(host_call("local_user_init"), 0, "%s: local_user_init", name);
    is_int(host_call("exit"), 0, "%s: exit", name);

    fixture_load(context, NULL);
    setenv("MUSTER_ENVIRONMENT", "perhaps", 1);
    host_call("init");
    is_int(host_call("init_post_opt"), -1, "%s: MUSTER_ENVIRONMENT=perhaps is refused", name);
    is_str(host_log, "error: muster: MUSTER_ENVIRONMENT=perhaps: expected on or off\n",
           "... in one line");

    fixture_load(context, NULL);
    host_call("init");
    host_option("muster", "off");
    is_int(host_call("init_post_opt"), 0, "%s: the option takes precedence over the variable",
           name);

    setenv("MUSTER_ENVIRONMENT", "", 1);
    fixture_load(context, NULL);
    host_call("init");
    is_int(host_call("init_post_opt"), 0, "%s: an empty variable is ignored", name);
    unsetenv("MUSTER_ENVIRONMENT");

    fixture_load(context, NULL);
    host_arguments[1] = (char *)"confg=/etc/muster.conf";
    host_arguments[2] = (char *)"config=";
    is_int(host_call("init"), 0, "%s: an unknown argument in plugstack.conf does not fail", name);
    has_str(host_log, "error: muster: plugstack.conf: confg=/etc/muster.conf: expected config=PATH",
            "... and is reported");

    fixture_load(context, NULL);
    host_call("init");
    is_int(host_call("init"), 0, "%s: init a second time does not fail", name);
    has_str(host_log, "plugin listed twice", "... and is reported");
}

/* ---------------------------------------------------------------- slurmstepd */

static void start_step(const char *conf)
{
    fixture_load(S_CTX_REMOTE, conf);
    host_setenv("SLURM_JOB_ID", "12");
    host_setenv("SLURM_STEP_ID", "3");
    host_setenv("SLURM_STEP_NODELIST", "n[1-2]");
    host_setenv("SLURM_NTASKS", "4");
    host_setenv("SLURMD_NODENAME", "n2");
    host_setenv("SLURM_NODEID", "1");
}

static void begin_step(const char *conf)
{
    start_step(conf);
    host_call("init");
}

static void start_task(const char *rank, const char *local_rank)
{
    host_call("init_post_opt");
    host_setenv("SLURM_PROCID", rank);
    host_setenv("SLURM_LOCALID", local_rank);
    host_call("task_init");
}

static void run_step(void)
{
    is_int(host_call("init_post_opt"), 0, "... init_post_opt");
    is_int(host_call("user_init"), 0, "... user_init");
    is_int(host_call("task_init_privileged"), 0, "... task_init_privileged");
    host_setenv("SLURM_PROCID", "2");
    host_setenv("SLURM_LOCALID", "0");
    is_int(host_call("task_init"), 0, "... task_init");
    is_int(host_call("task_exit"), 0, "... task_exit");
    is_int(host_call("exit"), 0, "... exit");
}

/* The value of a variable in the job's environment; "(unset)" for NULL. */
static const char *value(const char *name)
{
    return host_getenv(name) != NULL ? host_getenv(name) : "(unset)";
}

/* Runs the step, and checks the value of a variable in the task. */
#define step_gets(name, ...) (run_step(), is_str(value(name), __VA_ARGS__))

static void in_step(void)
{
    ok(1, "a plain step");
    start_step("MasterPorts=20000-20999\n");
    is_int(host_call("init"), 0, "... init");
    step_gets("RANK", "2", "... RANK");
    is_str(value("LOCAL_RANK"), "0", "... LOCAL_RANK");
    is_str(value("WORLD_SIZE"), "4", "... WORLD_SIZE");
    is_str(value("LOCAL_WORLD_SIZE"), "2", "... LOCAL_WORLD_SIZE");
    is_str(value("GROUP_RANK"), "1", "... GROUP_RANK");
    is_str(value("MASTER_ADDR"), "n1", "... MASTER_ADDR");
    is_str(value("MASTER_PORT"), "20735", "... MASTER_PORT in the range of muster.conf");
    ok(host_getenv("MUSTER_SET") != NULL, "... and MUSTER_SET");
    is_str(host_log, "", "... without a message");

    ok(1, "a step without a muster.conf has the defaults");
    begin_step(NULL);
    step_gets("RANK", "2", "... RANK");
    is_str(host_log, "", "... without a message");

    ok(1, "values of the user");
    start_step("");
    host_setenv("RANK", "");
    host_setenv("MASTER_ADDR", "elsewhere");
    host_call("init");
    step_gets("RANK", "", "... an empty value is kept");
    is_str(value("MASTER_ADDR"), "elsewhere", "... like any other");
    is_str(value("WORLD_SIZE"), "4", "... and the rest is set");

    ok(1, "a step on a node with less than required");
    begin_step("ShmMB=1000000000\n");
    run_step();
    has_str(host_log, "tell: muster: n2: step 12.3 task 2: /dev/shm has ", "... gets a message");
}

static void step_on_a_recorded_machine(void)
{
    char *root = tree_unpack("h100-ib"), argument[4300];

    snprintf(argument, sizeof argument, "root=%s", root);
    start_step("");
    host_arguments[1] = argument;
    host_call("init");
    step_gets("NCCL_IB_HCA",
              "=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1",
              "root=DIR gives tasks the environment of the machine recorded there");
    is_str(host_log, "", "... without a message");
    host_unload();
    tree_remove(root);

    start_step("");
    host_arguments[1] = (char *)"root=tests";
    host_call("init");
    run_step();
    has_str(host_log,
            "error: muster: plugstack.conf: root=tests: expected config=PATH, program=PATH, "
            "library=PATH or "
            "root=DIR",
            "a root that is not an absolute path is reported");
    is_str(value("RANK"), "2", "... and ignored");
}

static void step_with_bad_conf(void)
{
    size_t count;

    ok(1, "a step with a muster.conf that cannot be read");
    begin_step("MasterPorts=what\n");
    host_option("muster-explain", NULL);
    count = host_environment_count();
    run_step();
    is_int(host_environment_count(), count + 2, "... leaves the environment unchanged");
    has_str(host_log,
            "error: muster: environment left unchanged: ", "... with a message in the log");
    has_str(host_log, "muster.conf:1: ", "... with file and line");
    has_str(host_log, "tell: muster: n2: environment left unchanged: ", "... and one for the user");

    start_step(NULL);
    mkdir(fixture_path("muster.conf"), 0755);
    host_call("init");
    step_gets("RANK", "(unset)", "with a directory in place of muster.conf nothing is set");
    host_unload();
    rmdir(fixture_path("muster.conf"));
}

static void step_switched_off(void)
{
    begin_step("");
    host_option("muster", "off");
    step_gets("RANK", "(unset)", "--muster=off sets nothing");
    is_str(value("MUSTER_SET"), "(unset)", "... and leaves no MUSTER_SET");

    begin_step("");
    host_setenv("MUSTER_ENVIRONMENT", "off");
    step_gets("RANK", "(unset)", "MUSTER_ENVIRONMENT=off sets nothing");

    begin_step("");
    host_setenv("MUSTER_ENVIRONMENT", "off");
    host_option("muster", "on");
    step_gets("RANK", "2", "--muster=on takes precedence over the variable");

    begin_step("SetEnvironment=no\n");
    host_option("muster-explain", NULL);
    step_gets("RANK", "(unset)", "SetEnvironment=no sets nothing");
    has_str(host_log, "SetEnvironment=no in ", "... and --muster-explain names it");

    begin_step("SetEnvironment=no\n");
    host_option("muster", "on");
    step_gets("RANK", "2", "--muster=on takes precedence over SetEnvironment=no");

    begin_step("");
    host_setenv("MUSTER_ENVIRONMENT", "\033[2Jwhat");
    step_gets("RANK", "2", "an invalid variable is ignored on the node");
    has_str(host_log, "; ignored\n", "... and logged");

    begin_step("");
    is_int(host_option("muster", "what"), -1, "a bad option on the node fails in its callback");
    step_gets("RANK", "2", "... and is ignored");
}

/* The MUSTER_SET of a plain step, whose RANK is 2. */
static const char *mark_of_a_step(void)
{
    static char mark[2048];

    begin_step("");
    run_step();
    snprintf(mark, sizeof mark, "%s", value("MUSTER_SET"));
    return mark;
}

static void step_nested(void)
{
    const char *mark = mark_of_a_step();

    start_step("");
    host_setenv("MUSTER_SET", mark);
    host_setenv("RANK", "2");
    host_setenv("WORLD_SIZE", "77");
    host_job.local_tasks = 1;
    host_setenv("SLURM_NTASKS", "2");
    host_call("init");
    start_task("1", "0");
    is_str(value("RANK"), "1", "a nested step has ranks of its own");
    is_str(value("WORLD_SIZE"), "77", "... and keeps values that the user set in between");

    start_step("");
    host_setenv("MUSTER_SET", mark);
    host_setenv("RANK", "2");
    host_call("init");
    host_option("muster", "off");
    step_gets("RANK", "(unset)", "a nested step with --muster=off has no values of the outer step");
    is_str(value("MUSTER_SET"), "(unset)", "... and no MUSTER_SET");
}

/* LD_PRELOAD of a task with this --collectives option and this LD_PRELOAD before; NULL: none. */
static const char *preloaded(const char *option, const char *before)
{
    static char found[512];
    static char word[512];

    start_step("SetEnvironment=no\n");
    snprintf(word, sizeof word, "library=%s", fixture_path("a.so"));
    host_arguments[1] = word;
    if (before != NULL)
        host_setenv("LD_PRELOAD", before);
    host_call("init");
    if (option != NULL)
        host_option("collectives", option);
    run_step();
    snprintf(found, sizeof found, "%s", value("LD_PRELOAD"));
    return found;
}

static void step_with_collectives(void)
{
    char library[256], expected[600];

    snprintf(library, sizeof library, "%s", fixture_path("a.so"));
    write_file(library, "");
    is_str(preloaded("muster", NULL), library, "--collectives=muster preloads");
    snprintf(expected, sizeof expected, "%s:/x/b.so c.so", library);
    is_str(preloaded("muster", "/x/b.so c.so"), expected, "... before the user's own libraries");
    snprintf(expected, sizeof expected, "/x/b.so %s:/y/c.so", library);
    is_str(preloaded("muster", expected), expected, "... only once");
    snprintf(expected, sizeof expected, "%s.old", library);
    has_str(preloaded("muster", expected), ".so:/",
            "a path with the same beginning is another library");
    is_str(preloaded("MPI", "/x/b.so"), "/x/b.so",
           "--collectives=mpi leaves the user's libraries unchanged");
    snprintf(expected, sizeof expected, "%s:/x/b.so c.so", library);
    is_str(preloaded("mpi", expected), "/x/b.so c.so",
           "... and removes the library of an outer step");
    snprintf(expected, sizeof expected, "/x/b.so:%s", library);
    is_str(preloaded("mpi", expected), "/x/b.so", "... at the end as well");
    is_str(preloaded("mpi", library), "(unset)", "... and alone");
    is_str(preloaded(NULL, library), library,
           "without the option the library of an outer step stays");
    is_str(preloaded(NULL, "/x/b.so"), "/x/b.so", "... as do the user's libraries");
    is_str(preloaded(NULL, NULL), "(unset)", "... and sets nothing");

    start_step("");
    host_arguments[1] = (char *)"library=/nowhere/a.so";
    host_setenv("MUSTER_STEP_COLLECTIVES", "muster");
    host_call("init");
    step_gets("LD_PRELOAD", "(unset)", "a missing library is not preloaded");
    has_str(host_log,
            "error: muster: collectives left to MPI: /nowhere/a.so: No such file or directory\n",
            "... with a message");
    start_step("");
    host_arguments[1] = (char *)"library=/nowhere/a.so";
    host_setenv("SLURM_STEP_NUM_NODES", "2");
    host_call("init");
    host_option("collectives", "muster");
    is_int(host_call("init_post_opt"), 0, "the same in a step of two nodes");
    is_int(host_call("task_init"), -1, "... whose tasks here do not start");
    has_str(host_log,
            "error: muster: task not started: --collectives=muster: no /nowhere/a.so on this node; "
            "install it, or use --collectives=mpi\n",
            "... with a message");
    begin_step("");
    is_int(host_option("collectives", "nccl"), -1, "--collectives=nccl is refused");
    has_str(host_log, "--collectives=nccl: expected muster|mpi\n", "... in one line");
    unlink(library);
}

static void step_explained(void)
{
    start_step("");
    host_setenv("LOCAL_RANK", "\033[31m\n7");
    host_call("init");
    host_option("muster-explain", NULL);
    start_task("3", "1");
    is_str(host_log, "", "the second task of a node does not explain");

    start_step("");
    host_setenv("LOCAL_RANK", "\033[31m\n7");
    host_setenv("MUSTER_EXPLAIN", "1");
    host_call("init");
    run_step();
    has_str(host_log, "tell: muster: n2: RANK=2 (task: SLURM_PROCID is 2)\n",
            "MUSTER_EXPLAIN=1: value, rule and fact");
    has_str(host_log,
            "tell: muster: n2: LOCAL_RANK left alone (task on its node: set by the user to "
            "\"?[31m?7\")\n",
            "... and why a variable is left alone, without control characters");
}

static void steps_that_are_not_ours(void)
{
    static const uint32_t steps[] = {0xfffffffa, 0xfffffffb, 0xfffffffc, 0xfffffffd, 0xfffffffe};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        size_t count;

        start_step("MasterPorts=what\n");
        host_job.step_id = steps[i];
        host_call("init");
        host_option("muster-explain", NULL);
        count = host_environment_count();
        run_step();
        is_int(host_environment_count(), count + 2, "step 0x%x is left alone", (unsigned)steps[i]);
        is_str(host_log, "", "... without a message");
    }
}

/* A batch script, or the shell of salloc, of a job that was submitted inside a step. */
static void shells_lose_values_of_an_outer_step(void)
{
    static const uint32_t shells[] = {0xfffffffa, 0xfffffffb};
    const char *mark = mark_of_a_step();

    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        start_step("MasterPorts=what\n");
        host_job.step_id = shells[i];
        host_setenv("MUSTER_SET", mark);
        host_setenv("RANK", "2");
        host_setenv("WORLD_SIZE", "77");
        host_call("init");
        host_option("muster-explain", NULL);
        step_gets("RANK", "(unset)", "step 0x%x of a job that a step submitted has no RANK",
                  (unsigned)shells[i]);
        is_str(value("MUSTER_SET"), "(unset)", "... and no MUSTER_SET");
        is_str(value("WORLD_SIZE"), "77", "... and keeps what the user set");
        is_str(host_log, "", "... without a message");
    }
}

/* ---------------------------------------------------------------- the step check */

/* srun was started on n1: SLURMD_NODENAME names n1 until each task gets the name of its node. */
static void gres_lines_are_the_nodes_own(void)
{
    char *root = tree_unpack("lab-node"), argument[4300];

    snprintf(argument, sizeof argument, "root=%s", root);
    tree_put(root, "etc/slurm/gres.conf",
             "NodeName=n1 Name=gpu File=/dev/gpu[0-3]\nNodeName=n2 Name=gpu File=/dev/null\n");
    tree_put(root, "dev/shm/place", "");
    setenv("SLURMD_NODENAME", "n2", 1);
    start_step("");
    host_arguments[1] = argument;
    host_setenv("SLURMD_NODENAME", "n1");
    host_setenv("SLURM_STEP_GPUS", "0");
    host_call("init");
    host_call("init_post_opt");
    host_setenv("SLURMD_NODENAME", "n2");
    host_setenv("SLURM_PROCID", "2");
    host_setenv("SLURM_LOCALID", "0");
    host_call("task_init");
    has_str(host_log, "the step can open 0 of the node's 1, /dev/null is not there",
            "lines of gres.conf for this node are compared, not those for the node of srun");
    host_unload();
    unsetenv("SLURMD_NODENAME");
    tree_remove(root);
}

static void run_checked(const char *root, const char *conf, const char *name, const char *text)
{
    static char argument[4300];

    snprintf(argument, sizeof argument, "root=%s", root);
    start_step(conf);
    host_arguments[1] = argument;
    host_setenv("SLURM_STEP_NUM_NODES", "2");
    host_setenv(name, text);
    host_call("init");
}

/* Whether a message of the step check names the variable. */
static bool is_reported(const char *name)
{
    char words[64];

    snprintf(words, sizeof words, " task 2: %s=", name);
    return strstr(host_log, words) != NULL;
}

static void check_judges_what_the_task_gets(void)
{
    static const char islands[] =
        "Island=a nodes=n1 fabric=InfiniBand\nIsland=b nodes=n2 fabric=InfiniBand\n";
    char *root = tree_unpack("h100-ib"), mark[2048], net[64], conf[512];

    run_checked(root, "", "UCX_TLS", "tcp");
    run_step();
    ok(is_reported("UCX_TLS"), "UCX_TLS=tcp on InfiniBand is reported");

    run_checked(root, "Variable=UCX_TLS forbid\n", "UCX_TLS", "tcp");
    run_step();
    ok(!is_reported("UCX_TLS"), "... not if lines of the site remove it");

    run_checked(root, islands, "UCX_TLS", "tcp");
    run_step();
    ok(!is_reported("UCX_TLS"), "... nor if the step uses TCP, across islands");
    snprintf(mark, sizeof mark, "%s", value("MUSTER_SET"));
    snprintf(net, sizeof net, "%s", value("NCCL_NET"));
    is_str(net, "Socket", "... for which NCCL_NET is set");

    snprintf(conf, sizeof conf, "SetEnvironment=no\n%s", islands);
    run_checked(root, conf, "UCX_TLS", "tcp");
    run_step();
    ok(!is_reported("UCX_TLS"), "... also with SetEnvironment=no");

    run_checked(root, "", "NCCL_NET", net);
    host_setenv("MUSTER_SET", mark);
    step_gets("NCCL_NET", "(unset)", "muster's own value of an outer step is removed");
    ok(!is_reported("NCCL_NET"), "... and not reported");
    host_unload();
    tree_remove(root);
}

/* ---------------------------------------------------------------- launchers, odd environments */

static void launcher_is(const char *argv0, uint32_t local_tasks, const char *rank,
                        const char *master)
{
    char *argv[] = {(char *)argv0, (char *)"-x", NULL};

    start_step("");
    host_job.argc = 2;
    host_job.argv = argv;
    host_job.local_tasks = local_tasks;
    host_call("init");
    step_gets("RANK", rank, "%s, %u to a node: RANK %s", argv0, (unsigned)local_tasks, rank);
    is_str(value("MASTER_ADDR"), master, "... MASTER_ADDR %s", master);
    host_unload();
}

static void hostile_environment(void)
{
    char *huge = malloc(1 << 20);
    size_t said;

    memset(huge, 'x', (1 << 20) - 1);
    huge[(1 << 20) - 1] = '\0';
    start_step("");
    host_setenv("MUSTER_SET", huge);
    host_setenv("SLURM_STEP_NODELIST", huge);
    host_setenv("SLURM_NTASKS", "-9999999999999999999999");
    host_setenv("UCX_NET_DEVICES", huge);
    host_setenv("SLURM_HET_SIZE", "999999");
    host_setenv("MUSTER_ENVIRONMENT", huge);
    host_call("init");
    host_option("muster-explain", NULL);
    step_gets("MASTER_ADDR", "(unset)", "a list of nodes of a megabyte gives no host");
    is_str(value("WORLD_SIZE"), "(unset)", "a number out of range is ignored");
    is_str(value("UCX_NET_DEVICES"), huge, "a user's value of a megabyte is kept");
    is_str(value("RANK"), "2", "... and the rest is set");
    host_unload();
    free(huge);

    start_step("");
    host_job.argc = 0;
    host_job.argv = NULL;
    host_call("init");
    step_gets("RANK", "2", "a step without a command line");

    fixture_load(S_CTX_REMOTE, "");
    host_call("init");
    host_call("init_post_opt");
    is_int(host_call("task_init"), 0, "a step without any variable of Slurm");
    is_str(value("RANK"), "(unset)", "... has no rank");

    start_step("");
    host_setenv("MUSTER_EXPLAIN", "1");
    host_call("init");
    host_call("init");
    host_call("init_post_opt");
    host_setenv("SLURM_LOCALID", "0");
    host_call("task_init");
    said = strlen(host_log);
    is_int(host_call("task_init"), 0, "listed twice, the second task_init does nothing");
    is_int(strlen(host_log), said, "... without a message");

    begin_step("");
    host_call("init");
    host_call("init_post_opt");
    write_file(fixture_path("muster.conf"),
               "SetEnvironment=no\n"); /* as the second line would read it */
    start_task("2", "0");
    is_str(value("RANK"), "2", "listed twice, a step uses the arguments of the first line");
}

int main(int argc, char *argv[])
{
    fixture_begin(argv);
    in_slurmd();
    in_allocator(S_CTX_LOCAL, "srun");
    in_allocator(S_CTX_ALLOCATOR, "sbatch");
    in_step();
    step_on_a_recorded_machine();
    step_with_bad_conf();
    step_switched_off();
    step_nested();
    step_explained();
    step_with_collectives();
    steps_that_are_not_ours();
    shells_lose_values_of_an_outer_step();
    gres_lines_are_the_nodes_own();
    check_judges_what_the_task_gets();
    launcher_is("/opt/bin/orted", 1, "(unset)", "(unset)");
    launcher_is("prted", 1, "(unset)", "(unset)");
    launcher_is("/usr/bin/torchrun", 1, "(unset)", "n1");
    launcher_is("/usr/bin/torchrun", 2, "2", "n1");
    launcher_is("./a.out", 1, "2", "n1");
    hostile_environment();
    host_unload();
    fixture_end();
    return tap_done();
}
