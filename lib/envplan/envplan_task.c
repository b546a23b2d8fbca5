/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan/envplan.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/base_name.h"
#include "lib/base/hostlist.h"

/* ---------------------------------------------------------------- launchers */

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* Programs that start ranks themselves, by a word of the command line and, unless second is NULL,
 * the next word. */
static const struct {
    const char *word, *second;
    enum envplan_launcher launcher;
} launchers[] = {
    {"torchrun", NULL, ENVPLAN_AGENT},
    {"deepspeed", NULL, ENVPLAN_AGENT},
    {"-m", "torch.distributed.run", ENVPLAN_AGENT},
    {"-m", "torch.distributed.launch", ENVPLAN_AGENT},
    {"-m", "accelerate.commands.launch", ENVPLAN_AGENT},
    {"accelerate", "launch", ENVPLAN_AGENT},
    {"colossalai", "run", ENVPLAN_AGENT},
    {"ray", "start", ENVPLAN_AGENT},
    {"ray", "symmetric-run", ENVPLAN_AGENT},
    {"mpirun", NULL, ENVPLAN_MPI_DAEMON},
    {"mpiexec", NULL, ENVPLAN_MPI_DAEMON},
    {"mpiexec.hydra", NULL, ENVPLAN_MPI_DAEMON},
    {"orterun", NULL, ENVPLAN_MPI_DAEMON},
    {"prterun", NULL, ENVPLAN_MPI_DAEMON},
    {"horovodrun", NULL, ENVPLAN_MPI_DAEMON},
    {"flux", "start", ENVPLAN_MPI_DAEMON},
    {"flux", "broker", ENVPLAN_MPI_DAEMON},
};

static enum envplan_launcher find_launcher(const char *word, const char *second)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strcmp(base_name(word), launchers[i].word) == 0 &&
            (launchers[i].second == NULL || strcmp(second, launchers[i].second) == 0))
            return launchers[i].launcher;
    return ENVPLAN_RANK;
}

/* As find_launcher(), for any word of a shell's command line, "cd x; exec torchrun --nnodes 2". */
static enum envplan_launcher find_launcher_in(const char *command)
{
    static const char blanks[] = " \t\n;&|()";
    enum envplan_launcher launcher = ENVPLAN_RANK;
    char *copy = strdup(command), *rest, *word, *second;

    word = copy != NULL ? strtok_r(copy, blanks, &rest) : NULL;
    while (word != NULL && launcher == ENVPLAN_RANK) {
        second = strtok_r(NULL, blanks, &rest);
        launcher = find_launcher(word, second != NULL ? second : "");
        word = second;
    }
    free(copy);
    return launcher;
}

/* Returns whether word is a Python script. The words after it are the script's arguments. */
static bool is_script(const char *word)
{
    size_t length = strlen(word);

    return length > 3 && strcmp(word + length - 3, ".py") == 0;
}

/* Returns whether it is a shell that reads its commands from a terminal or standard input. */
static bool is_bare_shell(int argc, char *const argv[])
{
    static const char *const shells[] = {"bash", "csh",  "dash", "fish", "ksh",
                                         "sh",   "tcsh", "zsh",  NULL};

    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-')
            return false;
    return is_one_of(base_name(argv[0]), shells);
}

enum envplan_launcher envplan_launcher(int argc, char *const argv[], long local_size,
                                       long world_size)
{
    static const char *const daemons[] = {
        "orted", "prted", "hydra_pmi_proxy", "pmi_proxy", "mpispawn", "hydra_bstrap_proxy", NULL};
    enum envplan_launcher launcher;

    if (argc == 0)
        return ENVPLAN_RANK;
    launcher = find_launcher(argv[0], argc > 1 ? argv[1] : "");
    if (is_one_of(base_name(argv[0]), daemons) || launcher == ENVPLAN_MPI_DAEMON)
        return ENVPLAN_MPI_DAEMON;
    if (local_size != 1)
        return ENVPLAN_RANK;
    if (world_size == 1 && is_bare_shell(argc, argv))
        return ENVPLAN_SHELL;
    for (int i = 1; i < argc && launcher == ENVPLAN_RANK && !is_script(argv[i - 1]); i++) {
        const char *before = argv[i - 1];
        bool is_command = before[0] == '-' && before[1] != '-' && before[strlen(before) - 1] == 'c';

        launcher = find_launcher(argv[i], i + 1 < argc ? argv[i + 1] : "");
        if (launcher == ENVPLAN_RANK && is_command)
            launcher = find_launcher_in(argv[i]);
    }
    return launcher;
}

/* ---------------------------------------------------------------- numbers, names */

/* Returns the variable's number, 0 or more, or -1. */
static long read_number(envplan_getenv_fn *getenv_fn, void *context, const char *name)
{
    const char *text = getenv_fn(name, context);
    char *end;
    long number;

    if (text == NULL || !isdigit((unsigned char)*text))
        return -1;
    number = strtol(text, &end, 10);
    return *end == '\0' && number < LONG_MAX ? number : -1;
}

static void read_name(envplan_getenv_fn *getenv_fn, void *context, const char *variable, char *name,
                      size_t size)
{
    const char *text = getenv_fn(variable, context);

    snprintf(name, size, "%s", text != NULL && strlen(text) < size ? text : "");
}

static long read_either(envplan_getenv_fn *getenv_fn, void *context, const char *name,
                        const char *other)
{
    long number = read_number(getenv_fn, context, name);

    return number >= 0 ? number : read_number(getenv_fn, context, other);
}

/* ---------------------------------------------------------------- the host of rank 0 */

