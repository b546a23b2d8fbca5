/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/spank-host/host.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plugin looks these up in the program that loads it. */
#define EXPORTED __attribute__((visibility("default")))

struct spank_handle host_job;
char *host_arguments[8];
char host_log[65536];

static void *plugin;
static char **environment;
static size_t environment_count;
static struct spank_option *registered[16];
static size_t registered_count;
static bool is_in_init;

/* ---------------------------------------------------------------- environment */

/* A new array for each change, as Slurm's own may move: whoever kept the old one reads freed
 * memory, which AddressSanitizer sees. */
static void environment_replace(const char *name, const char *entry)
{
    size_t length = strlen(name), count = 0;
    char **next = calloc(environment_count + 2, sizeof *next);

    for (size_t i = 0; i < environment_count; i++)
        if (strncmp(environment[i], name, length) != 0 || environment[i][length] != '=')
            next[count++] = strdup(environment[i]);
    if (entry != NULL)
        next[count++] = strdup(entry);
    for (size_t i = 0; i < environment_count; i++)
        free(environment[i]);
    free(environment);
    environment = next;
    environment_count = count;
}

void host_setenv(const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 2;
    char *entry = malloc(size);

    snprintf(entry, size, "%s=%s", name, value);
    environment_replace(name, entry);
    free(entry);
}

const char *host_getenv(const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < environment_count; i++)
        if (strncmp(environment[i], name, length) == 0 && environment[i][length] == '=')
            return environment[i] + length + 1;
    return NULL;
}

size_t host_environment_count(void)
{
    return environment_count;
}

/* ---------------------------------------------------------------- loading and calling */

void host_load(const char *path, spank_context_t context)
{
    static char *argv[] = {(char *)"./a.out", NULL};

    plugin = dlopen(path, RTLD_LAZY);
    if (plugin == NULL) {
        printf("Bail out! %s\n", dlerror());
        exit(255);
    }
    for (size_t i = 0; i < environment_count; i++)
        free(environment[i]);
    free(environment);
    environment = calloc(1, sizeof *environment);
    environment_count = registered_count = 0;
    host_log[0] = '\0';
    memset(host_arguments, 0, sizeof host_arguments);
    host_job = (struct spank_handle){.context = context,
                                     .uid = 1000,
                                     .job_id = 12,
                                     .step_id = 3,
                                     .local_tasks = 2,
                                     .argc = 1,
                                     .argv = argv};
}

void host_unload(void)
{
    host_call("exit");
    dlclose(plugin);
    plugin = NULL;
    for (size_t i = 0; i < environment_count; i++)
        free(environment[i]);
    free(environment);
    environment = NULL;
    environment_count = 0;
}

int host_call(const char *hook)
{
    char symbol[128];
    spank_f *function;
    int argc = 0, status;

    snprintf(symbol, sizeof symbol, "slurm_spank_%s", hook);
    function = (spank_f *)dlsym(plugin, symbol);
    while (host_arguments[argc] != NULL)
        argc++;
    is_in_init = strcmp(hook, "init") == 0;
    status = function != NULL ? function(&host_job, argc, host_arguments) : 0;
    is_in_init = false;
    return status;
}

int host_option(const char *name, const char *argument)
{
    for (size_t i = 0; i < registered_count; i++)
        if (strcmp(registered[i]->name, name) == 0)
            return registered[i]->cb(registered[i]->val, argument,
                                     host_job.context == S_CTX_REMOTE);
    return -2;
}

/* ---------------------------------------------------------------- what slurm exports */

static void log_line(const char *level, const char *format, va_list args)
{
    size_t length = strlen(host_log);

    length += (size_t)snprintf(host_log + length, sizeof host_log - length, "%s: ", level);
    length += (size_t)vsnprintf(host_log + length, sizeof host_log - length, format, args);
    snprintf(host_log + length, sizeof host_log - length, "\n");
}

EXPORTED void slurm_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_line("error", format, args);
    va_end(args);
}

EXPORTED void slurm_info(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_line("info", format, args);
    va_end(args);
}

EXPORTED void slurm_spank_log(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_line("tell", format, args);
    va_end(args);
}

EXPORTED spank_context_t spank_context(void)
{
    return host_job.context;
}

EXPORTED spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
    (void)spank;
    if (!is_in_init || option->usage == NULL || registered_count == 16)
        return ESPANK_BAD_ARG;
    registered[registered_count++] = option;
    return ESPANK_SUCCESS;
}

/* The limits of each context, as Slurm has them. */
EXPORTED spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
    bool is_remote = spank->context == S_CTX_REMOTE;
    bool is_script = spank->context == S_CTX_JOB_SCRIPT;
    spank_err_t status = ESPANK_SUCCESS;
    va_list args;

    va_start(args, item);
    if (item == S_JOB_UID && (is_remote || is_script))
        *va_arg(args, uid_t *) = spank->uid;
    else if (item == S_JOB_ID && (is_remote || is_script))
        *va_arg(args, uint32_t *) = spank->job_id;
    else if (item == S_JOB_STEPID && is_remote)
        *va_arg(args, uint32_t *) = spank->step_id;
    else if (item == S_JOB_LOCAL_TASK_COUNT && is_remote)
        *va_arg(args, uint32_t *) = spank->local_tasks;
    else if (item == S_JOB_ENV && is_remote)
        *va_arg(args, char ***) = environment;
    else if (item == S_JOB_ARGV && is_remote) {
        *va_arg(args, int *) = spank->argc;
        *va_arg(args, char ***) = spank->argv;
    } else {
        status = ESPANK_NOT_AVAIL;
    }
    va_end(args);
    return status;
}

EXPORTED spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
    if (spank->context != S_CTX_REMOTE)
        return ESPANK_NOT_REMOTE;
    if (!overwrite && host_getenv(name) != NULL)
        return ESPANK_ENV_EXISTS;
    host_setenv(name, value);
    return ESPANK_SUCCESS;
}

EXPORTED spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
    if (spank->context != S_CTX_REMOTE)
        return ESPANK_NOT_REMOTE;
    environment_replace(name, NULL);
    return ESPANK_SUCCESS;
}
