/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

/* The hooks. A table in spank_muster(8) lists which hook may fail, and the consequence. These fail;
 * all else returns 0:
 * - a user's mistake, in srun, sbatch and salloc;
 * - a preflight that found a fault, in srun before the step starts (inside an allocation, in the
 *   step's tasks, see spank/preflight.h);
 * - a library that only other nodes of the step have, in the tasks (spank/preload.h);
 * - the gate and OnInterface=refuse, in job_prolog. */

/* Slurm looks these up by name: -fvisibility=hidden must not hide them. */
#pragma GCC visibility push(default)
#include <slurm/spank.h>
SPANK_PLUGIN(muster, 1)
#if HAVE_DECL_ESPANK_JOB_FAILURE
/* Slurm 25.05 and later: if the hook init fails, the job fails and the node is not drained. */
int slurm_spank_init_failure_mode = ESPANK_JOB_FAILURE;
#endif
#pragma GCC visibility pop

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/deferred_error.h"
#include "spank/host.h"
#include "spank/jobs.h"
#include "spank/local.h"
#include "spank/netif.h"
#include "spank/options.h"
#include "spank/preflight.h"
#include "spank/prolog.h"
#include "spank/step.h"
#include "spank/suspects.h"

static struct options options = OPTIONS_INIT;

/* Slurm calls every hook twice if plugstack.conf lists this file twice: the second call does
 * nothing. */
static bool is_loaded, is_post_opt_done, is_preflight_done, is_task_done, is_gate_done,
    is_epilog_done;

/* srun was started inside an allocation. Known only until srun creates its own allocation. */
static bool is_inside;

/* Logs an error that the readers of this step have deferred, as when memory ran out. */
static void log_deferred_error(void)
{
    int error = deferred_error_take();

    if (error != 0)
        host_error("the step may lack variables: %s", strerror(error));
}

static struct arguments read_arguments(int argc, char *argv[])
{
    struct arguments arguments;

    arguments_read(argc, argv, &arguments, NULL);
    return arguments;
}

/* ---------------------------------------------------------------- options */

/* A bad value stops srun, sbatch and salloc; on the node it is logged and ignored. */
static int parse_option(int option, const char *argument, int remote)
{
    struct error err;

    (void)remote;
    if (options_parse(&options, (enum option)option, argument, &err) == 0)
        return 0;
    host_error("%s", err.text);
    return -1;
}

static void register_options(spank_t spank)
{
    static struct spank_option registered[OPTION_COUNT];

    for (int i = 0; i < OPTION_COUNT; i++) {
        registered[i] = (struct spank_option){(char *)option_texts[i].name,
                                              (char *)option_texts[i].arginfo,
                                              (char *)option_texts[i].usage,
                                              option_texts[i].arginfo != NULL,
                                              i,
                                              parse_option};
        if (spank_option_register(spank, &registered[i]) != ESPANK_SUCCESS)
            host_error("Slurm does not accept the option --%s", option_texts[i].name);
    }
}

/* ---------------------------------------------------------------- hooks */

int slurm_spank_init(spank_t spank, int argc, char *argv[])
{
    spank_context_t context = spank_context();
    struct arguments arguments;
    struct error err;

    if (context == S_CTX_SLURMD) {
        arguments = read_arguments(argc, argv);
        if (arguments.root == NULL)
            netif_recover(arguments.config_path);
    }
    if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR && context != S_CTX_REMOTE)
        return 0;
    if (is_loaded) {
        host_error("plugin listed twice in plugstack.conf; using the first line");
        return 0;
    }
    is_loaded = true;
    if (arguments_read(argc, argv, &arguments, &err) < 0)
        host_error("%s", err.text);
    is_inside = context == S_CTX_LOCAL && local_has_allocation();
    register_options(spank);
    return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char *argv[])
{
    spank_context_t context = spank_context();
    struct arguments arguments = read_arguments(argc, argv);
    struct host_task task;
    uint32_t step_id;

    if (is_post_opt_done)
        return 0;
    is_post_opt_done = true;
    if (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR)
        return local_check(&options);
    if (context != S_CTX_REMOTE)
        return 0;
    if (spank_get_item(spank, S_JOB_STEPID, &step_id) != ESPANK_SUCCESS) {
        host_error("cannot get the step ID from Slurm; step environment left unchanged");
        return 0;
    }
    if (host_task_get(spank, &task) == 0)
        step_start(step_id, &options, &arguments, &task);
    log_deferred_error();
    host_task_free(&task);
    return 0;
}

