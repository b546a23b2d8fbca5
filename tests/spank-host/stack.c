/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

/* The plugin stack: loads the plugin, handles options and calls hooks as Slurm's plugin.c and
 * plugstack.c do. */

#include <ctype.h>
#include <dlfcn.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/spank-host/host.h"

static const char *const hook_names[HOOK_COUNT] = {
    "init",      "job_prolog",           "init_post_opt", "local_user_init",
    "user_init", "task_init_privileged", "task_init",     "task_post_fork",
    "task_exit", "job_epilog",           "slurmd_exit",   "exit",
};

struct cached_option {
    char name[SPANK_OPTION_MAXLEN + 1];
    int has_arg, value;
    spank_opt_cb_f callback;
    bool is_disabled, is_found;
    char *argument;
};

char *host_arguments[8];
int host_listed = 1;
bool host_in_hook;
void (*host_before_hook)(const char *hook);
void (*host_after_hook)(const char *hook, int status);

static void *plugin;
static spank_f *hooks[HOOK_COUNT];
static struct cached_option options[32];
static size_t option_count;

static void bail(const char *what, const char *detail)
{
    printf("Bail out! %s: %s\n", what, detail);
    fflush(stdout);
    _Exit(255);
}

/* ---------------------------------------------------------------- loading */

static void *symbol_require(const char *name)
{
    void *symbol = dlsym(plugin, name);

    if (symbol == NULL)
        bail("the plugin does not export", name);
    return symbol;
}

/* dlsym() searches the plugin's dependencies, too, and Slurm calls what it finds. */
static void verify(void)
{
    const unsigned *version;

    symbol_require("plugin_name");
    if (strcmp(symbol_require("plugin_type"), "spank") != 0)
        bail("plugin_type is not spank", symbol_require("plugin_type"));
    version = symbol_require("plugin_version");
    if ((*version ^ SLURM_VERSION_NUMBER) & 0xffff00)
        bail("plugin_version", "not this release of Slurm");
    symbol_require("spank_plugin_version");
    if (dlsym(plugin, "init") != NULL || dlsym(plugin, "fini") != NULL)
        bail("Slurm would call", "init or fini");
    if (dlsym(plugin, "spank_options") != NULL)
        bail("a static table of options", "sbatch and salloc do not read it");
}

void host_load(const char *path, spank_context_t context)
{
    static char *argv[] = {(char *)"./a.out", NULL};

    if (plugin != NULL)
        host_unload();
    if (host_log == NULL)
        host_log = mmap(NULL, HOST_LOG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 2; i++) { /* Slurm loads and unloads a relative path once before */
        plugin = dlopen(path, RTLD_LAZY);
        if (plugin == NULL)
            bail("dlopen", dlerror());
        verify();
        if (i == 0)
            dlclose(plugin);
    }
    for (int i = 0; i < HOOK_COUNT; i++) {
        char symbol[64];

        snprintf(symbol, sizeof symbol, "slurm_spank_%s", hook_names[i]);
        hooks[i] = (spank_f *)dlsym(plugin, symbol);
    }
    host_environment_clear();
    option_count = 0;
    host_listed = 1;
    host_api_calls = 0;
    host_log[0] = '\0';
    memset(host_arguments, 0, sizeof host_arguments);
    host_job = (struct spank_handle){.context = context,
                                     .uid = 1000,
                                     .gid = 1000,
                                     .job_id = 12,
                                     .step_id = 3,
                                     .node_count = 2,
                                     .node_id = 1,
                                     .local_tasks = 2,
                                     .task_count = 4,
                                     .first_task = 2,
                                     .cpus = 2,
                                     .argc = 1,
                                     .argv = argv};
}

int host_unload(void)
{
    int status = 0;

    if (host_job.context == S_CTX_SLURMD)
        status = host_call("slurmd_exit");
    else if (host_job.context != S_CTX_JOB_SCRIPT)
        status = host_call("exit");
    for (size_t i = 0; i < option_count; i++)
        free(options[i].argument);
    memset(options, 0, sizeof options);
    option_count = 0;
    dlclose(plugin);
    plugin = NULL;
    host_environment_clear();
    return status;
}

/* ---------------------------------------------------------------- hooks */

