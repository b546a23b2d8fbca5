/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/command.h"

#include <string.h>

#include "validate/report/table.h"

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