/* The step has its nodes by now, and no task has started. Called once for a heterogeneous step. */
int slurm_spank_local_user_init(spank_t spank, int argc, char *argv[])
{
    struct arguments arguments = read_arguments(argc, argv);
    struct preflight_step step = {0};

    if (is_preflight_done)
        return 0;
    is_preflight_done = true;
    if (spank_get_item(spank, S_JOB_ID, &step.job_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &step.step_id) != ESPANK_SUCCESS)
        return 0;
    step.is_inside = is_inside || step.step_id > 0;
    unsetenv(PREFLIGHT_FAILED_VARIABLE);
    switch (preflight_test_step(&options, &arguments, &step)) {
    case PREFLIGHT_START:
        return 0;
    case PREFLIGHT_FAIL_TASKS:
        setenv(PREFLIGHT_FAILED_VARIABLE, "1", 1); /* srun gives its environment to the tasks */
        return 0;
    default:
        return -1;
    }
}

int slurm_spank_task_init(spank_t spank, int argc, char *argv[])
{
    struct host_task task;
    int status = 0;

    (void)argc;
    (void)argv;
    if (is_task_done)
        return 0;
    is_task_done = true;
    if (host_task_get(spank, &task) == 0) {
        const char *failed = host_lookup(PREFLIGHT_FAILED_VARIABLE, (void *)task.environment);

        if (failed != NULL && *failed != '\0')
            status = -1;
        else
            status = step_task(&task);
    }
    log_deferred_error();
    host_task_free(&task);
    return status;
}

int slurm_spank_job_prolog(spank_t spank, int argc, char *argv[])
{
    struct arguments arguments = read_arguments(argc, argv);
    struct gate_job job = {0};

    if (is_gate_done)
        return 0;
    is_gate_done = true;
    if (spank_get_item(spank, S_JOB_UID, &job.uid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_ID, &job.job_id) != ESPANK_SUCCESS) {
        host_error("job allowed: cannot get the job's ID and user from Slurm");
        return 0;
    }
    suspects_directory_make();
    if (gate_check(arguments.config_path, &job) != 0)
        return -1;
    /* a recorded machine has no interfaces to set */
    if (arguments.root != NULL)
        return 0;
    if (netif_prolog(arguments.config_path, job.job_id) != 0)
        return -1;
    jobs_prolog(arguments.config_path, job.job_id, job.uid);
    return 0;
}

/* Never fails: that would drain the node. */
int slurm_spank_job_epilog(spank_t spank, int argc, char *argv[])
{
    struct arguments arguments = read_arguments(argc, argv);
    uint32_t job_id;

    if (is_epilog_done || arguments.root != NULL)
        return 0;
    is_epilog_done = true;
    if (spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS) {
        host_error("cannot get the job ID from Slurm in the epilog; to restore interfaces: "
                   "muster interfaces --restore");
    } else {
        jobs_epilog(arguments.config_path, job_id);
        netif_epilog(arguments.config_path, job_id);
    }
    return 0;
}

int slurm_spank_exit(spank_t spank, int argc, char *argv[])
{
    (void)spank;
    (void)argc;
    (void)argv;
    step_end();
    options = (struct options)OPTIONS_INIT;
    is_loaded = is_post_opt_done = is_preflight_done = false;
    return 0;
}
