/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan/envplan_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

/* ---------------------------------------------------------------- text */

int envplan_join(char *text, size_t size, const char *separator, const char *word)
{
    size_t length = strlen(text);

    if (text_join(text, size, separator, "%s", word) == 0)
        return 0;
    text[length] = '\0';
    return -1;
}

int envplan_fact(struct envplan_variable *variable, const char *format, ...)
{
    TEXT_FORMAT(variable->fact, sizeof variable->fact, format);
    return -1;
}

int envplan_fact_add(struct envplan_variable *variable, const char *format, ...)
{
    char text[sizeof variable->fact];

    TEXT_FORMAT(text, sizeof text, format);
    envplan_join(variable->fact, sizeof variable->fact, "; ", text);
    return -1;
}

/* ---------------------------------------------------------------- muster's own rules */

static const char *launcher_name(enum envplan_launcher launcher)
{
    return launcher == ENVPLAN_MPI_DAEMON ? "an MPI launcher"
           : launcher == ENVPLAN_SHELL    ? "a shell"
                                          : "a launcher of ranks";
}

/* Finds the first variable of text that the user or the site has set. text is a list with blanks,
 * or NULL. Copies it into name (64 bytes) and returns name, or NULL if none is set. */
static const char *find_chosen(const struct envplan_view *view, const char *text, char *name)
{
    for (; text != NULL && *text != '\0'; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");

        snprintf(name, 64, "%.*s", (int)length, text);
        if (envplan_users_value(view, name) != NULL || envplan_site_chooses(view, name))
            return name;
        text += length;
    }
    return NULL;
}

/* Sets value and fact. Returns 0, or -1 if the rule has no value for this task. */
static int rule_apply(const struct envplan_rule *rule, const struct envplan_view *view,
                      struct envplan_variable *variable)
{
    enum fabric_class class = view->node->fabric.class;
    const char *users = envplan_users_value(view, rule->variable), *other;
    char name[64];

    if (users != NULL)
        return envplan_fact(variable, "set by the user to \"%.320s\"", users);
    if (!(rule->scope & 1 << view->task->launcher))
        return envplan_fact(variable, "the task is %s, which manages its own ranks",
                            launcher_name(view->task->launcher));
    if (!(rule->classes & 1 << class))
        return envplan_fact(variable, "not for a fabric of class %s", fabric_class_name(class));
    other = find_chosen(view, rule->yields_to, name);
    if (other != NULL)
        return envplan_fact(variable, "the %s set %s",
                            envplan_users_value(view, other) != NULL ? "user" : "site", other);
    return rule->choose(view, variable);
}

/* ---------------------------------------------------------------- the plan */

/* Appends a variable to the plan and returns it; NULL if memory is out. */
static struct envplan_variable *plan_add(struct envplan *plan, const char *name, const char *rule)
{
    struct envplan_variable *bigger, *variable;

    /* room for 32 more: one allocation usually holds all of muster's rules */
    if (plan->count % 32 == 0) {
        bigger = realloc(plan->variables, (plan->count + 32) * sizeof *bigger);
        if (bigger == NULL)
            return NULL;
        plan->variables = bigger;
    }
    variable = &plan->variables[plan->count++];
    snprintf(variable->name, sizeof variable->name, "%s", name);
    snprintf(variable->rule, sizeof variable->rule, "%s", rule);
    variable->value[0] = variable->fact[0] = '\0';
    variable->action = ENVPLAN_KEEP;
    variable->is_user_value = false;
    return variable;
}

static bool plan_has(const struct envplan *plan, const char *name)
{
    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->variables[i].name, name) == 0)
            return true;
    return false;
}

/* Completes a variable after muster's rule: applies the site's lines and adds it to the mark. */
static void finish_variable(const struct envplan_view *view, struct envplan_variable *variable,
                            struct envplan *plan)
{
    envplan_site_apply(view, variable);
    if (variable->action == ENVPLAN_SET) {
        if (!variable->is_user_value &&
            envplan_mark_add(plan->mark, sizeof plan->mark, variable) < 0)
            envplan_fact_add(variable, ENVPLAN_MARK
                             " is full: a step inside this one will treat it as the user's");
        return;
    }
    variable->value[0] = '\0';
    if (view->getenv_fn(variable->name, view->context) != NULL &&
        envplan_users_value(view, variable->name) == NULL)
        variable->action = ENVPLAN_REMOVE;
}

/* Removes a variable that muster set in an outer step by a rule or line that this step does not
 * have. A step without a node has no rules. */
static int remove_stale(const struct envplan_view *view, const char *name, void *context)
{
    struct envplan *plan = context;
    struct envplan_variable *variable;

    if (plan_has(plan, name))
        return 0;
    variable = plan_add(plan, name, view->node != NULL ? "outer step" : "off");
    if (variable == NULL)
        return -1;
    variable->action = ENVPLAN_REMOVE;
    envplan_fact(variable, "muster set it in an outer step, and %s",
                 view->node != NULL ? "no rule sets it here" : "this step uses none");
    return 0;
}

static int make(const struct envplan_view *view, struct envplan *plan)
{
    const struct conf *conf = view->node->conf;
    struct envplan_variable *variable;
    const char *users;

    for (size_t i = 0; i < envplan_rule_count; i++) {
        const struct envplan_rule *rule = &envplan_rules[i];

        variable = plan_add(plan, rule->variable, rule->name);
        if (variable == NULL)
            return -1;
        if (rule_apply(rule, view, variable) == 0)
            variable->action = ENVPLAN_SET;
        finish_variable(view, variable, plan);
    }
    for (size_t i = 0; i < conf->variable_count; i++) {
        if (plan_has(plan, conf->variables[i].name))
            continue;
        variable = plan_add(plan, conf->variables[i].name, "");
        if (variable == NULL)
            return -1;
        users = envplan_users_value(view, variable->name);
        if (users != NULL)
            envplan_fact(variable, "set by the user to \"%.320s\"", users);
        finish_variable(view, variable, plan);
    }
    return envplan_mark_each(view, remove_stale, plan);
}

int envplan_make(const struct envplan_node *node, const struct envplan_task *task,
                 const struct visible_gpus *visible, envplan_getenv_fn *getenv_fn, void *context,
                 struct envplan *plan)
{
    const struct envplan_view view = {node, task, visible, getenv_fn, context};

    *plan = (struct envplan){0};
    if (make(&view, plan) == 0)
        return 0;
    envplan_clear(plan);
    return -1;
}

int envplan_make_off(envplan_getenv_fn *getenv_fn, void *context, struct envplan *plan)
{
    const struct envplan_view view = {.getenv_fn = getenv_fn, .context = context};

    *plan = (struct envplan){0};
    if (envplan_mark_each(&view, remove_stale, plan) == 0)
        return 0;
    envplan_clear(plan);
    return -1;
}

void envplan_clear(struct envplan *plan)
{
    free(plan->variables);
    *plan = (struct envplan){0};
}

void envplan_explain(const struct envplan_variable *variable, char *line, size_t line_size)
{
    static const char *const verbs[] = {"=", " left alone", " removed"};
    bool is_set = variable->action == ENVPLAN_SET;

    snprintf(line, line_size, "%s%s%s (%s: %s)", variable->name, verbs[variable->action],
             is_set ? variable->value : "", variable->rule, variable->fact);
    for (; *line != '\0'; line++)
        if (iscntrl((unsigned char)*line))
            *line = '?';
}
