/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TABLE_H
#define MUSTER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/base/record.h"

/* A table for people: columns as wide as their widest cell, the last one ragged, cells colored by a
 * verdict on a terminal. */
struct table {
    size_t columns;
    char **cells; /* row by row, the first row is the heading */
    enum verdict *colours;
    size_t count; /* cells */
};

/* Adds the first row: the names of the columns, separated by tabs. */
void table_heading(struct table *table, const char *names);

/* Replaces each control character of the text, also those from U+0080 on, with '?': texts of
 * records and files must not control a terminal. The text never becomes longer. */
void table_clean(char *text);
/* Prints the text, cleaned, outside of a table; "?" without memory. */
void table_print_text(FILE *stream, const char *text);

/* Adds a cell, cleaned; `columns` cells are a row. VERDICT_NONE: no color. A cell for which there
 * is no memory is left out. */
void table_cell(struct table *table, enum verdict colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds several cells without color; tabs in the format separate them. */
void table_cells(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void table_print(const struct table *table, FILE *stream, bool has_colour);
void table_clear(struct table *table);
/* Prints `before` and the table if it has a row besides the heading, and clears it. */
void table_end(struct table *table, FILE *stream, const char *before);

/* Returns the escape sequence of a verdict's color, or "". */
const char *table_colour(enum verdict verdict);

/* Whether the stream is a terminal with colors: not with NO_COLOR (no-color.org), nor TERM=dumb. */
bool table_has_colour(FILE *stream);

#endif