int host_call(const char *hook)
{
    enum host_hook number = HOOK_INIT;
    int argc = 0, status = 0;

    while (number < HOOK_COUNT && strcmp(hook_names[number], hook) != 0)
        number++;
    if (number == HOOK_COUNT)
        bail("no such hook", hook);
    while (host_arguments[argc] != NULL)
        argc++;
    host_job.hook = number;
    if (host_before_hook != NULL)
        host_before_hook(hook);
    for (int i = 0; i < host_listed && status == 0; i++)
        if (hooks[number] != NULL) {
            host_in_hook = true;
            status = hooks[number](&host_job, argc, host_arguments);
            host_in_hook = false;
        }
    if (host_after_hook != NULL)
        host_after_hook(hook, status);
    return status;
}

/* ---------------------------------------------------------------- options */

static struct cached_option *find_option(const char *name)
{
    for (size_t i = 0; i < option_count; i++)
        if (strcmp(options[i].name, name) == 0)
            return &options[i];
    return NULL;
}

spank_err_t host_register(const struct spank_option *option)
{
    struct cached_option *cached = &options[option_count];

    if (strlen(option->name) > SPANK_OPTION_MAXLEN)
        return ESPANK_NOSPACE;
    if (option_count == sizeof options / sizeof *options)
        bail("too many options", option->name);
    *cached = (struct cached_option){.has_arg = option->has_arg,
                                     .value = option->val,
                                     .callback = option->cb,
                                     .is_disabled = find_option(option->name) != NULL};
    snprintf(cached->name, sizeof cached->name, "%s", option->name);
    option_count++;
    return ESPANK_SUCCESS;
}

static int option_call(struct cached_option *option, const char *argument)
{
    int status = 0;

    if (host_before_hook != NULL)
        host_before_hook(option->name);
    host_in_hook = true;
    if (option->callback != NULL)
        status = option->callback(option->value, argument, host_job.context == S_CTX_REMOTE);
    host_in_hook = false;
    if (host_after_hook != NULL)
        host_after_hook(option->name, status);
    if (status != 0)
        return status;
    if (option->has_arg) {
        free(option->argument);
        option->argument = argument != NULL ? strdup(argument) : NULL;
    }
    option->is_found = true;
    return 0;
}

int host_option(const char *name, const char *argument)
{
    struct cached_option *option = find_option(name);

    return option == NULL ? -2 : option_call(option, argument);
}

int host_option_given(const char *name, const char **argument)
{
    const struct cached_option *option = find_option(name);

    if (option == NULL)
        return -1;
    *argument = option->argument;
    return option->is_found;
}

/* Sets name to prefix and "_SLURM_SPANK_OPTION_muster_NAME". */
static void variable_of(const struct cached_option *option, const char *prefix, char *name,
                        size_t size)
{
    snprintf(name, size, "%s_SLURM_SPANK_OPTION_muster_%s", prefix, option->name);
    for (char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
}

void host_export_options(void)
{
    char name[256];

    for (size_t i = 0; i < option_count; i++) {
        if (!options[i].is_found)
            continue;
        variable_of(&options[i], "", name, sizeof name);
        setenv(name, options[i].argument != NULL ? options[i].argument : "", 1);
        if (host_job.context != S_CTX_ALLOCATOR)
            continue;
        variable_of(&options[i], "SLURM_SPANK_", name, sizeof name);
        setenv(name, options[i].argument != NULL ? options[i].argument : "(null)", 1);
    }
}

int host_options_from_environ(void)
{
    char name[256];

    for (size_t i = 0; i < option_count; i++) {
        const char *argument;
        int status;

        variable_of(&options[i], "SLURM_SPANK_", name, sizeof name);
        argument = getenv(name);
        status = argument != NULL ? option_call(&options[i], argument) : 0;
        if (status != 0)
            return status;
    }
    return 0;
}

void host_options_from_job(void)
{
    char name[256];

    for (size_t i = 0; i < option_count; i++) {
        const char *argument;

        variable_of(&options[i], "", name, sizeof name);
        argument = host_getenv(name);
        if (argument != NULL)
            option_call(&options[i], argument);
        host_unsetenv(name);
    }
}

void host_options_text(char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < option_count; i++)
        if (options[i].is_found && length < size)
            length += (size_t)snprintf(text + length, size - length, "%s%s%s\n", options[i].name,
                                       options[i].argument != NULL ? "=" : "",
                                       options[i].argument != NULL ? options[i].argument : "");
}
