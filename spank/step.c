/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/step.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/node_name.h"
#include "lib/conf/conf.h"
#include "lib/envplan/envplan.h"
#include "lib/node/binding.h"
#include "lib/node/gpu/visible_gpus.h"
#include "spank/check.h"
#include "spank/node.h"
#include "spank/preload.h"

static struct {
    enum host_step kind;
    bool is_explained;
    bool is_on;
    bool is_checked;    /* the tasks' devices are checked, see check.h */
    bool is_unreadable; /* the node could not be read, and the user is told so */
    char why_not[640];  /* why is_on is false */
    struct node_facts node;
    bool has_node;       /* node is to be cleared */
    bool is_recorded;    /* the inventory is of a recorded machine: no device files are here */
    char root[PATH_MAX]; /* of the recorded machine, or "" */
} step;

/* Reads muster.conf and, if needed, the node. Returns whether this step's tasks get variables; if
 * not, sets step.why_not. */
static bool step_read_node(const struct options *options, const struct arguments *arguments,
                           const struct host_task *task)
{
    char name[HOST_NAME_MAX + 1];
    const struct node_request request = {.config_path = arguments->config_path,
                                         .root = arguments->root,
                                         .gres_node = check_has_gpus(task) ? name : NULL,
                                         .is_requested = options->environment > 0};
    struct error err;

    node_name(name, sizeof name);
    if (options->environment == 0) {
        snprintf(step.why_not, sizeof step.why_not, "--%s=off or %s=off",
                 option_texts[OPTION_ENVIRONMENT].name, option_texts[OPTION_ENVIRONMENT].variable);
        return false;
    }
    step.is_recorded = arguments->root != NULL;
    step.has_node = true;
    if (node_read_with_deadline(&request, &step.node, &err) < 0) {
        snprintf(step.why_not, sizeof step.why_not, "%s", err.text);
        host_error("environment left unchanged: %s", err.text);
        step.is_unreadable = !step.node.is_conf_bad;
        return false;
    }
    step.is_checked = step.node.conf.check_steps;
    if (!step.node.conf.set_environment && options->environment < 0) {
        snprintf(step.why_not, sizeof step.why_not, "SetEnvironment=no in %s",
                 arguments->config_path != NULL ? arguments->config_path : conf_default_path());
        return false;
    }
    return true;
}

void step_start(uint32_t step_id, const struct options *options, const struct arguments *arguments,
                const struct host_task *task)
{
    struct options filled = *options;
    struct error err;

    step_end();
    step.kind = host_step(step_id);
    if (step.kind != HOST_STEP_TASKS)
        return;
    if (options_fill(&filled, host_lookup, (void *)task->environment, &err) < 0)
        host_error("%s; ignored", err.text);
    step.is_explained = filled.explain == 1;
    if (filled.collectives == 1)
        preload_start(arguments->library, task);
    else if (filled.collectives == 0)
        preload_start_removal(arguments->library);
    step.is_on = step_read_node(&filled, arguments, task);
    snprintf(step.root, sizeof step.root, "%s", arguments->root != NULL ? arguments->root : "");
    if (step.is_checked)
        check_start();
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
        host_error("%s could not be updated", ENVPLAN_MARK);
}

/* Prints on standard error, in the first task of each node. */
static void explain(const struct envplan *plan, const char *node)
{
    char *line;

    if (!step.is_on)
        host_print("%s: environment left unchanged: %s", node, step.why_not);
    line = malloc(sizeof *plan->variables);
    for (size_t i = 0; i < plan->count && line != NULL; i++) {
        envplan_explain(&plan->variables[i], line, sizeof *plan->variables);
        host_print("%s: %s", node, line);
    }
    free(line);
}

static int open_anything(const char *device_file, void *unused)
{
    (void)device_file;
    (void)unused;
    return 1;
}

/* Returns the node for the plan and the step check, malloc'd. NULL if neither is wanted, or if
 * memory is out. */
static struct envplan_node *make_node(const struct envplan_task *plan_task, void *environment)
{
    struct envplan_node *node = step.is_on || step.is_checked ? malloc(sizeof *node) : NULL;

    if (node != NULL)
        envplan_node_make(step.node.inventory, &step.node.conf, plan_task->node,
                          host_lookup("SLURM_STEP_NODELIST", environment), &step.node.failed, node);
    return node;
}

/* Returns 0, or -1 when memory is out. */
static int make_plan(const struct envplan_node *node, const struct envplan_task *plan_task,
                     void *environment, struct envplan *plan)
{
    struct visible_gpus *visible = malloc(sizeof *visible);
    int status = -1;

    if (node != NULL && visible != NULL) {
        visible_gpus_read(step.node.inventory, host_lookup, environment,
                          step.is_recorded ? open_anything : visible_gpus_open, NULL, visible);
        status = envplan_make(node, plan_task, visible, host_lookup, environment, plan);
    }
    free(visible);
    return status;
}

/* Returns the NUMA nodes of the socket that the task is bound to; 0 if it is not bound to one
 * socket, or if that is not known. Slurm binds a task before its last hook. */
static unsigned long long bound_numa_nodes(void)
{
    char cpus[BINDING_LIST];

    return step.is_recorded || binding_read(cpus) != 0 ? 0 : binding_numa_nodes("", cpus);
}

/* Removes variables that muster set for an outer step: a batch script or shell inherits them if
 * its job was submitted inside that step. */
static void remove_shell_variables(const struct host_task *task)
{
    struct envplan plan;

    if (envplan_make_off(host_lookup, (void *)task->environment, &plan) < 0) {
        host_error("environment left unchanged: out of memory");
        return;
    }
    apply(task, &plan);
    envplan_clear(&plan);
}

static int prepare_task(const struct host_task *task)
{
    void *environment = (void *)task->environment;
    struct envplan_task plan_task;
    struct envplan_node *node;
    struct envplan plan;
    int status;

    if (preload_task(task) < 0)
        return -1;
    envplan_task_read(host_lookup, environment, &plan_task);
    plan_task.local_size = task->local_size;
    plan_task.launcher =
        envplan_launcher(task->argc, task->argv, plan_task.local_size, plan_task.world_size);
    node = make_node(&plan_task, environment);
    if (step.is_on) {
        plan_task.numa_nodes = bound_numa_nodes();
        status = make_plan(node, &plan_task, environment, &plan);
    } else {
        status = envplan_make_off(host_lookup, environment, &plan);
    }
    if (status < 0) {
        host_error("environment left unchanged: out of memory");
        free(node);
        return 0;
    }
    apply(task, &plan);
    if (step.is_unreadable && !step.is_explained && plan_task.local_rank <= 0)
        host_print("%s: environment left unchanged: %s",
                   *plan_task.node != '\0' ? plan_task.node : "?", step.why_not);
    if (step.is_explained && plan_task.local_rank <= 0)
        explain(&plan, *plan_task.node != '\0' ? plan_task.node : "?");
    if (step.is_checked && node != NULL)
        check_task(step.root, &step.node, &node->fabric, &plan, task);
    envplan_clear(&plan);
    free(node);
    return 0;
}

int step_task(const struct host_task *task)
{
    if (step.kind == HOST_STEP_TASKS)
        return prepare_task(task);
    if (step.kind == HOST_STEP_SHELL)
        remove_shell_variables(task);
    return 0;
}

void step_end(void)
{
    check_end();
    preload_end();
    if (step.has_node)
        node_facts_clear(&step.node);
    memset(&step, 0, sizeof step);
}
