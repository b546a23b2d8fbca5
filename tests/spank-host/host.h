/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_SPANK_HOST_H
#define MUSTER_TESTS_SPANK_HOST_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A stand-in for slurmstepd, srun, sbatch and slurmd. stack.c loads the plugin and calls its hooks
 * as they do. host.c defines the functions of spank.h with the restrictions that each context and
 * hook has in Slurm 20.11 to 26.05 (src/common/plugstack.c, spank.c). The test sets the job. */

enum { HOST_TASKS = 16 };

enum host_hook { /* in the order of Slurm's table */
                 HOOK_INIT,
                 HOOK_JOB_PROLOG,
                 HOOK_INIT_POST_OPT,
                 HOOK_LOCAL_USER_INIT,
                 HOOK_USER_INIT,
                 HOOK_TASK_INIT_PRIVILEGED,
                 HOOK_TASK_INIT,
                 HOOK_TASK_POST_FORK,
                 HOOK_TASK_EXIT,
                 HOOK_JOB_EPILOG,
                 HOOK_SLURMD_EXIT,
                 HOOK_EXIT,
                 HOOK_COUNT
};

struct spank_handle {
    spank_context_t context;
    uid_t uid;
    gid_t gid;
    uint32_t job_id, step_id, node_count, node_id, local_tasks, task_count;
    uint32_t first_task; /* global number of the node's first task: distribution is by block */
    uint16_t cpus;
    int argc;
    char **argv;
    int task;            /* local ID of the task that a task hook is called for; -1: no task */
    enum host_hook hook; /* set by host_call() */
};
extern struct spank_handle host_job;

/* The arguments after the plugin's path in plugstack.conf. */
extern char *host_arguments[8];

/* How often plugstack.conf lists the plugin: 1, or 2 by mistake. host_load() sets it to 1. */
extern int host_listed;

/* What the plugin logged since host_load(), one line each: "error: ..." by slurm_error(),
 * "info: ..." by slurm_info(), "tell: ..." by slurm_spank_log(), which writes to the user's
 * standard error. Shared with processes forked since. */
enum { HOST_LOG = 65536 };
extern char *host_log;

/* The call of a function of spank.h in this process that returns ESPANK_ERROR, counted from 1; 0:
 * none. host_api_calls is the number of calls since host_load(). */
extern int host_api_fails_at, host_api_calls;

/* Above 0 while the stand-in changes the environment; fault.c makes none of its calls fail. */
extern int host_internal_depth;

/* Whether a hook or an option's callback is running; true in processes that it forks, too. */
extern bool host_in_hook;

/* Called before and after each hook and option callback if not NULL; hook is the name of the hook
 * or of the option. */
extern void (*host_before_hook)(const char *hook);
extern void (*host_after_hook)(const char *hook, int status);

/* Unloads the plugin if it is loaded, and loads it for a context with an empty environment and the
 * default job. Bails out if Slurm would not load it: no plugin_name, another plugin_type, another
 * release, or a symbol that Slurm would call as init or fini. */
void host_load(const char *path, spank_context_t context);

/* Calls the hook that ends a stack in this context (exit, slurmd_exit or none) and unloads the
 * plugin. Returns the status of the hook, 0 without one. */
int host_unload(void);

/* Calls a hook by its name, as host_call("task_init"). Returns its status; 0 if the plugin does not
 * have the hook. */
int host_call(const char *hook);

/* Passes an option to its callback, as Slurm does after slurm_spank_init(). Returns the status of
 * the callback, or -2 if there is no such option. */
int host_option(const char *name, const char *argument);

/* Sets the variables by which Slurm passes options on in the environment of this process:
 * _SLURM_SPANK_OPTION_... for the node, and in sbatch and salloc SLURM_SPANK_... for the srun
 * inside the job, where an option without argument becomes "(null)". */
void host_export_options(void);

/* Reads options from SLURM_SPANK_... as srun and sbatch do. Stops at the first callback that fails;
 * returns its status, else 0. */
int host_options_from_environ(void);

/* Reads options from _SLURM_SPANK_OPTION_... in the job's environment and removes these variables,
 * as slurmstepd does. */
void host_options_from_job(void);

/* Writes the options in force, one line "name=argument" or "name" each, as srun's launch message
 * has them. */
void host_options_text(char *text, size_t size);

/* The job's environment. host_getenv() returns NULL if name is not set. The array moves at each
 * change, as Slurm's array may. */
void host_setenv(const char *name, const char *value);
void host_unsetenv(const char *name);
const char *host_getenv(const char *name);
size_t host_environment_count(void);
char *const *host_environment(void);

/* Internal. Registers an option; spank_option_register() calls it. */
spank_err_t host_register(const struct spank_option *option);
/* Internal. Sets the argument of an option in force. Returns 1 if the option was given, 0 if not,
 * -1 if there is no such option. */
int host_option_given(const char *name, const char **argument);
void host_environment_clear(void);

#endif
