/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/spank-host/host.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The plugin looks these up in the program that loads it. */
#define EXPORTED __attribute__((visibility("default")))

/* setenvf() in Slurm's env.c refuses a longer entry. spank_setenv() still reports success, because
 * it tests for a negative status only. */
enum { SLURM_ENTRY_MAX = 32 * 4096 };

struct spank_handle host_job;
char *host_log;
int host_api_fails_at, host_api_calls, host_internal_depth;

static char **environment;
static size_t environment_count;

/* ---------------------------------------------------------------- environment */

/* Makes a new array at each change, because Slurm's array may move. AddressSanitizer then reports a
 * plugin that keeps the old one. */
static void environment_replace(const char *name, const char *entry)
{
    size_t length = strlen(name), count = 0;
    char **next;

    host_internal_depth++;
    next = calloc(environment_count + 2, sizeof *next);
    for (size_t i = 0; i < environment_count; i++)
        if (strncmp(environment[i], name, length) != 0 || environment[i][length] != '=')
            next[count++] = strdup(environment[i]);
    if (entry != NULL)
        next[count++] = strdup(entry);
    host_environment_clear();
    free(environment);
    environment = next;
    environment_count = count;
    host_internal_depth--;
}

void host_environment_clear(void)
{
    for (size_t i = 0; i < environment_count; i++)
        free(environment[i]);
    free(environment);
    environment = calloc(1, sizeof *environment);
    environment_count = 0;
}

void host_setenv(const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 2;
    char *entry;

    host_internal_depth++;
    entry = malloc(size);
    snprintf(entry, size, "%s=%s", name, value);
    environment_replace(name, entry);
    free(entry);
    host_internal_depth--;
}

