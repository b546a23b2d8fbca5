/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_SPANK_HOST_H
#define MUSTER_TESTS_SPANK_HOST_H

#include <slurm/spank.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A stand-in for slurmstepd, srun, sbatch and slurmd: it loads the plugin as they do and offers
 * spank.h's functions with the same limits in each context, over a job made up by the test. */

struct spank_handle {
    spank_context_t context;
    uid_t uid;
    uint32_t job_id, step_id, local_tasks;
    int argc;
    char **argv;
};
extern struct spank_handle host_job;

/* The words after the plugin's path in plugstack.conf. */
extern char *host_arguments[8];

/* What the plugin logged since host_load(), a line each: "error: ...", "info: ...", "tell: ...".
 * host_tell is slurm_spank_log, the user's standard error. */
extern char host_log[65536];

/* Loads the plugin afresh for a context, with an empty environment and a plain job. */
void host_load(const char *path, spank_context_t context);

/* Calls the hook exit and unloads. */
void host_unload(void);

/* Calls a hook: host_call("task_init"). A hook that the plugin does not have returns 0. */
int host_call(const char *hook);

/* Gives an option as Slurm does after slurm_spank_init(). Returns what the callback returned, or
 * -2 when there is no such option. */
int host_option(const char *name, const char *argument);

/* The job's environment. host_getenv() returns NULL when name is not set. */
void host_setenv(const char *name, const char *value);
const char *host_getenv(const char *name);
size_t host_environment_count(void);

#endif
