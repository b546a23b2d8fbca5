/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/host.h"

/* The loader resolves Slurm's functions when the plugin is loaded: they must not be hidden. */
#pragma GCC visibility push(default)
#include <slurm/slurm.h>
#include <slurm/spank.h>
#pragma GCC visibility pop

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define PREFIX "muster: "

/* Defines a function that prints one line. Replaces control characters: the text of a user's option
 * must not forge another line or move the cursor. */
#define PRINTS_LINE(name, size, print)                                                             \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        char line[size] = PREFIX;                                                                  \
                                                                                                   \
        TEXT_FORMAT(line + strlen(PREFIX), sizeof line - strlen(PREFIX), format);                  \
        for (char *c = line; *c != '\0'; c++)                                                      \
            if ((unsigned char)*c < ' ' || *c == '\x7f')                                           \
                *c = '?';                                                                          \
        print("%s", line);                                                                         \
    }
PRINTS_LINE(host_error, 2048, slurm_error)
PRINTS_LINE(host_info, 2048, slurm_info)
/* fits a variable of 4096 bytes with its rule and its fact */
PRINTS_LINE(host_print, 8192, slurm_spank_log)

enum host_step host_step(uint32_t step_id)
{
    if (step_id < SLURM_MAX_NORMAL_STEP_ID)
        return HOST_STEP_TASKS;
    return step_id == SLURM_BATCH_SCRIPT || step_id == SLURM_INTERACTIVE_STEP ? HOST_STEP_SHELL
                                                                              : HOST_STEP_OTHER;
}

int host_setenv(const struct host_task *task, const char *name, const char *value)
{
    return spank_setenv(task->handle, name, value, 1) == ESPANK_SUCCESS ? 0 : -1;
}

int host_unsetenv(const struct host_task *task, const char *name)
{
    return spank_unsetenv(task->handle, name) == ESPANK_SUCCESS ? 0 : -1;
}

const char *host_lookup(const char *name, void *environment)
{
    size_t length = strlen(name);

    for (char **entry = environment; entry != NULL && *entry != NULL; entry++)
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

static void free_strings(char **strings)
{
    for (char **string = strings; string != NULL && *string != NULL; string++)
        free(*string);
    free(strings);
}

/* Returns a copy, because Slurm's own array moves with each variable that is set. NULL if memory is
 * out. */
static char **copy_strings(char *const *strings)
{
    size_t count = 0;
    char **copy;

    while (strings != NULL && strings[count] != NULL)
        count++;
    copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = strdup(strings[i]);
        if (copy[i] == NULL) {
            free_strings(copy);
            return NULL;
        }
    }
    return copy;
}

/* The step's environment depends on each of these items: if one is missing, nothing is set. */
int host_task_get(void *handle, struct host_task *task)
{
    char **environment = NULL, **argv = NULL;
    const char *missing = NULL;
    uint32_t local_size;
    int argc = 0;

    memset(task, 0, sizeof *task);
    if (spank_get_item(handle, S_JOB_ENV, &environment) != ESPANK_SUCCESS || environment == NULL)
        missing = "its environment";
    else if (spank_get_item(handle, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS)
        missing = "its program";
    else if (spank_get_item(handle, S_JOB_LOCAL_TASK_COUNT, &local_size) != ESPANK_SUCCESS)
        missing = "how many tasks it has on this node";
    if (missing != NULL) {
        host_error("step environment left unchanged: Slurm does not report %s", missing);
        return -1;
    }
    task->handle = handle;
    task->environment = copy_strings(environment);
    task->argc = argv != NULL ? argc : 0;
    task->argv = argv;
    task->local_size = local_size;
    if (task->environment != NULL)
        return 0;
    host_error("step environment left unchanged: out of memory");
    return -1;
}

void host_task_free(struct host_task *task)
{
    free_strings((char **)task->environment);
}
