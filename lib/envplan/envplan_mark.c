/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan/envplan_parts.h"

#include <stdio.h>
#include <string.h>

/* Reads and writes MUSTER_SET: "NAME:1a2b3c4d,NAME:..." */

static unsigned hash(const char *text) /* FNV-1a, 32 bit */
{
    unsigned value = 2166136261u;

    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * 16777619u;
    return value;
}

/* Returns the outer step's mark, or NULL. The job's environment may contain anything: a value
 * longer than muster's longest mark counts as none. */
static const char *read_mark(const struct envplan_view *view)
{
    const char *mark = view->getenv_fn(ENVPLAN_MARK, view->context);

    return mark != NULL && strlen(mark) < sizeof((struct envplan *)0)->mark ? mark : NULL;
}

/* Returns whether muster set name to value in an outer step. */
static bool is_own_value(const char *mark, const char *name, const char *value)
{
    char entry[96];
    size_t length = (size_t)snprintf(entry, sizeof entry, "%s:%08x", name, hash(value));

    for (const char *at = mark; at != NULL && *at != '\0';) {
        if (strncmp(at, entry, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    return false;
}

const char *envplan_users_value(const struct envplan_view *view, const char *name)
{
    const char *value = view->getenv_fn(name, view->context);

    if (value == NULL || is_own_value(read_mark(view), name, value))
        return NULL;
    return value;
}

int envplan_mark_add(char *mark, size_t size, const struct envplan_variable *variable)
{
    char entry[96];

    snprintf(entry, sizeof entry, "%s:%08x", variable->name, hash(variable->value));
    return envplan_join(mark, size, ",", entry);
}

int envplan_mark_each(const struct envplan_view *view,
                      int (*visit)(const struct envplan_view *, const char *, void *),
                      void *context)
{
    const char *mark = read_mark(view);
    int answer = 0;

    for (const char *at = mark; at != NULL && *at != '\0' && answer == 0;) {
        size_t length = strcspn(at, ":,");
        char name[sizeof((struct envplan_variable *)0)->name];

        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), at);
        if (*name != '\0' && view->getenv_fn(name, view->context) != NULL &&
            envplan_users_value(view, name) == NULL)
            answer = visit(view, name, context);
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    return answer;
}