void host_unsetenv(const char *name)
{
    environment_replace(name, NULL);
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

char *const *host_environment(void)
{
    return environment;
}

/* ---------------------------------------------------------------- the log */

static void log_line(const char *level, const char *format, va_list args)
{
    char line[8192];
    int length = snprintf(line, sizeof line, "%s: ", level);
    size_t used = strlen(host_log);

    vsnprintf(line + length, sizeof line - (size_t)length - 1, format, args);
    if (used + strlen(line) + 2 < HOST_LOG)
        sprintf(host_log + used, "%s\n", line);
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

EXPORTED void slurm_verbose(const char *format, ...)
{
    (void)format;
}

EXPORTED void slurm_debug(const char *format, ...)
{
    (void)format;
}

EXPORTED void slurm_spank_log(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_line("tell", format, args);
    va_end(args);
}

/* ---------------------------------------------------------------- items */

static bool fails_now(void)
{
    return ++host_api_calls == host_api_fails_at;
}

EXPORTED spank_context_t spank_context(void)
{
    return host_job.context;
}

EXPORTED int spank_remote(spank_t spank)
{
    return spank == NULL ? -1 : spank->context == S_CTX_REMOTE;
}

EXPORTED const char *spank_strerror(spank_err_t error)
{
    return error == ESPANK_SUCCESS ? "Success" : "Failure";
}

EXPORTED spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
    if (fails_now())
        return ESPANK_ERROR;
    if (spank->hook != HOOK_INIT || option == NULL || option->name == NULL || option->usage == NULL)
        return ESPANK_BAD_ARG;
    return host_register(option);
}

EXPORTED spank_err_t spank_option_getopt(spank_t spank, struct spank_option *option, char **found)
{
    const char *argument = NULL;
    char name[256];
    int given;

    if (found != NULL)
        *found = NULL;
    if (fails_now())
        return ESPANK_ERROR;
    if (spank->hook == HOOK_INIT || spank->hook == HOOK_INIT_POST_OPT ||
        spank->hook == HOOK_TASK_POST_FORK || spank->hook == HOOK_SLURMD_EXIT ||
        spank->hook == HOOK_EXIT)
        return ESPANK_NOT_AVAIL;
    if (option == NULL || option->name == NULL || (option->has_arg && found == NULL))
        return ESPANK_BAD_ARG;
    given = host_option_given(option->name, &argument);
    if (given < 0) { /* the prolog gets the user's options as SPANK_..., unchecked */
        snprintf(name, sizeof name, "SPANK__SLURM_SPANK_OPTION_muster_%s", option->name);
        for (char *c = name; *c != '\0'; c++)
            if (*c == '-')
                *c = '_';
        argument = getenv(name);
        if (argument == NULL)
            argument = getenv(name + strlen("SPANK_"));
        given = argument != NULL;
    }
    if (given <= 0)
        return ESPANK_ERROR;
    if (option->has_arg && found != NULL)
        *found = (char *)argument;
    return ESPANK_SUCCESS;
}

static bool is_local_item(spank_item_t item)
{
    return item == S_JOB_UID || item == S_JOB_GID || item == S_JOB_ID || item == S_JOB_STEPID ||
           item == S_JOB_ARGV || item == S_JOB_ENV || item == S_JOB_TOTAL_TASK_COUNT ||
           item == S_JOB_NNODES;
}

/* Has the rules and their order of Slurm's _check_spank_item_validity(). */
static spank_err_t check_item(spank_t spank, spank_item_t item)
{
    switch (spank->context) {
    case S_CTX_REMOTE:
        return ESPANK_SUCCESS;
    case S_CTX_JOB_SCRIPT:
        return item == S_JOB_UID || item == S_JOB_GID || item == S_JOB_ID ? ESPANK_SUCCESS
                                                                          : ESPANK_NOT_AVAIL;
    case S_CTX_LOCAL:
        if (!is_local_item(item))
            return ESPANK_NOT_REMOTE;
        return spank->hook == HOOK_LOCAL_USER_INIT ? ESPANK_SUCCESS : ESPANK_NOT_AVAIL;
    case S_CTX_ALLOCATOR:
        if (item == S_JOB_UID || item == S_JOB_GID)
            return ESPANK_NOT_AVAIL; /* no job is ever attached */
        return is_local_item(item) ? ESPANK_BAD_ARG : ESPANK_NOT_REMOTE;
    default:
        return ESPANK_NOT_AVAIL;
    }
}

static bool has_task(const struct spank_handle *spank)
{
    return spank->task >= 0 &&
           (spank->hook == HOOK_TASK_INIT_PRIVILEGED || spank->hook == HOOK_TASK_INIT ||
            spank->hook == HOOK_TASK_POST_FORK || spank->hook == HOOK_TASK_EXIT);
}

static spank_err_t get_task_item(spank_t spank, spank_item_t item, void *result)
{
    if (item == S_TASK_ID)
        *(int *)result = has_task(spank) ? spank->task : -1;
    else if (item == S_TASK_PID)
        *(pid_t *)result = has_task(spank) ? getpid() : 0;
    else if (item == S_TASK_GLOBAL_ID && has_task(spank))
        *(uint32_t *)result = spank->first_task + (uint32_t)spank->task;
    else if (item == S_TASK_EXIT_STATUS && has_task(spank) && spank->hook == HOOK_TASK_EXIT)
        *(int *)result = 0;
    else
        return ESPANK_NOT_TASK;
    return has_task(spank) ? ESPANK_SUCCESS : ESPANK_NOT_TASK;
}

/* Converts between the local and the global ID of a task. */
static spank_err_t get_task_number(spank_t spank, spank_item_t item, uint32_t from, uint32_t *to)
{
    *to = (uint32_t)-1;
    if (item == S_JOB_LOCAL_TO_GLOBAL_ID) {
        if (from >= spank->local_tasks) /* Slurm reads past its array at from == local_tasks */
            return ESPANK_NOEXIST;
        *to = spank->first_task + from;
        return ESPANK_SUCCESS;
    }
    if (item == S_JOB_GLOBAL_TO_LOCAL_ID) {
        if (from >= spank->task_count)
            return ESPANK_BAD_ARG;
        if (from < spank->first_task || from >= spank->first_task + spank->local_tasks)
            return ESPANK_NOEXIST;
        *to = from - spank->first_task;
        return ESPANK_SUCCESS;
    }
    if (spank->hook != HOOK_TASK_POST_FORK && spank->hook != HOOK_TASK_EXIT &&
        spank->hook != HOOK_EXIT)
        return ESPANK_NOT_EXECD;
    return ESPANK_NOEXIST;
}

static uint32_t number_of(const struct spank_handle *spank, spank_item_t item)
{
    switch (item) {
    case S_JOB_ID:
        return spank->job_id;
    case S_JOB_STEPID:
        return spank->step_id;
    case S_JOB_NNODES:
        return spank->node_count;
    case S_JOB_NODEID:
        return spank->node_id;
    case S_JOB_LOCAL_TASK_COUNT:
        return spank->local_tasks;
    case S_JOB_TOTAL_TASK_COUNT:
        return spank->task_count;
    case S_STEP_CPUS_PER_TASK:
        return 1;
    default: /* restarts, job arrays */
        return 0;
    }
}

/* The version of the headers that the plugin was built with; host_load() requires the same. */
static const char *version_of(spank_item_t item)
{
    static char text[4][32];
    int i = (int)item - (int)S_SLURM_VERSION;
    unsigned number[] = {SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
                         SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER),
                         SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER)};

    if (i == 0)
        snprintf(text[0], sizeof text[0], "%u.%02u.%u", number[0], number[1], number[2]);
    else
        snprintf(text[i], sizeof text[i], i == 2 ? "%02u" : "%u", number[i - 1]);
    return text[i];
}