/* Sets first_host to the first of the hosts, and its fact to source. */
static void set_first_host(const struct hostlist *hosts, const char *source,
                           struct envplan_task *task)
{
    if (hosts->count > 0 && strlen(hosts->names[0]) < sizeof task->first_host) {
        snprintf(task->first_host, sizeof task->first_host, "%s", hosts->names[0]);
        snprintf(task->first_host_fact, sizeof task->first_host_fact, "first of %s", source);
    } else {
        snprintf(task->first_host_fact, sizeof task->first_host_fact, "%s names no host", source);
    }
}

/* Returns SLURM_JOB_NODELIST_HET_GROUP_n. Slurm before 20.02, and srun still, write PACK_GROUP. */
static const char *component_nodes(envplan_getenv_fn *getenv_fn, void *context, long component)
{
    char name[64];
    const char *text;

    snprintf(name, sizeof name, "SLURM_JOB_NODELIST_HET_GROUP_%ld", component);
    text = getenv_fn(name, context);
    if (text != NULL)
        return text;
    snprintf(name, sizeof name, "SLURM_JOB_NODELIST_PACK_GROUP_%ld", component);
    return getenv_fn(name, context);
}

enum { COMPONENTS_MAX = 128 /* slurm.h's MAX_HET_JOB_COMPONENTS; the user sets the number */ };

/* Sets the first host of a heterogeneous step. Slurm lists its nodes sorted, but numbers the ranks
 * component by component: rank 0 is on the first node of the first component that takes part. If a
 * node is in two components, it is not known which of them takes part. */
static void set_component_host(envplan_getenv_fn *getenv_fn, void *context,
                               const struct hostlist *step_hosts, long components,
                               struct envplan_task *task)
{
    struct name_index step;
    size_t found = 0;

    hostlist_index(step_hosts, &step); /* if memory is out, no host is found */
    for (long i = 0; i < components; i++) {
        const char *text = component_nodes(getenv_fn, context, i);
        struct hostlist hosts;

        if (text == NULL || hostlist_expand(text, &hosts, NULL) < 0)
            continue;
        for (size_t j = 0; j < hosts.count; j++)
            if (name_index_has(&step, hosts.names[j]) && found++ == 0 &&
                strlen(hosts.names[j]) < sizeof task->first_host)
                snprintf(task->first_host, sizeof task->first_host, "%s", hosts.names[j]);
        hostlist_clear(&hosts);
    }
    name_index_clear(&step);
    if (found == step_hosts->count) {
        snprintf(task->first_host_fact, sizeof task->first_host_fact,
                 "first of the components of the heterogeneous job");
        return;
    }
    task->first_host[0] = '\0';
    snprintf(task->first_host_fact, sizeof task->first_host_fact,
             "the components of the heterogeneous job do not show where rank 0 is");
}

/* Sets the host of rank 0. With an arbitrary distribution the ranks follow the user's list of
 * hosts, task by task, and Slurm does not always pass this list on. With any other distribution
 * rank 0 is on the first node of the step. */
static void find_first_host(envplan_getenv_fn *getenv_fn, void *context, struct envplan_task *task)
{
    static const char step_source[] = "SLURM_STEP_NODELIST",
                      list_source[] = "SLURM_ARBITRARY_NODELIST";
    const char *text = getenv_fn(step_source, context);
    const char *distribution = getenv_fn("SLURM_DISTRIBUTION", context);
    const char *list = getenv_fn(list_source, context);
    long components = read_either(getenv_fn, context, "SLURM_HET_SIZE", "SLURM_PACK_SIZE");
    struct hostlist hosts, listed;
    struct error err;

    if (text == NULL || hostlist_expand(text, &hosts, &err) < 0) {
        snprintf(task->first_host_fact, sizeof task->first_host_fact, "%s: %.150s", step_source,
                 text == NULL ? "not set" : err.text);
        return;
    }
    if (hosts.count > 1 && components > COMPONENTS_MAX) {
        snprintf(task->first_host_fact, sizeof task->first_host_fact,
                 "SLURM_HET_SIZE is %ld, above Slurm's own %d", components, COMPONENTS_MAX);
    } else if (hosts.count > 1 && components > 1) {
        set_component_host(getenv_fn, context, &hosts, components, task);
    } else if (hosts.count > 1 && distribution != NULL &&
               strncmp(distribution, "arbitrary", strlen("arbitrary")) == 0) {
        if (list != NULL && hostlist_expand(list, &listed, NULL) == 0) {
            set_first_host(&listed, list_source, task);
            hostlist_clear(&listed);
        } else {
            snprintf(task->first_host_fact, sizeof task->first_host_fact,
                     "the distribution is arbitrary, and Slurm does not report where rank 0 is");
        }
    } else {
        set_first_host(&hosts, step_source, task);
    }
    hostlist_clear(&hosts);
}

void envplan_task_read(envplan_getenv_fn *getenv_fn, void *context, struct envplan_task *task)
{
    memset(task, 0, sizeof *task);
    task->job_id = read_either(getenv_fn, context, "SLURM_HET_JOB_ID", "SLURM_JOB_ID");
    task->step_id = read_number(getenv_fn, context, "SLURM_STEP_ID");
    task->rank = read_number(getenv_fn, context, "SLURM_PROCID");
    task->local_rank = read_number(getenv_fn, context, "SLURM_LOCALID");
    task->node_rank = read_number(getenv_fn, context, "SLURM_NODEID");
    task->world_size = read_either(getenv_fn, context, "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS");
    task->local_size = -1;
    read_name(getenv_fn, context, "SLURMD_NODENAME", task->node, sizeof task->node);
    read_name(getenv_fn, context, "SLURM_JOB_PARTITION", task->partition, sizeof task->partition);
    read_name(getenv_fn, context, "SLURM_JOB_ACCOUNT", task->account, sizeof task->account);
    find_first_host(getenv_fn, context, task);
}
