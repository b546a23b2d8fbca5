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

void table_print_text(FILE *stream, const char *text)
{
    char *clean = strdup(text);

    if (clean)
        table_clean(clean);
    fputs(clean ? clean : "?", stream);
    free(clean);
}

void table_cell(struct table *table, enum verdict colour, const char *format, ...)
{
    va_list values;

    if (!GROW(table->cells, table->count) || !GROW(table->colours, table->count))
        return;
    va_start(values, format);
    if (vasprintf(&table->cells[table->count], format, values) >= 0) {
        table_clean(table->cells[table->count]);
        table->colours[table->count++] = colour;
    }
    va_end(values);
}

static void cells_add(struct table *table, char *text, const char *end)
{
    char *cell;

    while ((cell = strsep(&text, end)))
        table_cell(table, VERDICT_NONE, "%s", cell);
}

void table_heading(struct table *table, const char *names)
{
    char *copy = strdup(names);

    cells_add(table, copy, "\t");
    free(copy);
    table->columns = 1;
    for (; (names = strchr(names, '\t')); names++)
        table->columns++;
}

/* Separates the cells of a format; inserted texts do not contain it. */
static const char cell_end[] = "\x1f";

void table_cells(struct table *table, const char *format, ...)
{
    char *marked = strdup(format), *text = NULL;
    va_list values;

    for (char *at = marked; at && (at = strchr(at, '\t'));)
        *at = *cell_end;
    va_start(values, format);
    if (!marked || vasprintf(&text, marked, values) < 0)
        text = NULL;
    va_end(values);
    cells_add(table, text, cell_end);
    free(text);
    free(marked);
}

/* Returns the number of UTF-8 characters, not of bytes: a terminal shows each in one column. */
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
    int *widths = calloc(table->columns + 1, sizeof *widths), padding = 0;

    for (size_t i = 0; widths && i < table->count; i++) {
        int width = width_of(table->cells[i]), *widest = &widths[i % table->columns];

        *widest = width > *widest ? width : *widest;
    }
    for (size_t i = 0; i < table->count - table->count % table->columns; i++) {
        const char *cell = table->cells[i], *colour = table_colour(table->colours[i]);

        if (*cell) {
            bool is_plain = !has_colour || !*colour;

            fprintf(stream, "%*s%s%s%s", padding, "", is_plain ? "" : colour, cell,
                    is_plain ? "" : "\033[0m");
            padding = 0;
        }
        padding += widths ? widths[i % table->columns] - width_of(cell) + 2 : 2;
        if ((i + 1) % table->columns == 0) {
            fputc('\n', stream);
            padding = 0;
        }
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

void table_end(struct table *table, FILE *stream, const char *before)
{
    if (table->count > table->columns) {
        fputs(before, stream);
        table_print(table, stream, table_has_colour(stream));
    }
    table_clear(table);
}