EXPORTED spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
    spank_err_t status = ESPANK_SUCCESS;
    uint32_t from;
    va_list args;

    if (fails_now())
        return ESPANK_ERROR;
    if (item < S_SLURM_VERSION || item > S_SLURM_VERSION_MICRO)
        status = check_item(spank, item);
    if (status != ESPANK_SUCCESS)
        return status;
    va_start(args, item);
    switch (item) {
    case S_JOB_UID:
        *va_arg(args, uid_t *) = spank->uid;
        break;
    case S_JOB_GID:
        *va_arg(args, gid_t *) = spank->gid;
        break;
    case S_JOB_NCPUS:
        *va_arg(args, uint16_t *) = spank->cpus;
        break;
    case S_JOB_ARGV:
        *va_arg(args, int *) = spank->argc;
        *va_arg(args, char ***) = spank->argv;
        break;
    case S_JOB_ENV: /* in local context Slurm sets NULL and returns success */
        *va_arg(args, char ***) = spank->context == S_CTX_REMOTE ? environment : NULL;
        break;
    case S_TASK_ID:
    case S_TASK_GLOBAL_ID:
    case S_TASK_EXIT_STATUS:
    case S_TASK_PID:
        status = get_task_item(spank, item, va_arg(args, void *));
        break;
    case S_JOB_PID_TO_GLOBAL_ID:
    case S_JOB_PID_TO_LOCAL_ID:
    case S_JOB_LOCAL_TO_GLOBAL_ID:
    case S_JOB_GLOBAL_TO_LOCAL_ID:
        from = va_arg(args, uint32_t);
        status = get_task_number(spank, item, from, va_arg(args, uint32_t *));
        break;
    case S_JOB_SUPPLEMENTARY_GIDS:
        *va_arg(args, gid_t **) = &spank->gid;
        *va_arg(args, int *) = 1;
        break;
    case S_SLURM_VERSION:
    case S_SLURM_VERSION_MAJOR:
    case S_SLURM_VERSION_MINOR:
    case S_SLURM_VERSION_MICRO:
        *va_arg(args, const char **) = version_of(item);
        break;
    case S_JOB_ALLOC_CORES:
    case S_STEP_ALLOC_CORES:
        *va_arg(args, const char **) = "0-1";
        break;
    case S_JOB_ALLOC_MEM:
    case S_STEP_ALLOC_MEM:
        *va_arg(args, uint64_t *) = 1024;
        break;
    default:
        if (item > S_JOB_ARRAY_TASK_ID)
            status = ESPANK_BAD_ARG;
        else
            *va_arg(args, uint32_t *) = number_of(spank, item);
        break;
    }
    va_end(args);
    return status;
}

