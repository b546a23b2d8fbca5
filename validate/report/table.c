/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/report/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "lib/base/utf8.h"

void table_clean(char *text)
{
    char *end = text;

    for (; *text; text++) {
        const unsigned char *c = (const unsigned char *)text;
        size_t length = utf8_length(c);
        bool is_control = length > 0 && utf8_printable_length(c) == 0;

        *end++ = is_control ? '?' : *text;
        text += is_control ? length - 1 : 0;
    }
    *end = '\0';
}

void table_heading(struct table *table, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        table_cell(table, VERDICT_NONE, "%s", names[i]);
    table->columns = count;
}

void table_cell(struct table *table, enum verdict colour, const char *format, ...)
{
    char **cells = grow(table->cells, table->count, sizeof *cells);
    enum verdict *colours = grow(table->colours, table->count, sizeof *colours);
    va_list values;

    table->cells = cells ? cells : table->cells;
    table->colours = colours ? colours : table->colours;
    if (!cells || !colours) {
        table->out_of_memory = true;
        return;
    }
    va_start(values, format);
    if (vasprintf(&table->cells[table->count], format, values) < 0) {
        table->out_of_memory = true;
    } else {
        table_clean(table->cells[table->count]);
        table->colours[table->count++] = colour;
    }
    va_end(values);
}

/* Characters, not bytes: a terminal shows one of UTF-8 in one place. */
static int width_of(const char *text)
{
    int width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

const char *table_colour(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_PASS:
        return "\033[32m";
    case VERDICT_SKIP:
        return "\033[2m";
    case VERDICT_WARN:
        return "\033[33m";
    case VERDICT_UNKNOWN:
        return "\033[35m";
    case VERDICT_FAIL:
        return "\033[1;31m";
    default:
        return "";
    }
}

bool table_has_colour(FILE *stream)
{
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(fileno(stream)) && !(no_colour && *no_colour) && term && *term &&
           strcmp(term, "dumb") != 0;
}

void table_print(const struct table *table, FILE *stream, bool has_colour)
{
    int *widths = calloc(table->columns + 1, sizeof *widths);

    for (size_t i = 0; widths && i < table->count; i++) {
        int width = width_of(table->cells[i]), *widest = &widths[i % table->columns];

        *widest = width > *widest ? width : *widest;
    }
    for (size_t i = 0; i < table->count - table->count % table->columns; i++) {
        const char *cell = table->cells[i], *colour = table_colour(table->colours[i]);
        bool is_last = (i + 1) % table->columns == 0;

        if (has_colour && *colour)
            fprintf(stream, "%s%s\033[0m", colour, cell);
        else
            fputs(cell, stream);
        if (is_last)
            fputc('\n', stream);
        else
            fprintf(stream, "%*s", widths ? widths[i % table->columns] - width_of(cell) + 2 : 2,
                    "");
    }
    free(widths);
}

void table_clear(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table->colours);
    *table = (struct table){0};
}
