/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TEST_ENVIRONMENT_H
#define MUSTER_TEST_ENVIRONMENT_H

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "lib/envplan/envplan.h"

/* The environment of a task, and the plan that a test makes from it. */

static const char *environment[32]; /* name, value, name, value, ..., NULL */

static const char *lookup(const char *name, void *context)
{
    (void)context;
    for (size_t i = 0; environment[i] != NULL; i += 2)
        if (strcmp(environment[i], name) == 0)
            return environment[i + 1];
    return NULL;
}

static struct envplan plan;

/* Returns the variable's entry in the plan; an entry with action 99 if there is none. */
static const struct envplan_variable *find(const char *name)
{
    static const struct envplan_variable none = {.value = "(not in the plan)", .action = 99};

    for (size_t i = 0; i < plan.count; i++)
        if (strcmp(plan.variables[i].name, name) == 0)
            return &plan.variables[i];
    return &none;
}

static void set_environment(const char *name, ...)
{
    va_list args;
    size_t n = 0;

    va_start(args, name);
    for (; name != NULL && n + 1 < sizeof environment / sizeof *environment;
         name = va_arg(args, const char *))
        environment[n++] = name;
    va_end(args);
    environment[n] = NULL;
}

#endif
