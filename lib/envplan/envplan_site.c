/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan/envplan_parts.h"

#include <stdio.h>
#include <string.h>

/* The site's lines of muster.conf: Variable=NAME set VALUE partition=... */

/* Returns whether a list that is not empty lacks name; an unknown name ("") is in no list. */
static bool is_excluded(const struct hostlist *list, const char *name)
{
    return list->count > 0 && !hostlist_contains(list, name);
}

/* Returns the condition of the line that does not hold, formatted in text, or NULL. */
static const char *failed_condition(const struct envplan_view *view,
                                    const struct variable_line *line, char *text, size_t size)
{
    const struct envplan_task *task = view->task;
    enum fabric_class class = view->node->fabric.class;

    if (is_excluded(&line->partitions, task->partition))
        snprintf(text, size, "partition is %.60s", task->partition);
    else if (is_excluded(&line->nodes, task->node))
        snprintf(text, size, "node is %.60s", task->node);
    else if (is_excluded(&line->accounts, task->account))
        snprintf(text, size, "account is %.60s", task->account);
    else if (line->fabrics != 0 && !(line->fabrics & 1u << class))
        snprintf(text, size, "fabric is %s", fabric_class_name(class));
    else
        return NULL;
    return text;
}

bool envplan_site_chooses(const struct envplan_view *view, const char *name)
{
    const struct conf *conf = view->node->conf;
    char text[128];

    for (size_t i = 0; i < conf->variable_count; i++) {
        const struct variable_line *line = &conf->variables[i];

        if ((line->action == VARIABLE_SET || line->action == VARIABLE_EXTEND) &&
            strcmp(line->name, name) == 0 &&
            failed_condition(view, line, text, sizeof text) == NULL)
            return true;
    }
    return false;
}

/* Returns whether list, with this separator, contains item. */
static bool contains_item(const char *list, const char *separator, const char *item)
{
    size_t separator_length = strlen(separator), item_length = strlen(item);

    for (const char *at = list; at != NULL;) {
        const char *end = strstr(at, separator);
        size_t length = end != NULL ? (size_t)(end - at) : strlen(at);

        if (length == item_length && strncmp(at, item, length) == 0)
            return true;
        at = end != NULL ? end + separator_length : NULL;
    }
    return false;
}

/* Returns whether the present value is the user's: no rule and no line has set or removed it. */
static bool is_user_value(const struct envplan_variable *variable, const char *users)
{
    return users != NULL && variable->action == ENVPLAN_KEEP;
}

static void set(const struct variable_line *line, const char *users,
                struct envplan_variable *variable)
{
    if (is_user_value(variable, users) && !line->is_forced) {
        envplan_fact(variable,
                     "set by the user to \"%.160s\", which takes precedence over \"%.160s\"", users,
                     line->value);
        return;
    }
    if (is_user_value(variable, users))
        envplan_fact(variable, "the site forces it over the user's \"%.160s\"", users);
    else
        envplan_fact(variable, "the site sets it");
    variable->action = ENVPLAN_SET;
    variable->is_user_value = false;
    snprintf(variable->value, sizeof variable->value, "%s", line->value);
}

static void extend(const struct variable_line *line, const char *users,
                   struct envplan_variable *variable)
{
    bool was_users = is_user_value(variable, users) || variable->is_user_value;
    const char *before = variable->action == ENVPLAN_SET  ? variable->value
                         : is_user_value(variable, users) ? users
                                                          : "";
    char value[sizeof variable->value] = "";

    if (*before != '\0' && contains_item(before, line->separator, line->value)) {
        envplan_fact_add(variable, "it already contains the site's \"%.160s\"", line->value);
        return;
    }
    if (envplan_join(value, sizeof value, "", before) < 0 ||
        envplan_join(value, sizeof value, line->separator, line->value) < 0) {
        envplan_fact_add(variable, "no room for the site's \"%.160s\"", line->value);
        return;
    }
    if (*before == '\0')
        envplan_fact(variable, "the site sets it");
    else if (was_users)
        envplan_fact(variable, "the user's \"%.160s\" and the site's \"%.160s\"", before,
                     line->value);
    else
        envplan_fact_add(variable, "and the site's \"%.160s\"", line->value);
    variable->action = ENVPLAN_SET;
    variable->is_user_value = was_users;
    snprintf(variable->value, sizeof variable->value, "%s", value);
}

static void apply(const struct variable_line *line, const char *users,
                  struct envplan_variable *variable)
{
    switch (line->action) {
    case VARIABLE_SET:
        set(line, users, variable);
        break;
    case VARIABLE_EXTEND:
        extend(line, users, variable);
        break;
    case VARIABLE_LEAVE:
        if (is_user_value(variable, users) || variable->is_user_value)
            break;
        variable->action = ENVPLAN_KEEP;
        envplan_fact(variable, "the site leaves it to the user");
        break;
    case VARIABLE_FORBID:
        if (users != NULL)
            envplan_fact(variable, "the site forbids it; the user set \"%.160s\"", users);
        else
            envplan_fact(variable, "the site forbids it");
        variable->action = ENVPLAN_REMOVE;
        variable->is_user_value = false;
        break;
    }
}

void envplan_site_apply(const struct envplan_view *view, struct envplan_variable *variable)
{
    const struct conf *conf = view->node->conf;
    const char *users = envplan_users_value(view, variable->name);
    char text[128];

    for (size_t i = 0; i < conf->variable_count; i++) {
        const struct variable_line *line = &conf->variables[i];
        bool has_rule = *variable->rule != '\0';
        const char *failed;

        if (strcmp(line->name, variable->name) != 0)
            continue;
        failed = failed_condition(view, line, text, sizeof text);
        if (failed != NULL && has_rule)
            continue;
        snprintf(variable->rule, sizeof variable->rule, "policy %s:%u", conf->file, line->line);
        if (failed == NULL)
            apply(line, users, variable);
        else
            envplan_fact_add(variable, "not for this task: %s", failed);
    }
    if (variable->action == ENVPLAN_REMOVE &&
        view->getenv_fn(variable->name, view->context) == NULL)
        variable->action = ENVPLAN_KEEP;
}
