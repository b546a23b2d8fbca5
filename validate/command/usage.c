/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/command.h"

#include <stdarg.h>

static int usage_error(const char *name)
{
    fprintf(stderr, "%s --help lists the options\n", name);
    return COMMAND_USAGE;
}

int command_options(const struct option_set *set, int argc, char **argv, void *context)
{
    struct error err = {""};
    enum option_request request = option_set_parse(set, argc, argv, context, NULL, &err);

    if (*err.text)
        fprintf(stderr, "%s: %s\n", set->name, err.text);
    if (request == OPTION_RUN)
        return -1;
    if (request == OPTION_MISUSE)
        return usage_error(set->name);
    option_set_print(set, request, stdout);
    return COMMAND_PASS;
}

static void print_line(const char *name, const char *format, va_list values)
{
    fprintf(stderr, "%s: ", name);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
}

int command_misuse(const char *name, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print_line(name, format, values);
    va_end(values);
    return usage_error(name);
}

int command_failed(int status, const char *name, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    print_line(name, format, values);
    va_end(values);
    return status;
}
