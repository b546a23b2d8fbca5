/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/command.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate/report/table.h"

int command_conf(const char *name, const char *path, struct conf *conf)
{
    const char *named = path ? path : getenv("MUSTER_CONF");
    struct error err;
    int result = conf_read(named && named[0] ? named : NULL, conf, &err);

    if (result < 0) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        return COMMAND_USAGE;
    }
    if (result == 1 && named && named[0]) {
        fprintf(stderr, "%s: %s: no such file\n", name, named);
        return COMMAND_USAGE;
    }
    return COMMAND_PASS;
}

const char *command_node(const char *said, const struct inventory *inventory)
{
    const char *node = said ? said : getenv("SLURMD_NODENAME");

    return node && *node ? node : inventory->hostname;
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

int command_look_options(int argc, char **argv, const char *word, char letter,
                         void (*print_help)(void), struct look_options *look)
{
    const char letters[] = {'c', ':', 'h', 'j', 'r', ':', letter, '\0'};
    enum { WORD = 256 };
    const struct option options[] = {
        {"config", required_argument, NULL, 'c'}, {"help", no_argument, NULL, 'h'},
        {"json", no_argument, NULL, 'j'},         {"root", required_argument, NULL, 'r'},
        {word, no_argument, NULL, WORD},          {NULL, 0, NULL, 0},
    };
    int option;

    *look = (struct look_options){.name = argv[0]};
    while ((option = getopt_long(argc, argv, letters, options, NULL)) != -1) {
        switch (letter && option == letter ? WORD : option) {
        case 'c':
            look->config = optarg;
            break;
        case 'h':
            print_help();
            return COMMAND_PASS;
        case 'j':
            look->as_json = true;
            break;
        case 'r':
            look->root = optarg;
            break;
        case WORD:
            look->has_word = true;
            break;
        default:
            return command_usage_error(argv[0]);
        }
    }
    return optind < argc ? command_word_error(argv[0], argv[optind]) : -1;
}

int command_look_open(const char *name, const char *root, const char *config, struct look *look)
{
    struct error err;
    int status = COMMAND_PASS;

    *look = (struct look){.root = root ? root : ""};
    if (root && !config)
        conf_defaults(&look->conf);
    else
        status = command_conf(name, config, &look->conf);
    if (status != COMMAND_PASS)
        return status;
    look->inventory = inventory_read(look->root, &err);
    if (!look->inventory) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        return COMMAND_UNKNOWN;
    }
    fabric_choose(look->inventory, &look->conf, &look->fabric);
    return COMMAND_PASS;
}

void command_look_close(struct look *look)
{
    inventory_free(look->inventory);
    conf_clear(&look->conf);
}

void command_print_verdict(FILE *stream, enum verdict verdict, bool has_colour)
{
    enum { WIDTH = sizeof "unknown" - 1 };

    fprintf(stream, "%s%-*s%s", has_colour ? table_colour(verdict) : "", WIDTH,
            verdict_name(verdict), has_colour ? "\033[0m" : "");
}

/* Terminals show a multi-byte character in one cell: what counts is where characters begin. */
static size_t width_of(const char *cell, size_t length)
{
    size_t width = 0;

    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)cell[i] & 0xc0) != 0x80;
    return width;
}

enum { COLUMNS = 32 };

/* Walks the cells of text; with a stream prints them, without finds the widths. */
static void walk_table(FILE *stream, const char *text, size_t *widths)
{
    size_t column = 0, padding = 0;

    for (const char *cell = text; *cell;) {
        size_t length = strcspn(cell, "\t\n"), width = width_of(cell, length);
        size_t bounded = column < COLUMNS ? column : COLUMNS - 1;

        if (stream && length > 0) {
            fprintf(stream, "%*s%.*s", (int)padding, "", (int)length, cell);
            padding = 0;
        }
        if (!stream && width > widths[bounded])
            widths[bounded] = width;
        cell += length;
        if (*cell == '\n' || !*cell) {
            if (stream)
                fputc('\n', stream);
            column = padding = 0;
        } else {
            padding += widths[bounded] - (stream ? width : widths[bounded]) + 2;
            column++;
        }
        cell += *cell != '\0';
    }
}

void command_print_table(FILE *stream, const char *text)
{
    size_t widths[COLUMNS] = {0};

    walk_table(NULL, text, widths);
    walk_table(stream, text, widths);
}
