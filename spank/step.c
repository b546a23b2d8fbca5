/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/step.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/conf.h"
#include "lib/envplan.h"
#include "lib/fabric.h"

/* slurm.h's SLURM_MAX_NORMAL_STEP_ID: above it are batch, extern, interactive and pending steps. */
static const uint32_t last_normal_step = 0xfffffff0;

static struct {
    bool is_ours; /* a step with tasks of the user's */
    bool is_explained;
    bool is_on;
    char why_not[640]; /* why is_on is false */
    struct conf conf;
    bool has_conf;
    struct inventory *inventory;
    struct fabric *fabric;
} step;

/* Decides whether this step's tasks get variables, and why not. */
static bool step_is_wanted(const struct options *options, const char *config_path)
{
    struct error err;
    int status;

    if (options->environment == 0) {
        snprintf(step.why_not, sizeof step.why_not, "--%s=off or %s=off",
                 option_texts[OPTION_ENVIRONMENT].name, option_texts[OPTION_ENVIRONMENT].twin);
        return false;
    }
    status = conf_read(config_path, &step.conf, &err);
    step.has_conf = true;
    if (status < 0) {
        snprintf(step.why_not, sizeof step.why_not, "%s", err.text);
        host_error("environment left as it is: %s", err.text);
        return false;
    }
    if (!step.conf.set_environment && options->environment < 0) {
        snprintf(step.why_not, sizeof step.why_not, "SetEnvironment=no in %s",
                 config_path != NULL ? config_path : conf_default_path());
        return false;
    }
    return true;
}

static bool node_read(const char *root)
{
    struct error err;

    step.inventory = inventory_read(root != NULL ? root : "", &err);
    step.fabric = malloc(sizeof *step.fabric);
    if (step.inventory == NULL || step.fabric == NULL) {
        snprintf(step.why_not, sizeof step.why_not, "%s",
                 step.inventory == NULL ? err.text : "out of memory");
        host_error("environment left as it is: %s", step.why_not);
        return false;
    }
    fabric_choose(step.inventory, &step.conf, step.fabric);
    return true;
}

void step_start(uint32_t step_id, const struct options *options, const struct arguments *arguments,
                const struct host_task *task)
{
    struct options filled = *options;
    struct error err;

    step_end();
    if (step_id >= last_normal_step)
        return;
    step.is_ours = true;
    if (options_fill(&filled, host_lookup, (void *)task->environment, &err) < 0)
        host_error("%s; ignored", err.text);
    step.is_explained = filled.explain == 1;
    step.is_on = step_is_wanted(&filled, arguments->config_path) && node_read(arguments->root);
}

static void apply(const struct host_task *task, const struct envplan *plan)
{
    bool has_mark = host_lookup(ENVPLAN_MARK, (void *)task->environment) != NULL;

    for (size_t i = 0; i < plan->count; i++) {
        const struct envplan_variable *variable = &plan->variables[i];

        if (variable->action == ENVPLAN_SET &&
            host_setenv(task, variable->name, variable->value) < 0)
            host_error("%s could not be set", variable->name);
        if (variable->action == ENVPLAN_REMOVE && host_unsetenv(task, variable->name) < 0)
            host_error("%s could not be removed", variable->name);
    }
    if (*plan->mark != '\0' ? host_setenv(task, ENVPLAN_MARK, plan->mark) < 0
                            : has_mark && host_unsetenv(task, ENVPLAN_MARK) < 0)
        host_error("%s could not be brought up to date", ENVPLAN_MARK);
}

/* On standard error, from the first task of each node. */
static void explain(const struct envplan *plan, const char *node)
{
    char line[sizeof plan->variables[0]];

    if (!step.is_on)
        host_tell("%s: environment left as it is: %s", node, step.why_not);
    for (size_t i = 0; i < plan->count; i++) {
        envplan_explain(&plan->variables[i], line, sizeof line);
        host_tell("%s: %s", node, line);
    }
}

void step_task(const struct host_task *task)
{
    void *environment = (void *)task->environment;
    const char *node = host_lookup("SLURMD_NODENAME", environment);
    struct envplan_task place;
    struct envplan *plan;

    if (!step.is_ours)
        return;
    plan = malloc(sizeof *plan);
    if (plan == NULL) {
        host_error("environment left as it is: out of memory");
        return;
    }
    envplan_task_read(host_lookup, environment, &place);
    place.local_size = task->local_size;
    place.launcher = envplan_launcher(task->argc, task->argv, place.local_size);
    if (step.is_on)
        envplan_make(step.inventory, step.fabric, &step.conf, &place, host_lookup, environment,
                     plan);
    else
        envplan_make_off(host_lookup, environment, plan);
    apply(task, plan);
    if (step.is_explained && place.local_rank <= 0)
        explain(plan, node != NULL ? node : "?");
    free(plan);
}

void step_end(void)
{
    if (step.has_conf)
        conf_clear(&step.conf);
    inventory_free(step.inventory);
    free(step.fabric);
    memset(&step, 0, sizeof step);
}
