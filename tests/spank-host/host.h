/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_SPANK_HOST_H
#define MUSTER_TESTS_SPANK_HOST_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A stand-in for slurmstepd, srun, sbatch and slurmd. stack.c loads the plugin and calls its hooks
 * as they do, host.c offers spank.h's functions with the limits that each context and hook has in
 * Slurm 20.11 to 26.05 (src/common/plugstack.c, spank.c there), over a job made up by the test. */

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
    int task; /* number on the node of the task that task hooks are called for; -1 none */
    enum host_hook hook; /* set by host_call() */
};
extern struct spank_handle host_job;

/* The words after the plugin's path in plugstack.conf. */
extern char *host_arguments[8];

/* How often plugstack.conf lists the plugin: 1, or 2 by mistake. host_load() makes it 1. */
extern int host_listed;

/* What the plugin logged since host_load(), a line each: "error: ...", "info: ...", "tell: ...";
 * host_print is slurm_spank_log, the user's standard error. Shared with processes forked since. */
enum { HOST_LOG = 65536 };
extern char *host_log;

/* Number of this process's call of a function of spank.h that returns ESPANK_ERROR, from 1 up; 0:
 * none does. host_api_calls counts them since host_load(). */
extern int host_api_fails_at, host_api_calls;

/* Above 0 while Slurm's own part of a call is at work, which fault.c leaves alone. */
extern int host_busy;

/* Whether a hook or an option's callback runs; also in processes that it forks. */
extern bool host_in_hook;

/* Called before and after each hook, where a test wants to see what a hook leaves behind. */
extern void (*host_before_hook)(const char *hook);
extern void (*host_after_hook)(const char *hook, int status);

/* Loads the plugin afresh for a context, with an empty environment and a plain job; what is loaded
 * is unloaded before. Bails out of the test when Slurm would not load it: no plugin_name, another
 * type, another release, or anything that Slurm would call as init or fini. */
void host_load(const char *path, spank_context_t context);

/* Calls the hook that ends a stack in this context, exit or slurmd_exit or none, and unloads.
 * Returns what it returned. */
int host_unload(void);

/* Calls a hook: host_call("task_init"). A hook that the plugin does not have returns 0. */
int host_call(const char *hook);

/* Gives an option as Slurm does after slurm_spank_init(). Returns what the callback returned, or
 * -2 when there is no such option. */
int host_option(const char *name, const char *argument);

/* The variables by which Slurm hands options on, into the environment of this process: sbatch's
 * and salloc's _SLURM_SPANK_OPTION_..., and SLURM_SPANK_... for the sruns within, where an option
 * without argument becomes "(null)". */
void host_export_options(void);

/* srun's and sbatch's reading of SLURM_SPANK_... Returns what the last callback returned. */
int host_options_from_environ(void);

/* slurmstepd's reading of _SLURM_SPANK_OPTION_... from the job's environment, which it takes out.
 */
void host_options_from_job(void);

/* The options in force, as "name=argument" or "name", joined by '\n': srun's launch message. */
void host_options_text(char *text, size_t size);

/* The job's environment. host_getenv() returns NULL when name is not set. The array moves with
 * each change, as Slurm's own may. */
void host_setenv(const char *name, const char *value);
void host_unsetenv(const char *name);
const char *host_getenv(const char *name);
size_t host_environment_count(void);
char *const *host_environment(void);

/* Inside: stack.c's registration, called by spank_option_register(). */
spank_err_t host_register(const struct spank_option *option);
/* The argument of an option in force: 1 found, 0 known and not given, -1 unknown. */
int host_option_given(const char *name, const char **argument);
void host_environment_clear(void);

#endif
