// SPDX-License-Identifier: Apache-2.0
/*
 * probe - a SPANK plugin that shows what Slurm does with hooks: it records each call, and fails
 * where a file says so.
 *
 *   required /DIR/probe.so /DIR
 *
 * Appends "HOST CONTEXT STEP HOOK" to DIR/calls; STEP is "batch" for a job's batch step, otherwise
 * "step". Leaves out the step extern. A file DIR/fail with "CONTEXT HOOK VALUE" makes that hook
 * return that value in that context.
 */
#include <fcntl.h>
#include <slurm/spank.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

SPANK_PLUGIN(probe, 1)

#ifdef FAILURE_MODE
int slurm_spank_init_failure_mode = ESPANK_JOB_FAILURE;
#endif

static const char *const contexts[] = {
    [S_CTX_ERROR] = "error",         [S_CTX_LOCAL] = "local",   [S_CTX_REMOTE] = "remote",
    [S_CTX_ALLOCATOR] = "allocator", [S_CTX_SLURMD] = "slurmd", [S_CTX_JOB_SCRIPT] = "script"};

static int call(spank_t spank, int argc, char **argv, const char *hook)
{
    const char *context = contexts[spank_context()];
    char path[256], line[256], host[64] = "", wanted_context[32], wanted_hook[64];
    uint32_t step = 0;
    int fd, length, value, rv = 0;
    FILE *file;

    if (argc < 1)
        return 0;
    gethostname(host, sizeof host);
    if (spank_context() == S_CTX_REMOTE && spank_get_item(spank, S_JOB_STEPID, &step) == 0 &&
        step > 0xfffffff0 && step != 0xfffffffb) // of the special steps only batch may fail
        return 0;
    snprintf(path, sizeof path, "%s/calls", argv[0]);
    length = snprintf(line, sizeof line, "%s %s %s %s\n", host, context,
                      step == 0xfffffffb ? "batch" : "step", hook);
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd >= 0) {
        if (write(fd, line, (size_t)length) != length)
            rv = 0;
        close(fd);
    }
    snprintf(path, sizeof path, "%s/fail", argv[0]);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%31s %63s %d", wanted_context, wanted_hook, &value) == 3 &&
        strcmp(wanted_context, context) == 0 && strcmp(wanted_hook, hook) == 0)
        rv = value;
    fclose(file);
    return rv;
}

#define HOOK(name)                                                                                 \
    int slurm_spank_##name(spank_t spank, int argc, char **argv)                                   \
    {                                                                                              \
        return call(spank, argc, argv, #name);                                                     \
    }
HOOK(init)
HOOK(init_post_opt)
HOOK(local_user_init)
HOOK(user_init)
HOOK(task_init_privileged)
HOOK(task_init)
HOOK(task_post_fork)
HOOK(task_exit)
HOOK(exit)
HOOK(job_prolog)
HOOK(job_epilog)
HOOK(slurmd_exit)
