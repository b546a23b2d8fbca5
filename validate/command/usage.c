/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/command.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int command_option(int argc, char **argv, const char *letters, const struct option *table)
{
    int option = getopt_long(argc, argv, letters, table, NULL);
    const char *word;

    if (option == -1 || option == '?' || !optarg || *optarg)
        return option;
    word = argv[optind - 1];
    if (!*word)
        word = argv[optind - 2];
    fprintf(stderr, "%s: option '%.*s' is given nothing, expected a value\n", argv[0],
            (int)strcspn(word, "="), word);
    return '?';
}

int command_usage_error(const char *name)
{
    fprintf(stderr, "%s --help lists the options\n", name);
    return COMMAND_USAGE;
}

int command_misuse(const char *name, const char *format, ...)
{
    va_list values;

    fprintf(stderr, "%s: ", name);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    return command_usage_error(name);
}

int command_seconds(const char *name, const char *what, const char *text, double least, double most,
                    double *seconds)
{
    char *end;

    *seconds = strtod(text, &end);
    if (*end || end == text || !(*seconds >= least && *seconds <= most))
        return command_misuse(name, "%s is '%s', expected seconds from %g to %g", what, text, least,
                              most);
    return -1;
}

int command_word_error(const char *name, const char *word)
{
    return command_misuse(name, "what is '%s'?", word);
}
