/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TEST_ENVIRONMENT_H
#define MUSTER_TEST_ENVIRONMENT_H

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/* The environment of a task, for envplan. */

static const char *environment[32]; /* name, value, name, value, ..., NULL */

static const char *lookup(const char *name, void *context)
{
    (void)context;
    for (size_t i = 0; environment[i] != NULL; i += 2)
        if (strcmp(environment[i], name) == 0)
            return environment[i + 1];
    return NULL;
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