/* ---------------------------------------------------------------- the job's environment */

static spank_err_t copy_out(const char *value, char *buffer, int size)
{
    if (value == NULL)
        return ESPANK_ENV_NOEXIST;
    return snprintf(buffer, (size_t)size, "%s", value) >= size ? ESPANK_NOSPACE : ESPANK_SUCCESS;
}

EXPORTED spank_err_t spank_getenv(spank_t spank, const char *name, char *buffer, int size)
{
    if (fails_now())
        return ESPANK_ERROR;
    if (spank->context != S_CTX_REMOTE)
        return ESPANK_NOT_REMOTE;
    if (size < 0)
        return ESPANK_BAD_ARG;
    return copy_out(host_getenv(name), buffer, size);
}

EXPORTED spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
    if (fails_now())
        return ESPANK_ERROR;
    if (spank->context != S_CTX_REMOTE)
        return ESPANK_NOT_REMOTE;
    if (name == NULL || value == NULL)
        return ESPANK_BAD_ARG;
    if (!overwrite && host_getenv(name) != NULL)
        return ESPANK_ENV_EXISTS;
    if (*name == '\0')
        return ESPANK_SUCCESS;
    if (strlen(name) + strlen(value) + 2 >= SLURM_ENTRY_MAX) {
        slurm_error("environment variable %.64s is too long", name);
        return ESPANK_SUCCESS;
    }
    host_setenv(name, value);
    return ESPANK_SUCCESS;
}

EXPORTED spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
    if (fails_now())
        return ESPANK_ERROR;
    if (spank->context != S_CTX_REMOTE)
        return ESPANK_NOT_REMOTE;
    if (name == NULL)
        return ESPANK_BAD_ARG;
    environment_replace(name, NULL);
    return ESPANK_SUCCESS;
}

/* Whether the job control environment can be used. The prolog gets it as SPANK_...; here it is kept
 * under these names in the environment of this process. */
static spank_err_t check_job_control(spank_t spank)
{
    if (spank->context == S_CTX_REMOTE)
        return ESPANK_NOT_LOCAL;
    return spank->context == S_CTX_SLURMD ? ESPANK_NOT_AVAIL : ESPANK_SUCCESS;
}

EXPORTED spank_err_t spank_job_control_getenv(spank_t spank, const char *name, char *buffer,
                                              int size)
{
    char whole[1024];

    if (fails_now())
        return ESPANK_ERROR;
    if (check_job_control(spank) != ESPANK_SUCCESS)
        return check_job_control(spank);
    if (name == NULL || buffer == NULL || size <= 0)
        return ESPANK_BAD_ARG;
    snprintf(whole, sizeof whole, "SPANK_%s", name);
    return copy_out(getenv(whole), buffer, size);
}

EXPORTED spank_err_t spank_job_control_setenv(spank_t spank, const char *name, const char *value,
                                              int overwrite)
{
    char whole[1024];

    if (fails_now())
        return ESPANK_ERROR;
    if (check_job_control(spank) != ESPANK_SUCCESS)
        return check_job_control(spank);
    if (name == NULL || value == NULL)
        return ESPANK_BAD_ARG;
    snprintf(whole, sizeof whole, "SPANK_%s", name);
    return setenv(whole, value, overwrite) == 0 ? ESPANK_SUCCESS : ESPANK_BAD_ARG;
}
